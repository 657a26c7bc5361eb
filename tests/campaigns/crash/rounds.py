"""One round: a command is ended, is resumed, perhaps ended again, and at last left alone."""

from __future__ import annotations

import random
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.campaigns.crash.comparison import damage, differences, files_of
from tests.campaigns.crash.deaths import WAYS, Victim, set_back_files
from tests.campaigns.crash.disk import Disk
from tests.campaigns.crash.processes import Clock, Launch, Process
from tests.campaigns.crash.scenarios import OUT, SCENARIOS, Scenario
from tests.campaigns.crash.undisturbed import Undisturbed

#: The way in which nothing dies: a second process in the same folder.
RIVAL = "two at once"
#: A process that has not ended after so long hangs. Others may use the machine meanwhile.
_PATIENCE_S = 1200.0
_NEW_INTERPRETER_S = 4.5
_SHARE_FRESH, _SHARE_RIVAL, _SHARE_AT_CHANGE = 0.1, 0.08, 0.5
_NUM_DEATHS = {1: 0.75, 2: 0.18, 3: 0.07}


@dataclass(frozen=True)
class Stroke:
    """One death that is to come.

    Attributes:
        way: Name in `WAYS`, or `RIVAL`.
        moment: When, as a share of what an undisturbed run has of processor time, or of changes of
            files.
        at_change: Whether of the changes.
    """

    way: str
    moment: float
    at_change: bool


@dataclass(frozen=True)
class Plan:
    """What happens in a round; follows from the seed and the number of the round.

    Attributes:
        number: The round, from 0.
        scenario: Name in `SCENARIOS`.
        strokes: What happens, in order.
        is_fresh: Whether the command runs in new interpreters.
        seed: For what the strokes leave open.
    """

    number: int
    scenario: str
    strokes: tuple[Stroke, ...]
    is_fresh: bool
    seed: str


def make_plan(number: int, seed: int, scenarios: list[str]) -> Plan:
    """Draws a round."""
    draw = random.Random(f"{seed}/{number}")
    (name,) = draw.choices(scenarios, [SCENARIOS[name].weight for name in scenarios])
    scenario = SCENARIOS[name]
    is_fresh = draw.random() < _SHARE_FRESH and scenario.in_interpreter
    if scenario.is_for_one and draw.random() < _SHARE_RIVAL:
        strokes = [Stroke(RIVAL, draw.random(), False)]
    else:
        ways = [way for way in WAYS if not is_fresh or WAYS[way].in_interpreter]
        (number_of,) = draw.choices(list(_NUM_DEATHS), list(_NUM_DEATHS.values()))
        strokes = []
        for way in draw.choices(ways, [WAYS[way].weight for way in ways], k=number_of):
            may_stop = WAYS[way].at_change and not WAYS[way].changes_clock and not is_fresh
            at_change = draw.random() < _SHARE_AT_CHANGE and may_stop
            strokes.append(Stroke(way, draw.random(), at_change))
    return Plan(number, name, tuple(strokes), is_fresh, f"{seed}/{number}/open")


@dataclass
class Round:
    """Runs a plan.

    Attributes:
        plan: The plan.
        inputs: What commands read.
        undisturbed: What the command leaves and how long it takes if nothing happens.
        place: Folder for this round, which does not exist.
        is_mounted: Whether its disk can be a file system of its own.
    """

    plan: Plan
    inputs: Path
    undisturbed: Undisturbed
    place: Path
    is_mounted: bool
    problems: list[str] = field(default_factory=list)
    deaths: list[dict[str, Any]] = field(default_factory=list)
    _clock_hours: float = 0.0

    @property
    def _scenario(self) -> Scenario:
        return SCENARIOS[self.plan.scenario]

    def run(self) -> dict[str, Any]:
        """Returns the record of the round; deletes its folder if all went well."""
        start = time.monotonic()
        self._random = random.Random(self.plan.seed)
        self._folder = self.place / "disk"
        self._folder.mkdir(parents=True)
        self._disk = Disk(self._folder, self.is_mounted)
        try:
            self._scenario.before(self.inputs, self._folder)
            is_lost = not self._to_the_end()
            if not is_lost:
                found = differences(
                    self._folder / OUT, self.undisturbed.out, self._scenario.num_kept
                )
                self.problems += found + self._strangers()
        finally:
            if self.problems and self.is_mounted:
                shutil.copytree(self._folder, self.place / "kept", dirs_exist_ok=True)
            self._disk.close()
        if not self.problems:
            shutil.rmtree(self.place)
        result = "lost" if is_lost else "different" if self.problems else "same"
        return {
            "round": self.plan.number, "scenario": self.plan.scenario, "result": result,
            "deaths": self.deaths, "fresh": self.plan.is_fresh, "problems": self.problems[:10],
            "seconds": round(time.monotonic() - start, 2),
        }  # fmt: skip

    def _to_the_end(self) -> bool:
        """Strikes, and resumes; returns whether the command came to its end."""
        for number, stroke in enumerate(self.plan.strokes):
            if self._is_done:
                return True
            if stroke.way == RIVAL:
                self._race(stroke)
            else:
                self._strike(stroke, is_first=number == 0)
            self.problems += damage(self._folder / OUT)
        if self._is_done:
            return True
        process = Process(self._launch(again=True))
        try:
            has_ended = process.wait(_PATIENCE_S)
            if not has_ended or process.status:
                last = process.said().strip().splitlines()[-1:] or ["no word why"]
                end = f"ended with {process.status}" if has_ended else "hangs"
                self.problems.append(f"resumed, it {end}: {last[0][:300]}")
        finally:
            process.close()
        return has_ended and process.status == 0

    @property
    def _is_done(self) -> bool:
        """Whether the output is there, and the command would say so and refuse."""
        return self._scenario.is_final and (self._folder / OUT).exists()

    def _launch(self, *, again: bool) -> Launch:
        return Launch(
            arguments=self._scenario.arguments(self.inputs, again=again),
            folder=self._folder,
            log=self.place / "log.txt",
            is_fresh=self.plan.is_fresh,
            prepare=self._scenario.prepare,
            clock=Clock(self._clock_hours) if self._clock_hours else None,
        )

    def _strike(self, stroke: Stroke, *, is_first: bool) -> None:
        way = WAYS[stroke.way]
        launch = self._launch(again=not is_first)
        if stroke.at_change:
            at_change = 1 + int(stroke.moment * self.undisturbed.num_changes)
            launch = replace(launch, at_change=at_change)
        if way.changes_clock:
            launch = replace(
                launch, clock=Clock(self._clock_hours, -3.0, stroke.moment * self._random.random())
            )
        process = Process(launch)
        try:
            is_alive = process.wait_for(self._moment(stroke, process))
            elapsed = time.monotonic() - process.started
            if is_alive:
                way.strike(Victim(process, self._disk, self._random))
                process.go_on()
            has_ended = process.wait(way.patience_s or _PATIENCE_S)
        finally:
            process.close()
        self._disk.free()
        problem = way.judge(process.status or 0, process.said()) if is_alive else None
        if problem is not None and not (self.plan.is_fresh and "interrupt" in stroke.way):
            self.problems.append(f"{stroke.way}: {problem}")
        if way.changes_clock:
            self._clock_hours -= 5.0
            set_back_files(self._folder, 2.0)
        self._note(stroke, elapsed, process.status, is_alive, has_ended)

    def _race(self, stroke: Stroke) -> None:
        """Starts a second process while the first is at work; one of them is to win."""
        first = Process(self._launch(again=True))
        is_alive = first.wait_for(self._moment(stroke, first))
        elapsed = time.monotonic() - first.started
        second = Process(replace(self._launch(again=True), log=self.place / "second.txt"))
        try:
            second.wait(_PATIENCE_S)
            are_both = not first.wait(0) and second.status == 0
            first.wait(_PATIENCE_S)
        finally:
            second.close()
            first.close()
        # The second may win, if the first has only begun to begin.
        losers = [process for process in (first, second) if process.status]
        if are_both and not losers:
            self.problems.append("two at once: both went on")
        if len(losers) == 2:
            self.problems.append(f"two at once: none went on: {first.said()[-300:]}")
        for loser in losers:
            if not re.search(f"error: .*{OUT}", loser.said()):
                self.problems.append(f"two at once: no word why: {loser.said()[-300:]}")
        self._note(stroke, elapsed, second.status, is_alive, True)

    def _moment(self, stroke: Stroke, process: Process) -> Callable[[], bool]:
        """Returns a function that says whether the moment of a stroke has come."""
        if stroke.at_change:
            return process.has_stopped
        extra = _NEW_INTERPRETER_S if self.plan.is_fresh else 0.0
        if self._scenario.starts_others:
            end = process.started + stroke.moment * (self.undisturbed.seconds + extra)
            return lambda: time.monotonic() >= end
        used = stroke.moment * (self.undisturbed.processor_s + extra)
        return lambda: process.processor_s >= used

    def _note(
        self, stroke: Stroke, elapsed: float, status: int | None, is_alive: bool, has_ended: bool
    ) -> None:
        files = files_of(self._folder / OUT)
        self.deaths.append(
            {
                "way": stroke.way,
                "moment": round(stroke.moment, 4),
                "by": "change" if stroke.at_change else "time",
                "seconds": round(elapsed, 3),
                "status": status if has_ended else "hung",
                "died": is_alive and status != 0,
                "files": len(files),
                "parts": sum(".part" in name for name in files),
            }
        )

    def _strangers(self) -> list[str]:
        """Says what lies beside the output."""
        names = {path.name for path in self._folder.iterdir()} - {OUT, "cache"}
        return [f"{name} is left over beside {OUT}" for name in sorted(names)]

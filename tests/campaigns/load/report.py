"""What a campaign is told, what it writes while it runs, and what it says in the end."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from tests.campaigns.load.clients import Tally
from tests.campaigns.load.measures import slope_per_hour

PERCENTILES = (50, 95, 99)
#: The bar, in MB an hour, and when it begins to count: caches fill at first.
STEEPEST = 1.0
_SETTLED_S = 600.0
#: A shorter time says nothing about an hour.
_FEWEST_S = 1800.0


@dataclass(frozen=True)
class Plan:
    """What a campaign is told; see `add_arguments` of `tests.campaigns.load`.

    Attributes:
        num_exports: Models that differ; versions are copies of one after the other.
        runtimes: What the servers run the model by, one server each.
    """

    seconds: float
    seed: int = 0
    num_clients: int = 64
    rate: float = 60.0
    share_bad: float = 0.05
    switch_s: float = 60.0
    num_exports: int = 4
    runtimes: tuple[str, ...] = ("c_library", "python")


class Log:
    """Lines of JSON in a file, if there is one; may be called from several threads.

    Attributes:
        failures: The first 20 requests that went wrong.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self.failures: list[str] = []
        if path is not None:
            path.write_text("")

    def write(self, line: dict[str, Any]) -> None:
        with self._lock:
            if self._path is not None:
                with self._path.open("a") as file:
                    file.write(json.dumps(line) + "\n")

    def failure(self, leg: str, request: str, problem: str) -> None:
        """Writes down a request that went wrong."""
        if len(self.failures) < 20:
            self.failures.append(f"{leg}: {request}: {problem[:500]}")
        self.write({"failure": problem[:2000], "leg": leg, "request": request})


@dataclass(frozen=True)
class Sample:
    """The memory of each process in MB, after some seconds, while one version was served.

    Seconds in which nothing ran do not count.
    """

    seconds: float
    version: int
    memory_mb: dict[str, float]


@dataclass
class Report:
    """What was found.

    Attributes:
        plan: What was done.
        tallies: Returns what the requests over each leg came to so far.
        samples: Of memory.
        num_switches: New versions.
        seconds: How long the clients asked.
        paused_s: How long nothing ran meanwhile, which is left out of the time and of latencies.
        ended: Why it ended too early, if it did.
    """

    plan: Plan
    tallies: Callable[[], dict[str, Tally]]
    samples: list[Sample] = field(default_factory=list)
    num_switches: int = 0
    seconds: float = 0.0
    paused_s: float = 0.0
    ended: str | None = None

    def progress(self) -> dict[str, Any]:
        """Returns the last sample, and what the requests came to so far."""
        total = sum_of(self.tallies())
        return {
            **asdict(self.samples[-1]),
            "good": total.good,
            "failed": total.failed,
            "bad": total.bad.total(),
            "wrong": total.wrong,
        }

    def add(self, sample: Sample) -> None:
        self.samples.append(sample)

    def slopes(self) -> dict[str, tuple[float, float]]:
        """Returns the slope of each process' memory in MB an hour, and its standard error."""
        settled = [sample for sample in self.samples if sample.seconds >= _SETTLED_S]
        if self.seconds < _FEWEST_S:
            return {}
        times = [sample.seconds for sample in settled]
        return {
            name: slope_per_hour(times, [sample.memory_mb[name] for sample in settled])
            for name in settled[0].memory_mb
        }

    @property
    def problems(self) -> list[str]:
        """What is not as it must be."""
        total = sum_of(self.tallies())
        problems = [f"ended too early: {self.ended}"] if self.ended else []
        problems += [
            f"{name}: memory grows by {slope:.2f} MB an hour"
            for name, (slope, _) in self.slopes().items()
            if slope >= STEEPEST
        ]
        if total.failed:
            problems.append(f"{total.failed} good requests failed")
        if total.wrong:
            problems.append(f"{total.wrong} bad requests were not refused as they deserve")
        return problems

    def as_dict(self) -> dict[str, Any]:
        """Returns everything, for JSON."""
        tallies = self.tallies()
        return {
            "plan": asdict(self.plan),
            "seconds": self.seconds,
            "paused_s": self.paused_s,
            "switches": self.num_switches,
            "slopes": self.slopes(),
            "legs": {name: _numbers(tally) for name, tally in tallies.items()},
            "all": _numbers(sum_of(tallies)),
            "problems": self.problems,
        }

    def __str__(self) -> str:
        found = self.as_dict()
        lines = [f"{'':20} {'good':>8} {'failed':>6} {'bad':>6} {'wrong':>5}   p50/p95/p99 in ms"]
        for name, row in [*found["legs"].items(), ("all", found["all"])]:
            times = " / ".join(f"{row['ms'][percent]:.1f}" for percent in PERCENTILES)
            lines.append(
                f"{name:20} {row['good']:8,} {row['failed']:6} {sum(row['bad'].values()):6,} "
                f"{row['wrong']:5}   {times}"
            )
        total = found["all"]
        rate = (total["good"] + sum(total["bad"].values())) / self.seconds
        lines += [
            f"{rate:.1f} requests/s for {self.seconds:,.0f} s, {self.num_switches} new versions",
            f"nothing ran for another {self.paused_s:.0f} s",
            f"{total['interrupted']} requests were interrupted by that, and asked again if good",
            f"largest difference of an answer {total['difference']:.1e}",
            *(
                f"{name}: memory {slope:+.2f} MB an hour (standard error {error:.2f})"
                for name, (slope, error) in found["slopes"].items()
            ),
            *(found["problems"] or ["nothing wrong"]),
        ]
        return "\n".join(lines)


def sum_of(tallies: dict[str, Tally]) -> Tally:
    return reduce(add, tallies.values(), Tally())


def _numbers(tally: Tally) -> dict[str, Any]:
    return {
        "good": tally.good,
        "failed": tally.failed,
        "bad": dict(Counter(tally.bad)),
        "wrong": tally.wrong,
        "interrupted": tally.interrupted,
        "difference": tally.difference,
        "ms": {percent: tally.latencies.percentile_ms(percent) for percent in PERCENTILES},
    }

"""`python -m tests.campaigns crash`: rounds of deaths, one line of JSON each, and a table."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tests.campaigns.crash.disk import mounts_may_be_made
from tests.campaigns.crash.processes import preload
from tests.campaigns.crash.rounds import Round, make_plan
from tests.campaigns.crash.scenarios import SCENARIOS
from tests.campaigns.crash.summary import read_records, summary
from tests.campaigns.crash.undisturbed import make_inputs, undisturbed_run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of the campaign."""
    parser.add_argument("--rounds", type=int, default=100, help="how many, with those in --log")
    parser.add_argument("--seed", type=int, default=0, help="decides what happens in each round")
    parser.add_argument("--jobs", type=int, default=1, help="rounds side by side")
    parser.add_argument("--log", type=Path, help="a line of JSON per round; goes on with a file")
    parser.add_argument("--only", type=int, metavar="ROUND", help="run this round alone, again")
    parser.add_argument(
        "--scenario", action="append", choices=list(SCENARIOS), metavar="NAME",
        help=f"run only this; repeatable: {', '.join(SCENARIOS)}",
    )  # fmt: skip


@dataclass(frozen=True)
class Campaign:
    """What all rounds share.

    Attributes:
        seed: Decides what happens in each.
        scenarios: Those to draw from.
        folder: Where they run.
        inputs: What commands read.
        is_mounted: Whether each has a file system of its own.
    """

    seed: int
    scenarios: list[str]
    folder: Path
    inputs: Path
    is_mounted: bool

    def run(self, number: int) -> dict[str, Any]:
        """Runs a round; returns its record."""
        plan = make_plan(number, self.seed, self.scenarios)
        place = self.folder / f"round-{number}"
        try:
            undisturbed = undisturbed_run(plan.scenario, self.inputs, self.folder / "undisturbed")
            one = Round(plan, self.inputs, undisturbed, place, self.is_mounted)
            return {"seed": self.seed, **one.run()}
        except Exception:
            # A bug of the campaign; it must not end it.
            return {
                "seed": self.seed, "round": number, "scenario": plan.scenario, "result": "broken",
                "deaths": [], "fresh": plan.is_fresh, "problems": [traceback.format_exc()],
                "seconds": 0.0,
            }  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Runs the campaign; returns its exit status."""
    records = [] if arguments.log is None else read_records(arguments.log)
    if any(record["seed"] != arguments.seed for record in records):
        sys.stderr.write(f"error: {arguments.log} has another --seed. Give that, or another log.\n")
        return 2
    done = {record["round"] for record in records}
    numbers = range(arguments.rounds) if arguments.only is None else [arguments.only]
    numbers = [number for number in numbers if arguments.only is not None or number not in done]
    if numbers:
        is_mounted = mounts_may_be_made()
        preload()
        folder = Path(tempfile.mkdtemp(prefix="charagram-crash-"))
        scenarios = arguments.scenario or list(SCENARIOS)
        inputs = make_inputs(folder / "inputs", scenarios)
        campaign = Campaign(arguments.seed, scenarios, folder, inputs, is_mounted)
        new = []
        for record in _records(campaign, numbers, arguments.jobs):
            new.append(record)
            _report(record, arguments, folder)
        records += new
        if all(record["result"] == "same" for record in new):
            shutil.rmtree(folder)
    print(summary(records))
    return 0 if all(record["result"] == "same" for record in records) else 1


def _records(campaign: Campaign, numbers: list[int], jobs: int) -> Iterator[dict[str, Any]]:
    """Yields the records of rounds as they end."""
    if jobs == 1:
        yield from map(campaign.run, numbers)
        return
    # Forked, as the commands are: this process has started no thread that computes.
    with ProcessPoolExecutor(jobs, mp_context=get_context("fork")) as pool:
        yield from pool.map(campaign.run, numbers)


def _report(record: dict[str, Any], arguments: argparse.Namespace, folder: Path) -> None:
    """Writes a record to the log, and says what failed and how to repeat it."""
    if arguments.log is not None:
        with open(arguments.log, "a", encoding="utf-8") as log:
            log.write(json.dumps(record) + "\n")
    deaths = ", ".join(f"{death['way']} {death['moment']:.2f}" for death in record["deaths"])
    print(f"{record['round']:5} {record['scenario']:24} {deaths:32} {record['result']}", flush=True)
    if record["result"] != "same":
        for problem in record["problems"]:
            print(f"      {problem}")
        chosen = "".join(f" --scenario '{name}'" for name in arguments.scenario or [])
        print(f"      {folder}/round-{record['round']}; again: python -m tests.campaigns crash "
              f"--seed {record['seed']} --only {record['round']}{chosen}", flush=True)  # fmt: skip

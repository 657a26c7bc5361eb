"""What each command leaves if nothing happens to it, made once in a campaign."""

from __future__ import annotations

import fcntl
import json
import shutil
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.campaigns.crash.inputs import write_inputs
from tests.campaigns.crash.processes import Launch, Process
from tests.campaigns.crash.scenarios import INPUTS, OUT, RUN, SCENARIOS, VERSIONS

_PATIENCE_S = 3600.0
# A model for the commands that need one, and a version of it as it is served.
_TRAIN = (
    "train --data pairs.tsv --eval-data scored.tsv --dim 8 --epochs 1 --batch-size 50 --seed 3 "
    f"--out {RUN}"
)
_EXPORT = f"export {RUN} --to {VERSIONS}/words --dtype int8"


@dataclass(frozen=True)
class Undisturbed:
    """A run that was left alone.

    Attributes:
        folder: Where it ran.
        seconds: How long it took.
        processor_s: Processor time that it used, without that of processes it started.
        num_changes: How often it changed a file.
    """

    folder: str
    seconds: float
    processor_s: float
    num_changes: int

    @property
    def out(self) -> Path:
        """What it left."""
        return Path(self.folder) / OUT


def make_inputs(folder: Path, names: Iterable[str]) -> Path:
    """Writes what the commands of some scenarios read, and returns its folder."""
    folder.mkdir()
    write_inputs(folder)
    scenarios = [SCENARIOS[name] for name in names]
    needs_versions = any(scenario.num_kept for scenario in scenarios)
    needs_run = any(f"{INPUTS}/{RUN}" in scenario.line for scenario in scenarios)
    for line in [_TRAIN] * needs_run + [_EXPORT] * 2 * needs_versions:
        _run_to_the_end(Launch(line.split(), folder, folder / "log.txt"))
    return folder


def undisturbed_run(name: str, inputs: Path, folder: Path) -> Undisturbed:
    """Returns the run of a scenario in a folder of such runs; the first to ask makes it."""
    folder = folder / name.replace(" ", "-")
    folder.mkdir(parents=True, exist_ok=True)
    facts, scenario = folder / "facts.json", SCENARIOS[name]
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if facts.exists():
            return Undisturbed(**json.loads(facts.read_text()))
        work = folder / "disk"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        scenario.before(inputs, work)
        arguments = scenario.arguments(inputs, again=False)
        launch = Launch(arguments, work, folder / "log.txt", prepare=scenario.prepare)
        run = Undisturbed(str(work), *_run_to_the_end(launch))
        facts.write_text(json.dumps(asdict(run)))
        return run


def _run_to_the_end(launch: Launch) -> tuple[float, float, int]:
    """Returns seconds, seconds of processor time and changes of files.

    Raises:
        RuntimeError: It failed, so that there is nothing to compare with.
    """
    process = Process(launch)
    try:
        processor_s, end = 0.0, process.started + _PATIENCE_S
        while not process.wait(0.005) and time.monotonic() < end:
            processor_s = max(processor_s, process.processor_s)
        seconds, changes = time.monotonic() - process.started, process.num_changes
    finally:
        process.close()
    if process.status:
        raise RuntimeError(f"charagram {' '.join(launch.arguments)}: {process.said()[-2000:]}")
    return seconds, processor_s, changes

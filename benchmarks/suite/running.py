"""Runs a benchmark in a new process and stores its result."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import common

from . import machine, settings

FOLDER = Path(__file__).parents[1]


def write_small_data(folder: Path) -> None:
    """Writes the pairs of a smoke run: of made-up words, and of sentences of them."""
    pairs = common.word_pairs(None, 1000)
    words = common.texts_of(pairs)
    texts = common.sentences(words, 400)
    sentences = zip(texts[::2], random.Random(0).sample(texts[1::2], 200), strict=True)
    for name, lines in {"pairs": pairs, "sentences": sentences}.items():
        text = "".join(f"{left}\t{right}\n" for left, right in lines)
        (folder / f"{name}.tsv").write_text(text, encoding="utf-8")


def run(
    name: str, places: dict[str, str], rounds: int, is_quick: bool, timeout_s: float
) -> dict[str, Any]:
    """Returns the record of a benchmark.

    Args:
        name: One of `settings.BENCHMARKS`.
        places: What the words in capitals of its settings stand for.
        rounds: How often everything is timed.
        is_quick: Whether it is a smoke run.
        timeout_s: When it is ended.

    Returns:
        Its command, date and seconds; and the `result`, or why it was `skipped` or `failed`.
    """
    words = settings.command(name, rounds, is_quick)
    record: dict[str, Any] = {
        "command": f"python benchmarks/{name}.py {' '.join(words)}",
        "date": datetime.now(UTC).isoformat(timespec="minutes"),
        "load": machine.load(),
    }
    for place in settings.needs(name, is_quick):
        if not Path(_filled(place, places)).exists():
            return record | {"skipped": f"there is no {place}"}
    file = Path(places["TEMPORARY"], f"{name}.json")
    log = file.with_suffix(".log")
    start = time.perf_counter()
    flags = [_filled(word, places) for word in words]
    status = _run([sys.executable, FOLDER / f"{name}.py", *flags, "--json", file], log, timeout_s)
    record["seconds"] = round(time.perf_counter() - start)
    if status != 0:
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        reason = f"longer than {timeout_s:.0f} s" if status is None else f"exit status {status}"
        return record | {"failed": f"{reason}: {lines[-1] if lines else 'it said nothing'}"}
    result = json.loads(file.read_text(encoding="utf-8"))
    del result["benchmark"]
    return record | {"result": result}


def _filled(word: str, places: dict[str, str]) -> str:
    # In one pass, because values may contain placeholders.
    return re.sub("[A-Z0-9]+", lambda match: places.get(match[0], match[0]), word)


def _run(command: list[str | Path], log: Path, timeout_s: float) -> int | None:
    """Returns the exit status, or `None` after a timeout, which ends its children, too."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"}
    with (
        open(log, "wb") as file,
        subprocess.Popen(
            list(map(str, command)), stdin=subprocess.DEVNULL, stdout=file, stderr=file,
            env=environment, start_new_session=True,
        ) as process,
    ):  # fmt: skip
        try:
            return process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None
        finally:
            # Also when this program is interrupted.
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)

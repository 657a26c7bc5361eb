"""The results of all benchmarks: one JSON file, its samples by name, and what changed since."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

#: Units of which less is better; of all others more is.
LESS_IS_BETTER = {"s", "ms", "MB", "times", "wrong", "lost", "% off"}
#: Medians closer than that are the same, whatever their ranges.
MARGIN = 0.05


class Named(NamedTuple):
    """A sample, and where it stands: `"embed: words, encode"`, of ratios `"a over b"`."""

    name: str
    sample: dict[str, Any]


class Change(NamedTuple):
    """A sample in two files.

    Attributes:
        name: That of both.
        old: The sample before.
        new: The sample now.
        factor: How many times as good the new median is; below 1 is worse.
        is_clear: The ranges do not meet, and the medians differ by more than `MARGIN`.
    """

    name: str
    old: dict[str, Any]
    new: dict[str, Any]
    factor: float
    is_clear: bool


def read(path: str | Path) -> dict[str, Any]:
    """Returns the results of a file.

    Raises:
        SystemExit: It is not a result.
    """
    try:
        results = json.loads(Path(path).read_text(encoding="utf-8"))
        return {"machine": results["machine"], "benchmarks": results["benchmarks"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{path} is not a file of results of all.py: {error!r}") from error


def samples_of(result: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[Named]:
    """Yields the samples of a result, which are its parts that have a unit."""
    for key, value in result.items():
        if isinstance(value, dict):
            place = (*path, key.replace("/", " over "))
            if "unit" in value:
                yield Named(", ".join(place), value)
            else:
                yield from samples_of(value, place)


def all_samples(results: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Returns the samples of all benchmarks by name."""
    return {
        f"{benchmark}: {name}": sample
        for benchmark, record in results["benchmarks"].items()
        for name, sample in samples_of(record.get("result", {}))
    }


def changes(old: dict[str, Any], new: dict[str, Any]) -> list[Change]:
    """Returns the changes of samples in both results, worst first."""
    before, found = all_samples(old), []
    for name, sample in all_samples(new).items():
        if name not in before or before[name]["unit"] != sample["unit"]:
            continue
        factor = _times_as_good(before[name]["median"], sample["median"], sample["unit"])
        apart = sample["high"] < before[name]["low"] or sample["low"] > before[name]["high"]
        is_clear = apart and not 1 - MARGIN <= factor <= 1 / (1 - MARGIN)
        found.append(Change(name, before[name], sample, factor, is_clear))
    return sorted(found, key=lambda change: change.factor)


def _times_as_good(old: float, new: float, unit: str) -> float:
    worse, better = (new, old) if unit in LESS_IS_BETTER else (old, new)
    if worse <= 0 or better <= 0:  # Nothing lost, or less than nothing of ours.
        return 1.0 if worse == better else 0.0 if worse > better else float("inf")
    return better / worse

"""Judges the vectors that a model gave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tf_charagram.export.check.result import Result
from tf_charagram.models.embedder import unit_rows

# Sums run in another order elsewhere, and the longest texts have ten thousand terms. Of the
# largest value of a vector; and as a number, for vectors of zeros.
_RELATIVE, _ABSOLUTE = 2e-4, 1e-6
_COSINE = 1e-5


def check_vectors(
    where: str, measured: dict[str, Any], golden: np.ndarray | None, dim: int | None
) -> list[Result]:
    """Returns what each check of a model's answers found.

    Args:
        where: What answered.
        measured: The answers, as `probe.measure` returns them.
        golden: What the vectors of the golden texts must be, float32 `(num_texts, dim)`; `None`
            if the model has none.
        dim: Width that every vector must have; `None` for the width of the first.
    """
    if "error" in measured:
        return [Result(where, "loads", False, measured["error"])]
    checks: dict[str, Callable[[], str]] = {
        "bad texts": lambda: _bad_texts(measured, dim),
        "empty batch": lambda: _empty(measured, dim),
        "latency": lambda: check_latency(measured),
    }
    results = [Result(where, "loads", True, f"in {measured['load_s']:.2f} s")]
    if golden is None:
        results.append(Result(where, "golden vectors", None, "the model comes without any"))
    else:
        checks = {
            "golden vectors": lambda: _golden(measured, golden),
            "golden cosines": lambda: _cosines(measured, golden),
            **checks,
        }
    for name, check in checks.items():
        try:
            results.append(Result(where, name, True, check()))
        except Failed as failure:
            results.append(Result(where, name, False, str(failure)))
    return results


class Failed(Exception):
    """A check did not pass, and why."""


def _array(answer: dict[str, Any], shape: Sequence[int | None]) -> np.ndarray:
    """Returns the array of an answer; `None` in `shape` is any size."""
    if "error" in answer:
        raise Failed(answer["error"])
    found = tuple(answer["shape"])
    if len(found) != len(shape) or any(
        size not in (None, number) for size, number in zip(shape, found, strict=True)
    ):
        raise Failed(f"expected the shape {tuple(shape)}, found {found}".replace("None", "any"))
    array = np.array(answer["value"], np.float32).reshape(found)
    if not np.isfinite(array).all():
        rows = np.flatnonzero(~np.isfinite(array.reshape(len(array), -1)).all(axis=1))
        raise Failed(f"{len(rows)} of {len(array)} vectors have numbers that are not finite")
    return array


def _golden(measured: dict[str, Any], golden: np.ndarray) -> str:
    found = _array(measured["golden"], golden.shape)
    different = _different(found, golden)
    largest = np.abs(found - golden).max(initial=0)
    if different.any():
        raise Failed(
            f"{different.sum()} of {len(found)} vectors differ, the first is that of text "
            f"{different.argmax()}; by up to {largest:.2g}"
        )
    return f"{len(found)} vectors, differences up to {largest:.1g}"


def _cosines(measured: dict[str, Any], golden: np.ndarray) -> str:
    unit = unit_rows(golden)
    expected = np.sum(unit * unit[::-1], axis=1)
    largest = np.abs(_array(measured["similarity"], expected.shape) - expected).max(initial=0)
    if largest > _COSINE:
        raise Failed(f"cosines differ by up to {largest:.2g}")
    return f"{len(expected)} cosines, differences up to {largest:.1g}"


def _bad_texts(measured: dict[str, Any], dim: int | None) -> str:
    alone, problems = [], []
    for name, answer in measured["alone"].items():
        try:
            alone.append(_array(answer, (1, dim)))
            dim = alone[0].shape[1]
        except Failed as failure:
            problems.append(f"{name}: {failure}")
    if problems:
        raise Failed("; ".join(problems))
    vectors = np.concatenate(alone)
    different = _different(_array(measured["together"], vectors.shape), vectors)
    if different.any():
        names = [
            name for name, changed in zip(measured["alone"], different, strict=True) if changed
        ]
        raise Failed(f"other texts of a batch change the vector of: {', '.join(names)}")
    return f"{len(vectors)} texts, alone and in one batch"


def _empty(measured: dict[str, Any], dim: int | None) -> str:
    return f"shape {_array(measured['empty'], (0, dim)).shape}"


def check_latency(measured: dict[str, Any]) -> str:
    """Says how many calls were timed.

    Raises:
        Failed: One failed.
    """
    for row in measured["latency"]:
        if "error" in row:
            raise Failed(f"batch of {row['batch']}: {row['error']}")
    return f"{sum(row['calls'] for row in measured['latency']):,} calls, see the table"


def _different(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Returns which rows differ by more than rounding."""
    allowed = _RELATIVE * np.abs(expected).max(axis=1, initial=0) + _ABSOLUTE
    different: np.ndarray = np.abs(found - expected).max(axis=1, initial=0) > allowed
    return different

"""Questions for an exported model, and checks of its answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_charagram.export._check.probe import SERVING
from tf_charagram.export._serving.requests import GoldenCall, Inputs, make_inputs

#: Outputs of each call, or the message of an error.
AnswersByCall = Mapping[str, dict[str, np.ndarray] | str]
Arrays = Mapping[str, np.ndarray]

# Tolerance of rounding, because sums run in another order elsewhere: relative to the largest number
# of a row, and absolute, for rows of many numbers and for single numbers.
_RELATIVE = 2e-4
_ABSOLUTE = 1e-6
_ABSOLUTE_SINGLE = 2e-5

# Texts that may take too much time or memory.
_HUGE_TEXTS = (b"cat dog " * 131_072, b"x" * 2**20, b"\xff" * 50_000)


@dataclass(frozen=True)
class Outcome:
    """The outcome of one check.

    Args:
        where: The runtime or server, for instance `"only tensorflow"`.
        name: Name of the check.
        ok: Whether it passed; `None` if it was skipped.
        detail: Explanation for people.
    """

    where: str
    name: str
    ok: bool | None
    detail: str


class _Failed(Exception):
    """A check failed; the message says why."""


def questions(
    inputs: Sequence[str], golden: Sequence[GoldenCall], max_bytes: int | None = None
) -> dict[str, tuple[str, Inputs]]:
    """Returns the calls whose answers `judged` needs: by name, a signature and its inputs.

    Args:
        inputs: Names of the inputs of `serving_default`.
        golden: Calls with the outputs they must give; may be empty.
        max_bytes: Huge texts are cut to this length; `None` for no limit.
    """
    huge = [text[:max_bytes] for text in _HUGE_TEXTS]
    calls = {
        "huge texts": (SERVING, make_inputs(inputs, huge, huge)),
        "empty batch": (SERVING, make_inputs(inputs, [], [])),
    }
    for call in golden:
        calls[f"golden {call.signature}"] = (call.signature, call.inputs)
    return calls


def judged(where: str, measured: Mapping[str, Any], golden: Sequence[GoldenCall]) -> list[Outcome]:
    """Judges the answers of a runtime or server.

    Args:
        where: Its name.
        measured: The answers, as `probe.measure` returns them.
        golden: Calls with the outputs they must give; may be empty.
    """
    if "error" in measured:
        return [Outcome(where, "loads", False, measured["error"])]
    answers = measured["answers"]
    results = [Outcome(where, "loads", True, f"in {measured['load_s']:.2f} s")]
    if golden:
        results.append(_judged(where, "golden answers", _golden, answers, golden))
    else:
        results.append(Outcome(where, "golden answers", None, "no golden file"))
    results.append(_judged(where, "huge texts", _huge_texts, answers))
    results.append(_judged(where, "empty batch", _empty_batch, answers))
    results.append(_judged(where, "latency", _latency, measured["latency"]))
    return results


def _judged(where: str, name: str, check: Callable[..., str], *arguments: Any) -> Outcome:
    """Runs a check, which returns details or raises `_Failed`."""
    try:
        return Outcome(where, name, True, check(*arguments))
    except _Failed as failure:
        return Outcome(where, name, False, str(failure))


def _golden(answers: AnswersByCall, golden: Sequence[GoldenCall]) -> str:
    largest = 0.0
    for call in golden:
        try:
            found = _arrays(answers[f"golden {call.signature}"])
            largest = max(largest, _compare(found, call.outputs))
        except _Failed as failure:
            raise _Failed(f"{call.signature}: {failure}") from None
    return f"differences up to {largest:.1g}"


def _huge_texts(answers: AnswersByCall) -> str:
    return _shapes(_arrays(answers["huge texts"]))


def _empty_batch(answers: AnswersByCall) -> str:
    found = _arrays(answers["empty batch"])
    other = _arrays(answers["huge texts"])
    # The answer to other texts, without its rows.
    expected = {name: array[:0] for name, array in other.items()}
    _check_shapes(found, expected)
    return _shapes(found)


def _check_shapes(found: Arrays, expected: Arrays) -> None:
    found_shapes = _shapes(found)
    expected_shapes = _shapes(expected)
    if found_shapes != expected_shapes:
        raise _Failed(f"expected {expected_shapes}, found {found_shapes}")


def _shapes(arrays: Arrays) -> str:
    shapes = [f"{name} {arrays[name].shape}" for name in sorted(arrays)]
    return ", ".join(shapes)


def _latency(rows: Mapping[int, list[float] | str]) -> str:
    times = []
    for size, row in rows.items():
        if isinstance(row, str):
            raise _Failed(f"batch of {size}: {row}")
        median_ms, p99_ms = [1e3 * seconds for seconds in row]
        times.append(f"batch of {size:,}: {median_ms:.2f} ms (p99 {p99_ms:.2f} ms)")
    return ", ".join(times)


def _arrays(answer: Arrays | str) -> Arrays:
    """Returns an answer; fails if the call failed or gave numbers that are not finite."""
    if isinstance(answer, str):
        raise _Failed(answer)
    for name, array in answer.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise _Failed(f"`{name}` has numbers that are not finite")
    return answer


def _compare(arrays: Arrays, expected: Arrays) -> float:
    """Returns the largest difference of two answers; fails if it is more than rounding."""
    _check_shapes(arrays, expected)
    largest = 0.0
    for name, array in arrays.items():
        golden = expected[name]
        if golden.dtype.kind == "f":
            gaps = np.abs(array - golden)
            # A golden number that is not finite makes a gap of NaN, which is not within.
            is_within = gaps <= _tolerance(golden)
        else:
            # Strings and counts must be equal.
            gaps = array != golden
            is_within = ~gaps
        gap = float(gaps.max(initial=0))
        different = np.argwhere(~is_within)
        if len(different):
            raise _Failed(
                f"{len(different):,} of {golden.size:,} values of `{name}` differ by up to "
                f"{gap:.2g}, the first in row {different[0][0]}"
            )
        largest = max(largest, gap)
    return largest


def _tolerance(expected: np.ndarray) -> np.ndarray:
    if expected.ndim < 2:
        return _RELATIVE * np.abs(expected) + _ABSOLUTE_SINGLE
    largest = np.abs(expected).max(axis=-1, keepdims=True, initial=0)
    return _RELATIVE * largest + _ABSOLUTE

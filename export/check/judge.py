"""Questions for an exported model, and checks of its answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_charagram.export.check.probe import SERVING
from tf_charagram.export.serving.requests import GoldenCall, Inputs, make_inputs

#: Outputs of each call, or the message of an error.
Answers = Mapping[str, dict[str, np.ndarray] | str]
Arrays = Mapping[str, np.ndarray]

# Tolerance of rounding, because sums run in another order elsewhere: relative to the largest number
# of a row, and absolute, for rows of many numbers and for single ones.
_RELATIVE, _ABSOLUTE, _ABSOLUTE_SINGLE = 2e-4, 1e-6, 2e-5

#: Texts that users send by mistake or on purpose. None may fail, or change the answer to another.
BAD_TEXTS: dict[str, bytes] = {
    "empty": b"",
    "one character": b"a",
    "white space": " \t\r\n\N{NO-BREAK SPACE}\N{IDEOGRAPHIC SPACE}".encode(),
    "NUL": b"\0",
    "NUL within": b"cat\0dog\0",
    "byte order mark": b"\xef\xbb\xbfcat",
    "broken UTF-8": b"caf\xe9 \xff\xfe\xc3",
    "overlong UTF-8": b"\xc0\xaf\xed\xa0\x80\xf5\x80\x80\x80",
    "emoji": "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL} \N{THUMBS UP SIGN}\U0001f3fd".encode(),
    "right to left": "\u05e9\u05dc\u05d5\u05dd \u202e\u0645\u0631\u062d\u0628\u0627".encode(),
    "CJK": "\u4f60\u597d\u3000\u4e16\u754c".encode(),
    "combining marks": ("e" + "\u0301" * 50).encode(),
    "line breaks": "a\nb\r\nc\u2028d\u0085e".encode(),
    "no characters": "\uffff\U0010ffff".encode(),
    "1 MB": b"cat dog " * 131_072,
    "1 MB in one word": b"x" * 2**20,
    "broken and long": b"\xff" * 50_000,
}


@dataclass(frozen=True)
class Result:
    """The outcome of one check.

    Args:
        where: The runtime or server, for instance `"C++ runtime"`.
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
        max_bytes: Bad texts are cut to this length; `None` for no limit.
    """
    bad = {name: [text[:max_bytes]] for name, text in BAD_TEXTS.items()}
    batches = {**bad, "together": [text for (text,) in bad.values()], "no texts": []}
    calls = {name: (SERVING, make_inputs(inputs, texts, texts)) for name, texts in batches.items()}
    return calls | {f"golden {call.signature}": (call.signature, call.inputs) for call in golden}


def judged(where: str, measured: Mapping[str, Any], golden: Sequence[GoldenCall]) -> list[Result]:
    """Judges the answers of a runtime or server.

    Args:
        where: Its name.
        measured: The answers, as `probe.measure` returns them.
        golden: As for `questions`.
    """
    if "error" in measured:
        return [Result(where, "loads", False, measured["error"])]
    answers = measured["answers"]
    checks: dict[str, Callable[[], str]] = {
        "golden answers": lambda: _golden(answers, golden),
        "bad texts": lambda: _bad_texts(answers),
        "empty batch": lambda: _empty_batch(answers),
        "latency": lambda: _latency(measured["latency"]),
    }
    results = [Result(where, "loads", True, f"in {measured['load_s']:.2f} s")]
    for name, check in checks.items():
        try:
            ok, detail = True, check()
        except _Failed as failure:
            ok, detail = False, str(failure)
        results.append(Result(where, name, ok if detail else None, detail or "no golden file"))
    return results


def _golden(answers: Answers, golden: Sequence[GoldenCall]) -> str:
    gaps = [
        _compare(_arrays(answers[f"golden {call.signature}"], call.signature), call.outputs)
        for call in golden
    ]
    return f"differences up to {max(gaps):.1g}" if gaps else ""


def _bad_texts(answers: Answers) -> str:
    alone = [_arrays(answers[name], name) for name in BAD_TEXTS]
    try:
        expected = {
            # An answer without rows has no type.
            name: np.concatenate([one[name] for one in alone if one[name].size] or [empty])
            for name, empty in alone[0].items()
        }
    except (KeyError, ValueError) as error:
        raise _Failed(f"answers to single texts differ in shape ({error})") from None
    try:
        _compare(_arrays(answers["together"], "together"), expected)
    except _Failed as failure:
        raise _Failed(f"other texts of a batch change an answer: {failure}") from None
    return f"{len(alone)} texts, alone and in one batch"


def _empty_batch(answers: Answers) -> str:
    shapes = {name: array.shape for name, array in _arrays(answers["no texts"], "no texts").items()}
    full = _arrays(answers["together"], "together")
    expected = {name: (0, *array.shape[1:]) for name, array in full.items()}
    if shapes != expected:
        raise _Failed(f"expected shapes {expected}, found {shapes}")
    return ", ".join(f"{name} {shape}" for name, shape in shapes.items())


def _latency(rows: Mapping[int, list[float] | str]) -> str:
    times = []
    for size, row in rows.items():
        if isinstance(row, str):
            raise _Failed(f"batch of {size}: {row}")
        median, p99 = row
        times.append(f"batch of {size:,}: {1e3 * median:.2f} ms (p99 {1e3 * p99:.2f} ms)")
    return ", ".join(times)


def _arrays(answer: Arrays | str, call: str) -> Arrays:
    """Returns an answer; fails if the call failed or gave numbers that are not finite."""
    if isinstance(answer, str):
        raise _Failed(f"{call}: {answer}")
    for name, array in answer.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise _Failed(f"{call}: `{name}` has numbers that are not finite")
    return answer


def _compare(arrays: Arrays, expected: Arrays) -> float:
    """Returns the largest difference of two answers; fails if it is more than rounding."""
    if arrays.keys() != expected.keys():
        raise _Failed(f"expected {', '.join(expected)}, found {', '.join(arrays) or 'nothing'}")
    largest = 0.0
    for name, array in arrays.items():
        other = expected[name]
        if array.shape != other.shape:
            raise _Failed(f"expected `{name}` of shape {other.shape}, found {array.shape}")
        gaps = np.abs(array - other) if other.dtype.kind == "f" else array != other
        # A golden number that is not finite differs from all others.
        different = ~(gaps <= (_tolerance(other) if other.dtype.kind == "f" else 0))
        if different.any():
            row, gap = np.argwhere(different)[0][0], float(gaps.max())
            raise _Failed(
                f"{different.sum():,} of {different.size:,} values of `{name}` differ by up to "
                f"{gap:.2g}, the first in row {row}"
            )
        largest = max(largest, float(gaps.max(initial=0)))
    return largest


def _tolerance(expected: np.ndarray) -> np.ndarray:
    if expected.ndim < 2:
        return _RELATIVE * np.abs(expected) + _ABSOLUTE_SINGLE
    return _RELATIVE * np.abs(expected).max(axis=-1, keepdims=True, initial=0) + _ABSOLUTE

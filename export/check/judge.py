"""Questions for an exported model, and checks of its answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_charagram.export.check.probe import SERVING, encode_inputs
from tf_charagram.export.serving.samples import make_inputs
from tf_charagram.export.serving.version import GoldenCall

#: Outputs of each call as `{"shape", "value"}`, or `{"error"}`.
Answers = Mapping[str, dict[str, Any]]
Arrays = dict[str, np.ndarray]

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


class Failed(Exception):
    """A check failed; the message says why."""


class Judge:
    """Asks a model golden, bad, empty and malformed inputs, and checks its answers.

    Args:
        signatures: Names of the inputs of each signature.
        golden: Calls with the outputs they must give; may be empty.
        max_bytes: Bad texts are cut to this length; `None` for no limit.
    """

    def __init__(
        self,
        signatures: Mapping[str, Sequence[str]],
        golden: Sequence[GoldenCall],
        max_bytes: int | None = None,
    ) -> None:
        self.signatures = signatures
        self.golden = golden
        self.max_bytes = max_bytes

    def calls(self) -> dict[str, dict[str, Any]]:
        """Returns the calls whose answers `results` needs, as `probe.measure` takes them."""
        bad = {name: text[: self.max_bytes] for name, text in BAD_TEXTS.items()}
        return {
            **{f"golden {index}": {key: call[key] for key in ("signature", "inputs")}
               for index, call in enumerate(self.golden)},
            **{f"alone {name}": self._ask(SERVING, [text]) for name, text in bad.items()},
            "together": self._ask(SERVING, list(bad.values())),
            "empty": self._ask(SERVING, []),
            **self._misfit_calls(),
        }  # fmt: skip

    def results(self, where: str, measured: dict[str, Any]) -> list[Result]:
        """Judges the answers of a runtime or server.

        Args:
            where: Its name.
            measured: The answers, as `probe.measure` returns them.
        """
        if "error" in measured:
            return [Result(where, "loads", False, measured["error"])]
        answers = measured["answers"]
        checks: dict[str, Callable[[], str]] = {
            "golden answers": lambda: self._golden(answers),
            "bad texts": lambda: _bad_texts(answers),
            "inputs of different lengths": lambda: _misfits(answers),
            "empty batch": lambda: _empty_batch(answers),
            "latency": lambda: _latency(measured["latency"]),
        }
        results = [Result(where, "loads", True, f"in {measured['load_s']:.2f} s")]
        for name, check in checks.items():
            try:
                ok, detail = True, check()
            except Failed as failure:
                ok, detail = False, str(failure)
            results.append(Result(where, name, ok if detail else None, detail or "no golden file"))
        return results

    def _ask(self, signature: str, texts: Sequence[bytes]) -> dict[str, Any]:
        inputs = make_inputs(self.signatures[signature], texts, texts)
        return {"signature": signature, "inputs": encode_inputs(inputs)}

    def _misfit_calls(self) -> dict[str, dict[str, Any]]:
        """Returns a call with one value too few for each signature with several inputs."""
        calls = {}
        for name, inputs in self.signatures.items():
            if len(inputs) > 1:
                calls[f"misfit {name}"] = self._ask(name, [b"a cat", b"dogs", b"birds"])
                calls[f"misfit {name}"]["inputs"][inputs[-1]].pop()
        return calls

    def _golden(self, answers: Answers) -> str:
        largest, num_values = 0.0, 0
        for index, call in enumerate(self.golden):
            try:
                gap = _compare(_arrays(answers[f"golden {index}"]), _arrays(call["outputs"]))
            except Failed as failure:
                raise Failed(f"{call['signature']}: {failure}") from None
            largest = max(largest, gap)
            num_values += sum(len(output["value"]) for output in call["outputs"].values())
        return f"{num_values:,} values, differences up to {largest:.1g}" if self.golden else ""


def _bad_texts(answers: Answers) -> str:
    alone, problems = {}, []
    for name in BAD_TEXTS:
        try:
            alone[name] = _arrays(answers[f"alone {name}"])
        except Failed as failure:
            problems.append(f"{name}: {failure}")
    if problems:
        raise Failed("; ".join(problems))
    expected = _joined([*alone.values()])
    try:
        _compare(_arrays(answers["together"]), expected)
    except Failed as failure:
        raise Failed(f"other texts of a batch change an answer: {failure}") from None
    return f"{len(alone)} texts, alone and in one batch"


def _empty_batch(answers: Answers) -> str:
    shapes = {name: array.shape for name, array in _arrays(answers["empty"]).items()}
    full = _arrays(answers["together"])
    expected = {name: (0, *array.shape[1:]) for name, array in full.items()}
    if shapes != expected:
        raise Failed(f"expected shapes {expected}, found {shapes}")
    return ", ".join(f"{name} {shape}" for name, shape in shapes.items())


def _misfits(answers: Answers) -> str:
    misfits = {name.removeprefix("misfit "): answer for name, answer in answers.items()
               if name.startswith("misfit ")}  # fmt: skip
    for name, answer in misfits.items():
        if "error" not in answer:
            raise Failed(f"{name} accepts inputs of different lengths")
    return f"refused by {', '.join(misfits)}" if misfits else "no signature has two inputs"


def _latency(rows: Sequence[dict[str, Any]]) -> str:
    for row in rows:
        if "error" in row:
            raise Failed(f"batch of {row['batch']}: {row['error']}")
    return f"{sum(row['calls'] for row in rows):,} calls, see the table"


def _arrays(answer: dict[str, Any]) -> Arrays:
    """Decodes an answer; fails if the call failed or gave numbers that are not finite."""
    if "error" in answer:
        raise Failed(answer["error"])
    arrays = {}
    for name, output in answer.items():
        arrays[name] = array = np.array(output["value"]).reshape(output["shape"])
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise Failed(f"`{name}` has numbers that are not finite")
    return arrays


def _joined(answers: Sequence[Arrays]) -> Arrays:
    """Concatenates answers to single texts; those without rows have no type."""
    try:
        return {
            name: np.concatenate([one[name] for one in answers if one[name].size] or [empty])
            for name, empty in answers[0].items()
        }
    except (KeyError, ValueError) as error:
        raise Failed(f"answers to single texts differ in shape ({error})") from None


def _compare(arrays: Arrays, expected: Arrays) -> float:
    """Returns the largest difference of two answers; fails if it is more than rounding."""
    if arrays.keys() != expected.keys():
        raise Failed(f"expected {', '.join(expected)}, found {', '.join(arrays) or 'nothing'}")
    largest = 0.0
    for name, array in arrays.items():
        other = expected[name]
        if array.shape != other.shape:
            raise Failed(f"expected `{name}` of shape {other.shape}, found {array.shape}")
        if other.dtype.kind == "f":
            gaps = np.abs(array - other)
            largest = max(largest, gaps.max(initial=0))
            different = gaps > _tolerance(other)
        else:
            different = array != other
        if different.any():
            row = np.argwhere(different)[0][0]
            raise Failed(
                f"{different.sum():,} of {different.size:,} values of `{name}` differ by up to "
                f"{largest:.2g}, the first in row {row}"
            )
    return largest


def _tolerance(expected: np.ndarray) -> np.ndarray:
    if expected.ndim < 2:
        return _RELATIVE * np.abs(expected) + _ABSOLUTE_SINGLE
    return _RELATIVE * np.abs(expected).max(axis=-1, keepdims=True, initial=0) + _ABSOLUTE

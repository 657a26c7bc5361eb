"""What an exported model is asked, and the judge of what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tf_charagram.export.check.probe import encode_inputs
from tf_charagram.export.check.result import Result
from tf_charagram.export.check.texts import BAD_TEXTS
from tf_charagram.export.serving.golden import GoldenCall
from tf_charagram.export.serving.inputs import make_inputs

#: What a call gave, by name of the call: outputs as `{"shape", "value"}`, or `{"error"}`.
Answers = Mapping[str, dict[str, Any]]
Arrays = dict[str, np.ndarray]
Checks = dict[str, Callable[[], str]]

SERVING = "serving_default"
# Sums run in another order elsewhere; of scores and probabilities.
_RELATIVE, _ABSOLUTE = 2e-4, 2e-5


class Failed(Exception):
    """A check did not pass, and why."""


class Judge:
    """Chooses what a model is asked, and judges what it answers: labels, scores, tags.

    Args:
        signatures: Names of the inputs of each signature, in one order.
        golden: Calls with the outputs they must have; empty if the model comes without any.
        max_bytes: Longest text that is asked about; `None` for any.
    """

    golden_check = "golden answers"

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
        """Returns the calls that `results` needs the answers of, as `probe.measure` takes them."""
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
        """Returns what each check found.

        Args:
            where: What answered.
            measured: The answers, as `probe.measure` returns them.
        """
        if "error" in measured:
            return [Result(where, "loads", False, measured["error"])]
        results = [Result(where, "loads", True, f"in {measured['load_s']:.2f} s")]
        checks = self.checks(measured["answers"])
        if not self.golden:
            results.append(Result(where, self.golden_check, None, "the model comes without any"))
        for name, check in {**checks, "latency": lambda: _latency(measured)}.items():
            try:
                results.append(Result(where, name, True, check()))
            except Failed as failure:
                results.append(Result(where, name, False, str(failure)))
        return results

    def checks(self, answers: Answers) -> Checks:
        """Returns the checks by name; each says what it found, or raises `Failed`."""
        return {
            **(self.golden_checks(answers) if self.golden else {}),
            "bad texts": lambda: self._bad_texts(answers),
            **self.input_checks(answers),
            "empty batch": lambda: self.empty_batch(answers),
        }

    def read(self, answer: dict[str, Any], num_texts: int) -> Arrays:
        """Returns the outputs of a call of `serving_default`; strings stay as they are encoded.

        Args:
            answer: The outputs.
            num_texts: What was asked about; taggers have more rows than texts.

        Raises:
            Failed: The call failed, or gave something else.
        """
        del num_texts
        return _finite(decode(answer))

    def input_checks(self, answers: Answers) -> Checks:
        """Returns the check that inputs that differ in length are refused."""
        return {"inputs that do not fit": lambda: _misfits(answers)}

    def golden_checks(self, answers: Answers) -> Checks:
        """Returns the checks of the golden calls."""
        return {self.golden_check: lambda: self._golden_answers(answers)}

    def compare_together(self, together: Arrays, alone: Mapping[str, Arrays]) -> None:
        """Compares the answers to texts of one batch with those to the texts alone.

        Raises:
            Failed: They differ by more than rounding.
        """
        try:
            _compare(together, joined(alone))
        except Failed as failure:
            raise Failed(f"other texts of a batch change an answer: {failure}") from None

    def empty_batch(self, answers: Answers) -> str:
        """Checks that no texts have no answers."""
        shapes = {name: array.shape for name, array in self.read(answers["empty"], 0).items()}
        if any(shape[:1] != (0,) for shape in shapes.values()):
            raise Failed(f"expected no rows, found {shapes}")
        return ", ".join(f"{name} {shape}" for name, shape in shapes.items())

    def _ask(self, signature: str, texts: Sequence[bytes]) -> dict[str, Any]:
        inputs = make_inputs(self.signatures[signature], texts, texts)
        return {"signature": signature, "inputs": encode_inputs(inputs)}

    def _misfit_calls(self) -> dict[str, dict[str, Any]]:
        calls = {}
        for name, inputs in self.signatures.items():
            if len(inputs) > 1:
                calls[f"misfit {name}"] = self._ask(name, [b"a cat", b"dogs"])
                calls[f"misfit {name}"]["inputs"][inputs[-1]].pop()
        return calls

    def _golden_answers(self, answers: Answers) -> str:
        largest, num_values = 0.0, 0
        for index, call in enumerate(self.golden):
            try:
                arrays = _finite(decode(answers[f"golden {index}"]))
                largest = max(largest, _compare(arrays, _finite(decode(call["outputs"]))))
            except Failed as failure:
                raise Failed(f"{call['signature']}: {failure}") from None
            num_values += sum(len(output["value"]) for output in call["outputs"].values())
        return f"{num_values:,} values, differences up to {largest:.1g}"

    def _bad_texts(self, answers: Answers) -> str:
        alone, problems = {}, []
        for name in BAD_TEXTS:
            try:
                alone[name] = self.read(answers[f"alone {name}"], 1)
            except Failed as failure:
                problems.append(f"{name}: {failure}")
        if problems:
            raise Failed("; ".join(problems))
        self.compare_together(self.read(answers["together"], len(alone)), alone)
        return f"{len(alone)} texts, alone and in one batch"


def decode(answer: dict[str, Any]) -> Arrays:
    """Returns the arrays of an answer.

    Raises:
        Failed: The call failed.
    """
    if "error" in answer:
        raise Failed(answer["error"])
    return {
        name: np.array(output["value"]).reshape(output["shape"]) for name, output in answer.items()
    }


def joined(alone: Mapping[str, Arrays]) -> Arrays:
    """Returns answers about single texts as one; the types of those without rows are ignored."""
    rows = list(alone.values())
    return {
        name: np.concatenate([row[name] for row in rows if row[name].size] or [rows[0][name]])
        for name in rows[0]
    }


def _finite(arrays: Arrays) -> Arrays:
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise Failed(f"`{name}` has numbers that are not finite")
    return arrays


def _compare(arrays: Arrays, expected: Arrays) -> float:
    """Returns the largest difference between two answers, which is only rounding."""
    if arrays.keys() != expected.keys():
        raise Failed(f"expected {', '.join(expected)}, found {', '.join(arrays) or 'nothing'}")
    largest = 0.0
    for name, array in arrays.items():
        if array.shape != expected[name].shape:
            raise Failed(
                f"expected `{name}` of the shape {expected[name].shape}, found {array.shape}"
            )
        if expected[name].dtype.kind == "f":
            gaps = np.abs(array - expected[name])
            largest = max(largest, gaps.max(initial=0))
            different = gaps > _RELATIVE * np.abs(expected[name]) + _ABSOLUTE
        else:
            different = array != expected[name]
        if different.any():
            raise Failed(
                f"{different.sum():,} of {different.size:,} values of `{name}` differ, the first "
                f"is number {different.argmax()}"
            )
    return largest


def _misfits(answers: Answers) -> str:
    misfits = {name.removeprefix("misfit "): answer for name, answer in answers.items()
               if name.startswith("misfit ")}  # fmt: skip
    for name, answer in misfits.items():
        if "error" not in answer:
            raise Failed(f"{name} answers inputs that differ in length")
    return f"refused by {', '.join(misfits)}" if misfits else "no signature has two inputs"


def _latency(measured: dict[str, Any]) -> str:
    for row in measured["latency"]:
        if "error" in row:
            raise Failed(f"batch of {row['batch']}: {row['error']}")
    return f"{sum(row['calls'] for row in measured['latency']):,} calls, see the table"

"""What a model with a head is asked, and the judge of what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tf_charagram.export.check.probe import encode_inputs
from tf_charagram.export.check.result import Result
from tf_charagram.export.check.texts import BAD_TEXTS
from tf_charagram.export.check.vectors import Failed, check_latency
from tf_charagram.export.serving.inputs import make_inputs

Signatures = Mapping[str, Sequence[str]]

_SERVING = "serving_default"
# Sums run in another order elsewhere; of scores and probabilities.
_RELATIVE, _ABSOLUTE = 2e-4, 2e-5
# A tagger reads a text of 1 MB too, but token by token, in gigabytes.
_LONGEST_TAGGED = 8_000


def calls_of(
    kind: str, signatures: Signatures, golden: Sequence[dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Returns the calls for `probe.measure_answers` whose answers `check_answers` judges.

    Args:
        kind: Of the model.
        signatures: Names of the inputs of each signature, in one order.
        golden: Golden calls, see `write_golden_answers`.
    """

    def ask(signature: str, texts: Sequence[bytes]) -> dict[str, Any]:
        inputs = make_inputs(signatures[signature], texts, texts)
        return {"signature": signature, "inputs": encode_inputs(inputs)}

    bad = {name: text[: _LONGEST_TAGGED if kind == "tagger" else None]
           for name, text in BAD_TEXTS.items()}  # fmt: skip
    calls = {
        **{f"golden {index}": {key: call[key] for key in ("signature", "inputs")}
           for index, call in enumerate(golden)},
        **{f"alone {name}": ask(_SERVING, [text]) for name, text in bad.items()},
        "together": ask(_SERVING, list(bad.values())),
        "empty": ask(_SERVING, []),
    }  # fmt: skip
    for name, names in signatures.items():
        if len(names) > 1:
            calls[f"misfit {name}"] = ask(name, [b"a cat", b"dogs"])
            calls[f"misfit {name}"]["inputs"][names[-1]].pop()
    return calls


def check_answers(
    where: str, measured: dict[str, Any], golden: Sequence[dict[str, Any]]
) -> list[Result]:
    """Returns what each check of a model's answers found.

    Args:
        where: What answered.
        measured: The answers, as `probe.measure_answers` returns them.
        golden: Golden calls with the outputs they must have; empty if the model has none.
    """
    if "error" in measured:
        return [Result(where, "loads", False, measured["error"])]
    answers = measured["answers"]
    checks: dict[str, Callable[[], str]] = {
        "golden answers": lambda: _golden(answers, golden),
        "bad texts": lambda: _bad_texts(answers),
        "inputs that do not fit": lambda: _misfits(answers),
        "empty batch": lambda: _empty(answers),
        "latency": lambda: check_latency(measured),
    }
    results = [Result(where, "loads", True, f"in {measured['load_s']:.2f} s")]
    for name, check in checks.items():
        if name == "golden answers" and not golden:
            results.append(Result(where, name, None, "the model comes without any"))
            continue
        try:
            results.append(Result(where, name, True, check()))
        except Failed as failure:
            results.append(Result(where, name, False, str(failure)))
    return results


def _arrays(answer: dict[str, Any]) -> dict[str, np.ndarray]:
    """Returns the arrays of an answer; strings stay as they are encoded."""
    if "error" in answer:
        raise Failed(answer["error"])
    arrays = {name: np.array(one["value"]).reshape(one["shape"]) for name, one in answer.items()}
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise Failed(f"`{name}` has numbers that are not finite")
    return arrays


def _compare(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> float:
    """Returns the largest difference of two answers, which is but rounding."""
    if found.keys() != expected.keys():
        raise Failed(f"expected {', '.join(expected)}, found {', '.join(found) or 'nothing'}")
    largest = 0.0
    for name, array in expected.items():
        if found[name].shape != array.shape:
            raise Failed(f"expected `{name}` of the shape {array.shape}, found {found[name].shape}")
        if array.dtype.kind == "f":
            gaps = np.abs(found[name] - array)
            largest = max(largest, gaps.max(initial=0))
            different = gaps > _RELATIVE * np.abs(array) + _ABSOLUTE
        else:
            different = found[name] != array
        if different.any():
            raise Failed(
                f"{different.sum():,} of {different.size:,} values of `{name}` differ, the first "
                f"is number {different.argmax()}"
            )
    return largest


def _golden(answers: dict[str, Any], golden: Sequence[dict[str, Any]]) -> str:
    largest = 0.0
    for index, call in enumerate(golden):
        try:
            found = _arrays(answers[f"golden {index}"])
            largest = max(largest, _compare(found, _arrays(call["outputs"])))
        except Failed as failure:
            raise Failed(f"{call['signature']}: {failure}") from None
    num_values = sum(len(one["value"]) for call in golden for one in call["outputs"].values())
    return f"{num_values:,} values, differences up to {largest:.1g}"


def _bad_texts(answers: dict[str, Any]) -> str:
    alone, problems = [], []
    for name in BAD_TEXTS:
        try:
            alone.append(_arrays(answers[f"alone {name}"]))
        except Failed as failure:
            problems.append(f"{name}: {failure}")
    if problems:
        raise Failed("; ".join(problems))
    joined = {
        name: np.concatenate([one[name] for one in alone if one[name].size] or [alone[0][name]])
        for name in alone[0]
    }
    try:
        _compare(_arrays(answers["together"]), joined)
    except Failed as failure:
        raise Failed(f"other texts of a batch change an answer: {failure}") from None
    return f"{len(alone)} texts, alone and in one batch"


def _misfits(answers: dict[str, Any]) -> str:
    found = {name.removeprefix("misfit "): answer for name, answer in answers.items()
             if name.startswith("misfit ")}  # fmt: skip
    for name, answer in found.items():
        if "error" not in answer:
            raise Failed(f"{name} answers inputs that differ in length")
    return f"refused by {', '.join(found)}" if found else "no signature has two inputs"


def _empty(answers: dict[str, Any]) -> str:
    shapes = {name: array.shape for name, array in _arrays(answers["empty"]).items()}
    if any(shape[:1] != (0,) for shape in shapes.values()):
        raise Failed(f"expected no rows, found {shapes}")
    return ", ".join(f"{name} {shape}" for name, shape in shapes.items())

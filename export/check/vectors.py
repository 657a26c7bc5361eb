"""The judge of models that give vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tf_charagram.export.check.judge import (
    SERVING,
    Answers,
    Arrays,
    Checks,
    Failed,
    Judge,
    decode,
    joined,
)
from tf_charagram.export.serving.golden import GoldenCall

# Sums run in another order elsewhere, and the longest texts have ten thousand terms. Of the
# largest value of a vector; and as a number, for vectors of zeros.
_RELATIVE, _ABSOLUTE = 2e-4, 1e-6
_COSINE = 1e-5
_VECTORS, _COSINES = "embedding", "cosine"


class VectorJudge(Judge):
    """Judges the vectors of texts and their cosines; the model's card need not be there.

    Args:
        golden: As `golden.vector_calls` makes them; empty if the model comes without any.
        dim: Width that every vector must have; `None` for that of the golden ones, or the first.
    """

    golden_check = "golden vectors"

    def __init__(self, golden: Sequence[GoldenCall], dim: int | None) -> None:
        super().__init__({SERVING: ["texts"]}, golden)
        self.dim = golden[0]["outputs"][_VECTORS]["shape"][1] if golden else dim

    def read(self, answer: dict[str, Any], num_texts: int) -> Arrays:
        """Returns the vectors of texts; see `Judge.read`."""
        return {_VECTORS: _array(answer, _VECTORS, (num_texts, self.dim))}

    def checks(self, answers: Answers) -> Checks:
        """Returns the checks by name; see `Judge.checks`."""
        if self.dim is not None:
            return super().checks(answers)
        shapes = [
            answer[_VECTORS]["shape"]
            for name, answer in answers.items()
            if name.startswith("alone ") and _VECTORS in answer
        ]
        widths = (shape[1] for shape in shapes if len(shape) == 2)
        judge = VectorJudge(self.golden, next(widths, None))
        return Judge.checks(judge, answers)

    def input_checks(self, answers: Answers) -> Checks:
        """Returns none: of two inputs of `similarity`, one text is compared with all others."""
        return {}

    def golden_checks(self, answers: Answers) -> Checks:
        """Returns the checks of the golden vectors and of their cosines."""
        return {
            self.golden_check: lambda: self._golden_vectors(answers["golden 0"]),
            "golden cosines": lambda: self._golden_cosines(answers["golden 1"]),
        }

    def compare_together(self, together: Arrays, alone: Mapping[str, Arrays]) -> None:
        """Compares vectors; see `Judge.compare_together`."""
        different = _different(together[_VECTORS], joined(alone)[_VECTORS])
        if different.any():
            names = [name for name, changed in zip(alone, different, strict=True) if changed]
            raise Failed(f"other texts of a batch change the vector of: {', '.join(names)}")

    def empty_batch(self, answers: Answers) -> str:
        """Checks that no texts have no vectors."""
        return f"shape {self.read(answers['empty'], 0)[_VECTORS].shape}"

    def _golden_vectors(self, answer: dict[str, Any]) -> str:
        expected = decode(self.golden[0]["outputs"])[_VECTORS]
        vectors = self.read(answer, len(expected))[_VECTORS]
        different = _different(vectors, expected)
        largest = np.abs(vectors - expected).max(initial=0)
        if different.any():
            raise Failed(
                f"{different.sum()} of {len(vectors)} vectors differ, the first is that of text "
                f"{different.argmax()}; by up to {largest:.2g}"
            )
        return f"{len(vectors)} vectors, differences up to {largest:.1g}"

    def _golden_cosines(self, answer: dict[str, Any]) -> str:
        expected = decode(self.golden[1]["outputs"])[_COSINES]
        cosines = _array(answer, _COSINES, expected.shape)
        largest = np.abs(cosines - expected).max(initial=0)
        if not largest <= _COSINE:  # It may be NaN.
            raise Failed(f"cosines differ by up to {largest:.2g}")
        return f"{len(expected)} cosines, differences up to {largest:.1g}"


def _array(answer: dict[str, Any], name: str, expected: Sequence[int | None]) -> np.ndarray:
    """Returns an output of an answer; `None` in its expected shape is any size."""
    arrays = decode(answer)
    if name not in arrays:
        raise Failed(f"expected {name}, found {', '.join(arrays) or 'nothing'}")
    array = arrays[name]
    if array.ndim != len(expected) or any(
        size not in (None, number) for size, number in zip(expected, array.shape, strict=True)
    ):
        text = f"expected the shape {tuple(expected)}, found {array.shape}"
        raise Failed(text.replace("None", "any"))
    if not np.isfinite(array).all():
        rows = np.flatnonzero(~np.isfinite(array.reshape(len(array), -1)).all(axis=1))
        raise Failed(f"{len(rows)} of {len(array)} vectors have numbers that are not finite")
    return array


def _different(vectors: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Returns which rows differ by more than rounding."""
    allowed = _RELATIVE * np.abs(expected).max(axis=1, initial=0) + _ABSOLUTE
    same: np.ndarray = np.abs(vectors - expected).max(axis=1, initial=0) <= allowed
    return ~same  # NaN is not the same as anything.

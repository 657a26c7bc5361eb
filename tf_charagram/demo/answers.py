"""The answers of the demo page, ready for JSON: nearest texts, and why two texts are similar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tf_charagram._common.lazy import load_tensorflow
from tf_charagram.data.typos import add_typos
from tf_charagram.errors import ConfigError
from tf_charagram.models._answers.explanation import Parts, explain
from tf_charagram.models._answers.vectors import Neighbor, nearest_texts
from tf_charagram.models._storage.choice import Embedder, load_embedder
from tf_charagram.models._storage.locations import EMBEDDER, load_any, read_kind
from tf_charagram.models._storage.stored_model import sums_ngrams
from tf_charagram.models.text_reader import TextReader

# Number of neighbors.
_NUM_NEIGHBORS = 10
#: Maximum number of typos added to a text.
MAX_EDITS = 5
#: Length at which texts are cut, unless the model cuts them earlier.
MAX_CHARS = 10_000
# Longer texts are not explained, because the number of n-gram pairs grows with the square.
_MAX_EXPLAINED_CHARS = 200
# Number of n-gram pairs.
_NUM_PAIRS = 8


class Answers:
    """Answers the questions of the page about a model.

    Args:
        embedder: The model.
        texts: Distinct texts to search; words with the most frequent first.
        name: Name of the model on the page.

    Raises:
        ConfigError: There are no texts.
    """

    def __init__(self, embedder: Embedder, texts: Sequence[str], name: str) -> None:
        if not texts:
            raise ConfigError("There is no text to search.")
        self.texts = texts
        self.name = name
        self.max_chars = min(embedder.max_chars or MAX_CHARS, MAX_CHARS)
        self.can_explain = isinstance(embedder, TextReader) and embedder.can_explain
        self._embedder: Any = embedder
        self._vectors = embedder.encode(texts, normalize=True)

    def about(self) -> dict[str, Any]:
        """Returns facts about the model, limits, and an example."""
        return {
            "name": self.name,
            "dim": self._embedder.dim,
            "num_texts": len(self.texts),
            "can_explain": self.can_explain,
            "max_chars": self.max_chars,
            "max_explained_chars": _MAX_EXPLAINED_CHARS,
            "max_edits": MAX_EDITS,
            "example": example(self.texts),
        }

    def neighbors(self, text: str, edits: int, seed: int) -> dict[str, Any]:
        """Returns the nearest texts of a text with typos.

        Args:
            text: Any text.
            edits: Number of typos, 0 to `MAX_EDITS`.
            seed: Seed of the typos.

        Returns:
            `typed`, the text with typos; `is_cut`, whether it was too long; `cosine` of the texts
            with and without typos; `neighbors`, nearest first, each with `text`, `cosine` and
            `stays`, whether it is also near the text without typos; and `num_stay`.

        Raises:
            ConfigError: `edits` or `seed` is out of range.
        """
        clean, typed = self._typed(text, edits, seed)
        clean_vector, before = self._nearest(clean)
        vector, after = self._nearest(typed)
        # With typos, the text itself may be found: its best neighbor.
        near = {clean, *(neighbor.text for neighbor in before)}
        neighbors = [
            {"text": found.text, "cosine": found.cosine, "stays": found.text in near}
            for found in after
        ]
        return {
            "typed": typed,
            "is_cut": clean != text,
            "cosine": _cosine(clean_vector, vector),
            "neighbors": neighbors,
            "num_stay": sum(neighbor["stays"] for neighbor in neighbors),
        }

    def compare(self, left: str, right: str, edits: int, seed: int) -> dict[str, Any]:
        """Compares two texts.

        Args:
            left: Any text, which gets the typos.
            right: Any text.
            edits: Number of typos, 0 to `MAX_EDITS`.
            seed: Seed of the typos.

        Returns:
            `typed`, the left text with typos; `cosine`, and `clean_cosine` without typos; and
            `explanation`, the shares of characters and n-grams in the cosine, or `None`.

        Raises:
            ConfigError: `edits` or `seed` is out of range.
        """
        clean, typed = self._typed(left, edits, seed)
        right = right[: self.max_chars]
        clean_vector, vector, other = self._embedder.encode([clean, typed, right], normalize=True)
        is_short = max(len(typed), len(right)) <= _MAX_EXPLAINED_CHARS
        explanation = None
        if self.can_explain and is_short:
            explanation = self.explained(typed, right)
        return {
            "typed": typed,
            "cosine": _cosine(vector, other),
            "clean_cosine": _cosine(clean_vector, other),
            "explanation": explanation,
        }

    def explained(self, left: str, right: str) -> dict[str, Any]:
        """Divides the cosine of two texts among their characters and n-grams.

        Returns:
            `left` and `right`, each with `text`, as the model reads it, and `shares`: every n-gram
            spreads its contribution evenly over its characters, so that `shares` and `bias` sum to
            the cosine. And `pairs`, the largest contributions: left, right, contribution.
        """
        left_parts = self._embedder.ngrams(left)
        right_parts = self._embedder.ngrams(right)
        explanation = explain(left_parts, right_parts)
        return {
            "left": _shares(left_parts, explanation.contributions.sum(axis=1)),
            "right": _shares(right_parts, explanation.contributions.sum(axis=0)),
            "pairs": explanation.top(_NUM_PAIRS),
        }

    def _typed(self, text: str, edits: int, seed: int) -> tuple[str, str]:
        """Returns a text, cut to its maximum length, without and with typos."""
        if not 0 <= edits <= MAX_EDITS:
            raise ConfigError(f"`edits` must be in [0, {MAX_EDITS}]. Received: edits={edits}")
        if seed < 0:
            raise ConfigError(f"`seed` must not be negative. Received: seed={seed}")
        clean = text[: self.max_chars]
        return clean, add_typos(clean, edits, np.random.default_rng(seed))

    def _nearest(self, text: str) -> tuple[NDArray[np.float32], list[Neighbor]]:
        """Returns the unit-length vector of a text, `(dim,)`, and its neighbors."""
        [vector] = self._embedder.encode([text], normalize=True)
        # One more, because the text itself is no neighbor.
        found = nearest_texts(vector, self._vectors, self.texts, _NUM_NEIGHBORS + 1)
        neighbors = [neighbor for neighbor in found if neighbor.text != text]
        return vector, neighbors[:_NUM_NEIGHBORS]


def _shares(parts: Parts, contributions: NDArray[np.float64]) -> dict[str, Any]:
    """Spreads the contribution of each n-gram evenly over its characters."""
    # The bias comes last, and has no characters.
    *of_ngrams, of_bias = contributions.tolist()
    shares = np.zeros(len(parts.text))
    for (start, stop), contribution in zip(parts.spans, of_ngrams, strict=True):
        shares[start:stop] += contribution / (stop - start)
    return {"text": parts.text, "shares": shares.tolist(), "bias": of_bias}


def _cosine(left: NDArray[np.float32], right: NDArray[np.float32]) -> float:
    return float(np.clip(left @ right, -1, 1))


def example(texts: Sequence[str]) -> dict[str, str]:
    """Returns the initial query, left and right text of the page.

    The example is the first text of 8 to 40 characters that starts with a letter, with a typo.
    """
    for text in texts:
        if 8 <= len(text) <= 40 and text[0].isalpha():
            mistyped = add_typos(text, 1, np.random.default_rng(0))
            if mistyped != text:
                return {"query": mistyped, "left": mistyped, "right": text}
    # There may be only one text.
    *_, right = texts[:2]
    return {"query": texts[0], "left": texts[0], "right": right}


def embedder_of(path: str) -> Embedder:
    """Loads an embedder, or the embedder in a pair model or text classifier.

    Args:
        path: Run folder, model folder or name of a model.

    Raises:
        ConfigError: The model is a tagger, which has no vectors of texts.
        RunError: The model cannot be loaded.
    """
    if read_kind(path) == EMBEDDER:
        return load_embedder(path, 0)
    load_tensorflow()
    from tf_charagram.models._answers.answering import AnsweringModel

    model = load_any(path)
    if isinstance(model, AnsweringModel):
        return TextReader.load(path, kind=None) if sums_ngrams(path) else model.embedder
    raise ConfigError(
        f"`model` must have one vector per text: an embedder, a pair model or a text classifier. "
        f"Received: {path}, a {model.kind}."
    )

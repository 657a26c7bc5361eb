"""Shares of the n-grams of a text in its vector."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from research.analysis.table import Cell, Table
from tf_charagram.errors import ConfigError
from tf_charagram.models._answers.explanation import BIAS
from tf_charagram.models.embedder import TextEmbedder


def ngram_shares(embedders: Mapping[str, TextEmbedder], texts: Sequence[str], k: int = 10) -> Table:
    """Divides the vector of each text among its n-grams.

    The share of an n-gram is the projection of its part on the vector, over the vector's length:
    the shares of a text sum to 1. They are the contributions of `TextEmbedder.explain` of the text
    with itself, summed over one side.

    Args:
        embedders: Name -> embedder of n-grams.
        texts: The texts.
        k: Number of n-grams shown, largest shares first; equal n-grams are summed.

    Returns:
        One row per text and model: the share of each order, of n-grams that span two words, and
        the n-grams with the largest shares, spaces written as `_`.

    Raises:
        ConfigError: A model is not a sum over n-grams, there is no text, or `k` is below 1.
    """
    if not texts or k < 1:
        raise ConfigError(
            f"Shares need at least 1 text and k of at least 1. Received: {len(texts)} texts, k={k}"
        )
    orders = sorted({order for model in embedders.values() for order in _orders(model)})
    rows: list[tuple[Cell, ...]] = []
    for text in texts:
        for name, embedder in embedders.items():
            explanation = embedder.explain(text, text)
            shares: dict[str, float] = defaultdict(float)
            for ngram, share in zip(
                explanation.left, explanation.contributions.sum(axis=1), strict=True
            ):
                shares[ngram] += float(share)
            bias = shares.pop(BIAS, 0.0)
            by_order = [_percent(shares, partial(_is_of_order, order=order)) for order in orders]
            across = _percent(shares, lambda ngram: " " in ngram.strip(" "))
            largest = ", ".join(
                f"{ngram.replace(' ', '_')} {100 * share:.0f}"
                for ngram, share in sorted(shares.items(), key=lambda item: -item[1])[:k]
            )
            rows.append((text, name, *by_order, across, 100 * bias, largest))
    columns = (
        "text", "model", *(f"{order}-grams, %" for order in orders), "across words, %", "bias, %",
        "largest, %",
    )  # fmt: skip
    return Table("Shares of a text's n-grams in its vector", columns, tuple(rows))


def _is_of_order(ngram: str, order: int) -> bool:
    return len(ngram) == order


def _orders(embedder: TextEmbedder) -> Sequence[int]:
    return getattr(embedder.vectorizer, "orders", ())


def _percent(shares: Mapping[str, float], chosen: Callable[[str], bool]) -> float:
    return 100 * sum(share for ngram, share in shares.items() if chosen(ngram))

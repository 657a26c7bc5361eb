"""Sample texts for each kind of model, and signature inputs made from texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from tf_charagram.data.starter import starter_file, train_pairs
from tf_charagram.models.locations import model_class
from tf_charagram.tasks.pairs.data import read_labelled_pairs
from tf_charagram.tasks.sentiment.data import read_labelled_texts
from tf_charagram.tasks.tagging.data import read_tagged

# Held-out texts come first.
_SPLITS = ("dev", "test", "train")
_NUM_WORDS = 5000
#: Values of each input, by its name.
Inputs = dict[str, list[bytes] | list[int]]


def _texts(reads: str) -> Iterable[str]:
    if reads == "words":
        yield from islice(dict.fromkeys(chain.from_iterable(train_pairs())), _NUM_WORDS)
        return
    for split in _SPLITS:
        if reads == "sentences":
            yield from (" ".join(one.words) for one in read_tagged(starter_file("tagged", split)))
        elif reads == "reviews":
            yield from read_labelled_texts(starter_file("sentiment", split)).texts
        else:
            pairs = read_labelled_pairs(starter_file("inference", split))
            yield from chain.from_iterable(zip(pairs.left, pairs.right, strict=True))


def sample_texts(kind: str) -> list[bytes]:
    """Returns English texts of the starter sets for a kind of model.

    Raises:
        ConfigError: There is no such kind.
    """
    return [text.encode() for text in _texts(model_class(kind).reads)]


def signatures_of(card: Mapping[str, Any]) -> dict[str, list[str]]:
    """Returns the names of the inputs of each signature in a model card."""
    return {name: list(signature["inputs"]) for name, signature in card["signatures"].items()}


def make_inputs(names: Iterable[str], texts: Sequence[bytes], others: Sequence[bytes]) -> Inputs:
    """Makes the inputs of a signature from texts, or from pairs of texts.

    Args:
        names: Names of the inputs.
        texts: The texts, or the left texts of pairs.
        others: The right texts of pairs.

    Example:
        >>> make_inputs(["tokens", "row_lengths"], [b"a cat", b"", b"it"], [])
        {'tokens': [b'a', b'cat', b'it'], 'row_lengths': [2, 0, 1]}
    """
    tokens = [text.split() for text in texts]
    inputs: Inputs = {
        "texts": list(texts),
        "texts_a": list(texts),
        "texts_b": list(others),
        "tokens": list(chain.from_iterable(tokens)),
        "row_lengths": [len(row) for row in tokens],
    }
    return {name: inputs[name] for name in names}


def dtype_of(name: str) -> str:
    """Returns the dtype of an input."""
    return "int64" if name == "row_lengths" else "string"

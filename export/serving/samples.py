"""Sample texts for each kind of model, and signature inputs made from texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from tf_charagram.data.starter import starter_file, train_pairs
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.models.registry import model_class
from tf_charagram.tasks.pairs.data import read_labelled_pairs
from tf_charagram.tasks.sentiment.data import read_labelled_texts
from tf_charagram.tasks.tagging.data import read_tagged

# Held-out texts come first.
_SPLITS = ("dev", "test", "train")
_NUM_WORDS = 5000
#: Values of each input, by its name.
Inputs = dict[str, list[bytes] | list[int]]


def _words() -> Iterable[str]:
    return islice(dict.fromkeys(chain.from_iterable(train_pairs())), _NUM_WORDS)


def _sentences() -> Iterable[str]:
    files = (starter_file("tagged", split) for split in _SPLITS)
    sentences = chain.from_iterable(map(read_tagged, files))
    return (" ".join(sentence.words) for sentence in sentences)


def _reviews() -> Iterable[str]:
    files = (starter_file("sentiment", split) for split in _SPLITS)
    return chain.from_iterable(read_labelled_texts(file).texts for file in files)


def _pairs() -> Iterable[str]:
    sets = (read_labelled_pairs(starter_file("inference", split)) for split in _SPLITS)
    pairs = chain.from_iterable(zip(pairs.left, pairs.right, strict=True) for pairs in sets)
    return chain.from_iterable(pairs)


_SAMPLES: dict[str, Callable[[], Iterable[str]]] = {
    "words": _words, "sentences": _sentences, "reviews": _reviews, "pairs": _pairs,
}  # fmt: skip


def sample_texts(kind: str) -> list[bytes]:
    """Returns English texts of the starter sets for a kind of model.

    Raises:
        ConfigError: There is no such kind, or its `reads` has no sample.
    """
    reads = model_class(kind).reads
    if reads not in _SAMPLES:
        raise ConfigError(unknown_name("sort of texts", reads, _SAMPLES))
    return [text.encode() for text in _SAMPLES[reads]()]


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

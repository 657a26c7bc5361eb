"""What the signatures of a model are asked: real texts, and the inputs made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from tf_charagram.data.starter import starter_file, train_pairs
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.models.registry import model_class
from tf_charagram.tasks.labelled_reader import read_labelled_pairs, read_labelled_texts
from tf_charagram.tasks.tagging.reader import read_tagged
from tf_charagram.text.batches import to_bytes

# Held-out texts come first.
_SPLITS = ("dev", "test", "train")
_NUM_TIMED_WORDS = 5000
#: Values of the input of each name.
Inputs = dict[str, list[bytes] | list[int]]


class Samples(NamedTuple):
    """Texts such as some models read.

    Attributes:
        unit: What they are.
        texts: Returns some; of pairs, the left text before the right one.
        timed_texts: Returns those to measure latency with.
    """

    unit: str
    texts: Callable[[], list[str]]
    timed_texts: Callable[[], list[str]]


def words(number: int) -> list[str]:
    """Returns English words of the starter set; each occurs once."""
    return list(islice(dict.fromkeys(chain.from_iterable(train_pairs())), number))


def _few_words() -> list[str]:
    return ["character", "charachter", "n-grams", "of a word", "a sentence of six words"]


def _sentences() -> list[str]:
    files = (starter_file("tagged", split) for split in _SPLITS)
    sentences = chain.from_iterable(map(read_tagged, files))
    return [" ".join(sentence.words) for sentence in sentences]


def _reviews() -> list[str]:
    files = (starter_file("sentiment", split) for split in _SPLITS)
    return [text for file in files for text in read_labelled_texts(file).texts]


def _pairs() -> list[str]:
    sets = (read_labelled_pairs(starter_file("inference", split)) for split in _SPLITS)
    pairs = chain.from_iterable(zip(pairs.left, pairs.right, strict=True) for pairs in sets)
    return list(chain.from_iterable(pairs))


#: What a class of models says under `reads` -> such texts.
_SAMPLES = {
    "words": Samples("words", _few_words, lambda: words(_NUM_TIMED_WORDS)),
    "sentences": Samples("sentences", _sentences, _sentences),
    "reviews": Samples("sentences", _reviews, _reviews),
    "pairs": Samples("sentences", _pairs, _pairs),
}


def samples_of(kind: str) -> Samples:
    """Returns texts such as a kind of model reads.

    Raises:
        ConfigError: There is no such kind, or there are no such texts.
    """
    reads = model_class(kind).reads
    if reads not in _SAMPLES:
        raise ConfigError(unknown_name("sort of texts", reads, _SAMPLES))
    return _SAMPLES[reads]


def sample_texts(kind: str) -> list[bytes]:
    """Returns texts such as a kind of model reads; errors as for `samples_of`."""
    return [to_bytes(text) for text in samples_of(kind).texts()]


def signatures_of(card: Mapping[str, Any]) -> dict[str, list[str]]:
    """Returns the names of the inputs of each signature that a card names."""
    return {name: list(signature["inputs"]) for name, signature in card["signatures"].items()}


def make_inputs(names: Iterable[str], texts: Sequence[bytes], others: Sequence[bytes]) -> Inputs:
    """Returns what a signature is asked about some texts, or pairs of them.

    Args:
        names: Of its inputs.
        texts: The texts, or the left ones.
        others: As many; the right ones of pairs.

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
    """Returns the type of the values of an input."""
    return "int64" if name == "row_lengths" else "string"

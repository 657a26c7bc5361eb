"""What the signatures of a model are asked: real texts, and the inputs made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from tf_charagram.data.starter import supervised
from tf_charagram.data.starter.tagged import tagged_sentences
from tf_charagram.serialization.model_folder import EMBEDDER
from tf_charagram.text.batches import to_bytes

# Those that were not trained on come first.
_SPLITS = ("dev", "test", "train")
#: Values of the input of each name.
Inputs = dict[str, list[bytes] | list[int]]


def sample_texts(kind: str) -> list[bytes]:
    """Returns texts such as a kind of model reads; of pairs, one after the other."""
    if kind == EMBEDDER:
        texts = ["character", "charachter", "n-grams", "of a word", "a sentence of six words"]
    elif kind == "tagger":
        sentences = chain.from_iterable(map(tagged_sentences, _SPLITS))
        texts = [" ".join(sentence.words) for sentence in sentences]
    elif kind == "text_classifier":
        texts = [text for split in _SPLITS for text in supervised.sentiment(split).texts]
    else:
        sets = map(supervised.relatedness, _SPLITS)
        texts = [text for one in sets for pair in zip(one.left, one.right, strict=True)
                 for text in pair]  # fmt: skip
    return [to_bytes(text) for text in texts]


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

"""Vocabularies in Keras archives, read without trusting the file."""

from __future__ import annotations

from base64 import b64encode

import numpy as np
import pytest

from tf_charagram.errors import RunError
from tf_charagram.text.vectorizer import NgramVectorizer

TEXTS = ["A cat", "the dog", "caf\u00e9 au lait"]


def packed(array):
    return [array.dtype.str, b64encode(array.tobytes()).decode()]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (["|O", "AAAAAAAAAAA="], r"it holds \|O, expected integers"),
        (packed(np.zeros(3)), "it holds <f8, expected integers"),
        (["<i8", "AAAA"], "buffer size must be a multiple"),
        (["<i8", "\u00e9"], "ASCII"),
        ([1, 2, 3], "positional argument"),
        (packed(np.arange(3)), "as many counts as keys"),
    ],
)
def test_damaged_vocabularies(keys, message):
    config = NgramVectorizer.from_texts(TEXTS).get_config()
    config["vocabulary_arrays"]["keys"] = keys
    with pytest.raises(RunError, match=rf"The vocabulary of .* is damaged: .*{message}"):
        NgramVectorizer.from_config(config)

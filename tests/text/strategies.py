"""Texts that are hard to handle, for the property tests, and their ids."""

from __future__ import annotations

import functools
from itertools import pairwise

import tensorflow as tf
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tf_charagram.models.text_reader import text_parts
from tf_charagram.text._algorithm.batches import to_bytes
from tf_charagram.text.vectorizer import NgramVectorizer

property_settings = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
# For what builds a vocabulary in every example: a few by default, more in the long form.
slow_property_settings = settings(
    property_settings,
    max_examples=20 if settings.get_current_profile_name() == "long" else 5,
)

# Case pairs, one- and many-byte characters, emoji with a joiner, right to left, combining marks,
# NUL, several kinds of white space, what only `str.isspace` calls space, U+0130, U+FFFD.
TRICKY = (
    "aAbB.\u0130\u0131\u03a3\u03c3\u00c9\u1e9e\u00df\x00\x1c \t\n\u0085\u00a0\u2028\u3000\u200b"
    "\u05d0\u0627\u202e\u4e2d\u0301\ufffd\uffff\U0001f600\u200d\U00010400\U0001e900\U0010ffff"
)
# With the space, one character more than exact keys of order 8 hold, so that keys are mixed.
CJK_126 = "".join(map(chr, range(0x4E00, 0x4E00 + 126)))

any_text = st.text(max_size=25) | st.text(TRICKY, max_size=25) | st.text("aAb ", max_size=25)
text_lists = st.lists(any_text, max_size=7)
raw_lists = st.lists(any_text | st.binary(max_size=20), max_size=7)
order_sets = st.sets(st.integers(1, 8), min_size=1)
max_chars_or_none = st.none() | st.integers(1, 9)


def encoded(raws):
    """Returns texts as a string tensor."""
    return tf.constant([to_bytes(raw) for raw in raws], tf.string)


def ids_of(vectorizer, raws):
    """Returns the ids of each text, which are the same in TensorFlow and in NumPy."""
    ids = vectorizer(encoded(raws)).to_list()
    if isinstance(vectorizer, NgramVectorizer):
        symbols, ngram_ids = in_numpy(vectorizer)
        values, splits = ngram_ids(symbols(raws))
        assert [values[a:b].tolist() for a, b in pairwise(splits)] == ids
    return ids


@functools.lru_cache(maxsize=1)
def in_numpy(vectorizer):
    """Returns the reader and the finder of ids of an `NgramVectorizer`, in NumPy."""
    return text_parts(vectorizer.settings(), vectorizer.state(), vectorizer.dictionary)

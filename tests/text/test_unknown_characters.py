"""Rows of characters that the alphabet lacks, and the share of those that it has."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from hypothesis import example, given
from hypothesis import strategies as st

from tests.reference import text as reference
from tests.reference.word_filter import splitmix64
from tests.text.strategies import encoded, ids_of, max_chars_or_none, property_settings, raw_lists
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary

VOCABULARY = NgramVocabulary.from_texts(["abab \u00e9!"], orders=[1, 2, 3])
ALPHABET = set("ab\u00e9!")
NUM_ROWS = 50


def vectorizer_of(**options):
    return NgramVectorizer(**{"vocabulary": VOCABULARY, "unknown_rows": NUM_ROWS, **options})


def unknown_ngrams(text):
    places = [place for place, char in enumerate(text) if char not in ALPHABET | {" "}]
    return [text[place : place + length] for place in places for length in (1, 2)]


def rows_of(ngram):
    """Two hash functions of the code points, as signed numbers."""
    first, *others = map(ord, ngram)
    key = first + (2**22 * (others[0] + 1) if others else 0)
    seeds = (0, 0xD1342543DE82EF95)
    signed = [(splitmix64(key ^ seed) ^ 2**63) - 2**63 for seed in seeds]
    return tuple(len(VOCABULARY) + value % NUM_ROWS for value in signed)


@property_settings
@given(raw_lists, max_chars_or_none, st.booleans(), st.booleans())
@example(["\u0414\u0434", "", "\u0434 a", b"\xff"], 2, True, False)
def test_equals_reference(raws, max_chars, lowercase, longest_only):
    options = {"lowercase": lowercase, "max_chars": max_chars, "longest_only": longest_only}
    known = ids_of(vectorizer_of(unknown_rows=0, **options), raws)
    texts = [reference.normalize(raw, lower=lowercase, max_chars=max_chars) for raw in raws]
    unknown = [[row for ngram in unknown_ngrams(text) for row in rows_of(ngram)] for text in texts]
    expected = [ids + more for ids, more in zip(known, unknown, strict=True)]
    assert ids_of(vectorizer_of(**options), raws) == expected


@property_settings
@given(raw_lists, max_chars_or_none, st.sampled_from([0, NUM_ROWS]))
def test_known_share(raws, max_chars, unknown_rows):
    expected = []
    for raw in raws:
        chars = reference.normalize(raw, max_chars=max_chars).replace(" ", "")
        expected.append(np.mean([char in ALPHABET for char in chars]) if chars else 1)
    vectorizer = vectorizer_of(max_chars=max_chars, unknown_rows=unknown_rows)
    found = vectorizer.known_share(encoded(raws))
    assert found.dtype == tf.float32
    np.testing.assert_allclose(found, np.float32(expected), rtol=1e-6)


def test_known_share_without_an_alphabet():
    hashing = NgramVectorizer(hash_buckets=9)
    assert hashing.known_share(tf.constant(["\u65e5 a", ""])).numpy().tolist() == [1, 1]


def test_ngrams():
    names = ["\u65e5", "\u65e5b", "\u6771", "\u6771 "]
    ngrams = vectorizer_of().ngrams("ab\u65e5B \u6771")
    assert [name for name, _ in ngrams[-4:]] == names
    assert ngrams[-4:] == [(name, rows_of(name)) for name in names]
    assert ngrams[:-4] == vectorizer_of(unknown_rows=0).ngrams("ab\u65e5B \u6771")


def test_words_with_unknown_characters_are_not_corrected():
    dictionary = Dictionary({"abab": 5})
    vectorizer = vectorizer_of(dictionary=dictionary)
    texts = ["abba\u65e5", "abba abab\U0001f600\u65e5", "\u65e5abba"]
    assert vectorizer.read_as(texts) == ["abba\u65e5", "abab abab\U0001f600\u65e5", "\u65e5abba"]
    for text, read in zip(texts, vectorizer.read_as(texts), strict=True):
        assert vectorizer.ngrams(text) == vectorizer.as_written().ngrams(read)


def test_grown():
    """The rows move behind the new n-grams; how texts are read stays."""
    old = vectorizer_of(fold_characters=True)
    grown, rows = old.grown(NgramVectorizer.from_texts(["b\u65e5"], orders=[1, 2, 3]))
    added = len(grown.vocabulary) - len(VOCABULARY)
    assert rows.tolist() == [
        *range(len(VOCABULARY)),
        *range(len(VOCABULARY) + added, len(rows) + added),
    ]
    assert (grown.num_rows, grown.fold_characters) == (old.num_rows + added, True)
    [before], [after] = (ids_of(one, ["a\u6771"]) for one in (old, grown))
    assert rows[before].tolist() == after

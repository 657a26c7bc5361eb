"""Vocabularies and vectorizers that grow by new texts: old ids are found again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given

from tests.reference import text as reference
from tests.text.kinds import KINDS
from tests.text.strategies import CJK_126, ids_of, order_sets, slow_property_settings, text_lists
from tests.texts import words
from tests.variants import some_now
from tf_charagram.errors import ConfigError
from tf_charagram.text._algorithm.keys import mixed_keys
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text.characters import CharacterVectorizer
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary
from tf_charagram.text.words import WordVectorizer

# Keys of order 8 hold 125 characters: each half fits, both together do not.
CJK = ["".join(map(chr, range(start, start + 100))) for start in (0x4E00, 0x4E50)]
TEXTS = ["cat", "cats", "hot dog", "caf\u00e9", *words(20)]
NEW_TEXTS = ["a wild cat", "na\u00efve dogs!", "\u4f60\u597d", *words(20, seed=1)]
PROBES = [*TEXTS, *NEW_TEXTS, "", "zebra \u05d0", "hotcats"]


def check_union(old, other, texts, new_texts, orders):
    """The n-grams of both in the order of `old`, then of `other`, with the counts of both."""
    grown, rows = old.grown(other)
    ngrams = [reference.vocabulary(some, orders) for some in (texts, new_texts)]
    expected = dict.fromkeys(ngrams[0] + ngrams[1])
    counts = reference.count_ngrams([*texts, *new_texts], orders)
    assert grown.orders == old.orders
    np.testing.assert_array_equal(rows, np.arange(len(old)), strict=True)
    if grown.alphabet is not None:
        assert grown.ngrams() == list(expected)
        assert grown.counts.tolist() == [counts[ngram] for ngram in expected]
    else:
        codes = [np.array([[*map(ord, ngram)]], np.int32) for ngram in expected]
        keys = [mixed_keys(row).item() for row in codes]
        found = dict(zip(grown.keys.tolist(), grown.counts.tolist(), strict=True))
        assert found == dict(zip(keys, (counts[ngram] for ngram in expected), strict=True))
    return grown


@slow_property_settings
@given(text_lists, text_lists, order_sets)
def test_grown_is_the_union(texts, new_texts, orders):
    vocabularies = []
    for some in (texts, new_texts):
        assume(reference.vocabulary(some, orders))
        vocabularies.append(NgramVocabulary.from_texts(some, orders=orders))
    grown = check_union(*vocabularies, texts, new_texts, orders)
    again, rows = grown.grown(vocabularies[1])
    np.testing.assert_array_equal(again.keys, grown.keys)
    np.testing.assert_array_equal(rows, np.arange(len(grown)))


@pytest.mark.parametrize(
    ("texts", "new_texts"),
    [(CJK[:1], CJK[1:]), ([CJK_126], TEXTS), (TEXTS, [CJK_126]), ([CJK_126, "a"], [CJK_126, "b"])],
    ids=["overflow", "old", "other", "both"],
)
def test_mixed_keys(texts, new_texts, caplog):
    orders = (1, 2, 8)
    one, other = (NgramVocabulary.from_texts(some, orders=orders) for some in (texts, new_texts))
    caplog.clear()
    grown = check_union(one, other, texts, new_texts, orders)
    assert grown.alphabet is None and grown.bits is None
    messages = [record.getMessage() for record in caplog.records]
    overflow = one.alphabet is not None and other.alphabet is not None
    assert len(messages) == overflow
    if overflow:
        assert "have 180 characters; exact keys of order 8 hold 125. Using 64-bit" in messages[0]


def test_characters_that_just_fit_stay_exact():
    one = NgramVocabulary.from_texts([CJK_126[:100]], orders=[8])
    for end, is_exact in ((125, True), (126, False)):
        other = NgramVocabulary.from_texts([CJK_126[50:end]], orders=[8])
        assert (one.grown(other)[0].alphabet is not None) == is_exact


def test_equal_mixed_keys_are_one_row():
    one, other = (
        NgramVocabulary([8], None, np.array(keys), np.ones(len(keys)))
        for keys in ([5, 5, 7], [9, 7, 5, 1])
    )
    grown, rows = one.grown(other)
    assert grown.keys.tolist() == [5, 7, 9, 1] and grown.counts.tolist() == [3, 2, 1, 1]
    assert rows.tolist() == [0, 0, 1]


def of_kind(kind, texts):
    if kind == "overflow":
        texts = [*texts, CJK[texts is NEW_TEXTS]]
        return NgramVectorizer.from_texts(texts, orders=(2, 8))
    return KINDS[kind](texts)


#: Id of unknown units; unknown n-grams have no id.
UNKNOWN = {"characters": 2, "words": 0}


@pytest.mark.parametrize(
    "kind",
    some_now(["exact", "mixed", "overflow", "characters", "words"], "exact", "overflow", "words"),
)
def test_old_ids_are_found_again(kind):
    old, other = (of_kind(kind, texts) for texts in (TEXTS, NEW_TEXTS))
    grown, rows = old.grown(other)
    assert rows.shape == (old.num_rows,) and rows.dtype == np.int64
    assert grown.num_rows > max(old.num_rows, other.num_rows)
    unknown = UNKNOWN.get(kind)
    of_row = dict(zip(rows.tolist(), range(old.num_rows), strict=True))
    assert len(of_row) == old.num_rows and (unknown is None or of_row[unknown] == unknown)
    found = [[of_row.get(i, unknown) for i in row] for row in ids_of(grown, PROBES)]
    assert [[i for i in row if i is not None] for row in found] == ids_of(old, PROBES)
    for vectorizer, texts in ((old, TEXTS), (other, NEW_TEXTS)):
        before, after = ids_of(vectorizer, texts), ids_of(grown, texts)
        assert all(len(row) >= len(less) for row, less in zip(after, before, strict=True))
        assert not any(unknown in row for row in after)
    restored = type(grown).from_state(grown.settings(), grown.state())
    for again, rows in (restored.grown(old), restored.grown(other)):
        np.testing.assert_array_equal(rows, np.arange(grown.num_rows))
        assert ids_of(again, PROBES) == ids_of(grown, PROBES)


def test_characters_stay_in_code_point_order():
    old, other = (CharacterVectorizer.from_texts([text]) for text in ("bd", "dac"))
    grown, rows = old.grown(other)
    assert "".join(map(chr, grown.alphabet.characters)) == "abcd"
    assert rows.tolist() == [0, 1, 2, 4, 6]


def test_words_are_appended():
    old, other = (WordVectorizer(words=some) for some in (["dog", "cat"], ["ant", "cat", "bee"]))
    grown, rows = old.grown(other)
    assert grown.words == ["dog", "cat", "ant", "bee"]
    assert rows.tolist() == [0, 1, 2]


def test_hashed_ngrams_have_rows_already():
    old = NgramVectorizer(hash_buckets=50, rows_per_ngram=2)
    grown, rows = old.grown(NgramVectorizer(hash_buckets=50, rows_per_ngram=2))
    assert grown is old and rows.tolist() == [*range(50)]
    grown, _ = old.grown(old.with_parts(None, Dictionary({"road": 2})))
    assert grown.dictionary.words == ["road"] and grown.hash_buckets == 50


def test_dictionaries_are_merged():
    vocabulary = NgramVocabulary.from_texts(["a road"])
    plain, one, other = (
        NgramVectorizer(vocabulary=vocabulary, dictionary=counts and Dictionary(counts))
        for counts in (None, {"road": 2}, {"roda": 1})
    )
    for first, second, expected in (
        (plain, one, ["road"]), (one, plain, ["road"]), (one, other, ["road", "roda"]),
    ):  # fmt: skip
        grown, rows = first.grown(second)
        assert grown.dictionary.words == expected
        assert rows.tolist() == [*range(len(vocabulary))]
    assert plain.grown(plain)[0].dictionary is None


@pytest.mark.parametrize(
    ("old", "other", "message"),
    [
        (WordVectorizer(words=["a"]), CharacterVectorizer.from_texts(["a"]),
         r"same settings\. Received: \('WordVectorizer', .* and \('CharacterVectorizer', "),
        (WordVectorizer(words=["a"], max_chars=5), WordVectorizer(words=["a"], max_chars=9),
         "'max_chars': 5.*'max_chars': 9"),
        (NgramVectorizer.from_texts(["cat"], orders=(2, 3)), NgramVectorizer.from_texts(["cat"]),
         r"'orders': \[2, 3\].*'orders': \[2, 3, 4\]"),
    ],
)  # fmt: skip
def test_errors(old, other, message):
    with pytest.raises(ConfigError, match=message):
        old.grown(other)

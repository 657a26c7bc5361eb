"""Vocabularies and vectorizers grown by new texts: all units are there, old ids are found again."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.reference import text as reference
from tests.text.strategies import order_sets, slow_property_settings, text_lists
from tests.texts import words
from tf_charagram.errors import ConfigError
from tf_charagram.text.characters import CharacterVectorizer
from tf_charagram.text.growing import joined
from tf_charagram.text.keys import mixed_keys
from tf_charagram.text.symbols import Alphabet
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary
from tf_charagram.text.words import WordVectorizer

# Keys of order 8 hold 125 characters: each half fits, both together do not.
CJK = ["".join(map(chr, range(start, start + 100))) for start in (0x4E00, 0x4E50)]
CJK_126 = "".join(map(chr, range(0x4E00, 0x4E00 + 126)))
TEXTS = ["cat", "cats", "hot dog", "caf\u00e9", *words(20)]
NEW_TEXTS = ["a wild cat", "na\u00efve dogs!", "\u4f60\u597d", *words(20, seed=1)]
PROBES = [*TEXTS, *NEW_TEXTS, "", "zebra \u05d0", "hotcats"]


def ids(vectorizer, texts):
    return vectorizer(tf.constant([text.encode() for text in texts], tf.string)).to_list()


def mixed(ngrams):
    return [
        int(mixed_keys(np.array([[ord(char) for char in ngram]], np.int32))[0]) for ngram in ngrams
    ]


def check_union(old, other, texts, new_texts, orders):
    """The n-grams of both in the order of `old`, then of `other`, with the counts of both."""
    grown, rows = old.grown(other)
    ngrams = [reference.vocabulary(some, orders) for some in (texts, new_texts)]
    expected = dict.fromkeys(ngrams[0] + ngrams[1])
    counts = reference.count_ngrams([*texts, *new_texts], orders)
    assert grown.orders == old.orders
    assert rows.dtype == np.int64
    np.testing.assert_array_equal(rows, np.arange(len(old)))
    if grown.alphabet is not None:
        assert grown.ngrams() == list(expected)
        assert grown.counts.tolist() == [counts[ngram] for ngram in expected]
    found = dict(zip(grown.keys.tolist(), grown.counts.tolist(), strict=True))
    if grown.alphabet is None:
        assert found == dict(zip(mixed(expected), (counts[n] for n in expected), strict=True))
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
@pytest.mark.parametrize(
    "orders", [pytest.param((8,), marks=pytest.mark.variant), (1, 2, 8)], ids=str
)
def test_mixed_keys(texts, new_texts, orders, caplog):
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
    keys, places = joined(np.array([5, 5, 7]), np.array([9, 7, 5, 1]))
    assert keys.tolist() == [5, 7, 9, 1]
    assert places.tolist() == [0, 0, 1, 2, 1, 0, 3]


def test_different_orders():
    one, other = (NgramVocabulary.from_texts(["cat"], orders=n) for n in ([2, 3], [2, 4]))
    with pytest.raises(ConfigError, match=r"Received: orders \[2, 3\] and \[2, 4\]"):
        one.grown(other)


def test_symbols_of_another_alphabet():
    one = Alphabet(np.array([ord(char) for char in "bca"]))
    other = Alphabet(np.array([ord(char) for char in "xab"]))
    assert one.symbols_of(other).tolist() == [0, 1, 2, 2, 5, 3]
    assert one.symbols_of(Alphabet()).tolist() == [0, 1, 2]
    assert Alphabet().symbols_of(one).tolist() == [0, 1, 2, 2, 2, 2]


VECTORIZERS = {
    "exact": lambda texts: NgramVectorizer.from_texts(texts, orders=(1, 2, 3)),
    "mixed": lambda texts: NgramVectorizer.from_texts([*texts, CJK_126], orders=(2, 8)),
    "overflow": lambda texts: NgramVectorizer.from_texts(
        [*texts, CJK[texts is NEW_TEXTS]], orders=(2, 8)
    ),
    "characters": CharacterVectorizer.from_texts,
    "words": WordVectorizer.from_texts,
}
#: What is not known, by the kind of ids; n-grams that are not known have no id.
UNKNOWN = {"characters": 2, "words": 0}


@pytest.mark.parametrize("kind", VECTORIZERS)
class TestVectorizers:
    def test_old_ids_are_found_again(self, kind):
        old, other = (VECTORIZERS[kind](texts) for texts in (TEXTS, NEW_TEXTS))
        grown, rows = old.grown(other)
        assert rows.shape == (old.num_rows,) and rows.dtype == np.int64
        assert grown.num_rows > max(old.num_rows, other.num_rows)
        unknown = UNKNOWN.get(kind)
        of_row = dict(zip(rows.tolist(), range(old.num_rows), strict=True))
        assert len(of_row) == old.num_rows and (unknown is None or of_row[unknown] == unknown)
        found = [[of_row.get(i, unknown) for i in row] for row in ids(grown, PROBES)]
        found = [[i for i in row if i is not None] for row in found]
        assert found == ids(old, PROBES)

    def test_everything_of_both_is_known(self, kind):
        old, other = (VECTORIZERS[kind](texts) for texts in (TEXTS, NEW_TEXTS))
        grown, _ = old.grown(other)
        for vectorizer, texts in ((old, TEXTS), (other, NEW_TEXTS)):
            lengths = [len(row) for row in ids(vectorizer, texts)]
            rows = ids(grown, texts)
            assert all(len(row) >= n for row, n in zip(rows, lengths, strict=True))
            assert not any(UNKNOWN.get(kind) in row for row in rows)
        assert {i for row in ids(grown, TEXTS + NEW_TEXTS + CJK + [CJK_126]) for i in row} <= {
            *range(grown.num_rows)
        }

    def test_by_itself_nothing_changes(self, kind):
        old = VECTORIZERS[kind](TEXTS)
        grown, rows = old.grown(VECTORIZERS[kind](TEXTS))
        np.testing.assert_array_equal(rows, np.arange(old.num_rows))
        assert grown.settings() == old.settings()
        for name, array in old.state().items():
            if name != "counts":
                np.testing.assert_array_equal(grown.state()[name], array)
        assert ids(grown, PROBES) == ids(old, PROBES)

    def test_is_saved_and_grows_again(self, kind):
        old, other = (VECTORIZERS[kind](texts) for texts in (TEXTS, NEW_TEXTS))
        grown, _ = old.grown(other)
        restored = type(grown).from_state(grown.settings(), grown.state())
        assert ids(restored, PROBES) == ids(grown, PROBES)
        again, rows = restored.grown(old)
        np.testing.assert_array_equal(rows, np.arange(grown.num_rows))
        assert ids(again, PROBES) == ids(grown, PROBES)


@slow_property_settings
@given(text_lists, text_lists, text_lists, st.sampled_from(["exact", "characters", "words"]))
def test_any_texts(texts, new_texts, probes, kind):
    make = VECTORIZERS[kind]
    old, other = (make([*some, "a"]) for some in (texts, new_texts))
    grown, rows = old.grown(other)
    of_row = dict(zip(rows.tolist(), range(old.num_rows), strict=True))
    # A lone surrogate is no text.
    probes = [text.encode("utf-8", "replace").decode() for text in probes]
    for before, after in zip(ids(old, probes), ids(grown, probes), strict=True):
        found = [of_row.get(i, UNKNOWN.get(kind)) for i in after]
        assert [i for i in found if i is not None] == before


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


@pytest.mark.parametrize("texts", [["b b ab ad"], ["b b ab " + CJK_126]], ids=["exact", "mixed"])
def test_ngrams_of_unknown_words_move_behind_the_new_words(texts):
    options = {"min_count": 2, "ngram_orders": (2, 8)}
    old = WordVectorizer.from_texts(texts, **options)
    other = WordVectorizer.from_texts(["x x y y ac"], **options)
    grown, rows = old.grown(other)
    assert grown.words == ["b", "x", "y"]
    ngrams = old.num_rows - 2
    assert rows.tolist() == [0, 1, *range(4, 4 + ngrams)]
    of_row = dict(zip(rows.tolist(), range(old.num_rows), strict=True))
    probes = ["b ab", "bad", "", "\u4e00 abc", *CJK]
    found = [[of_row[i] for i in row if i in of_row] for row in ids(grown, probes)]
    assert found == ids(old, probes)
    assert ids(grown, ["x ac"]) != [[2, 0]] and ids(grown, ["x ac"])[0][:2] == [2, 0]
    # Words alone add no n-grams.
    again, rows = old.grown(WordVectorizer(words=["x"]))
    assert again.num_rows == old.num_rows + 1
    assert rows.tolist() == [0, 1, *range(3, 3 + ngrams)]
    with pytest.raises(ConfigError, match="unknown_words='shared' and unknown_words='ngrams'"):
        WordVectorizer(words=["x"]).grown(old)


def test_hashed_ngrams_have_rows_already():
    old, other = (NgramVectorizer(hash_buckets=50, rows_per_ngram=2) for _ in range(2))
    grown, rows = old.grown(other)
    assert ids(grown, PROBES) == ids(old, PROBES)
    assert rows.tolist() == [*range(50)]


@pytest.mark.parametrize(
    ("old", "other", "message"),
    [
        ({}, {"lowercase": False}, r"Received: lowercase=True and lowercase=False$"),
        ({"unicode_form": "NFC"}, {}, r"Received: unicode_form='NFC' and unicode_form=None$"),
        ({}, {"max_chars": 9}, r"Received: max_chars=\d+ and max_chars=9$"),
        (
            {"max_chars": 5, "lowercase": False},
            {"max_chars": 9},
            r"lowercase=False and lowercase=True; max_chars=5 and max_chars=9$",
        ),
    ],
)
@pytest.mark.parametrize("cls", [NgramVectorizer, CharacterVectorizer, WordVectorizer])
def test_other_settings_are_refused(cls, old, other, message):
    with pytest.raises(ConfigError, match=message):
        cls.from_texts(["cat"], **old).grown(cls.from_texts(["cat"], **other))


def test_other_settings_of_ngrams_are_refused():
    counted = NgramVectorizer.from_texts(["cat"], orders=(2, 3))
    hashed = NgramVectorizer(hash_buckets=50, orders=(2, 3), rows_per_ngram=2)
    with pytest.raises(ConfigError, match=r"orders=\[2, 3\] and orders=\[2\]$"):
        counted.grown(NgramVectorizer.from_texts(["cat"], orders=(2,)))
    message = r"hash_buckets=None and hash_buckets=50; rows_per_ngram=1 and rows_per_ngram=2$"
    with pytest.raises(ConfigError, match=message):
        counted.grown(hashed)
    with pytest.raises(ConfigError, match="hash_buckets=50 and hash_buckets=None"):
        hashed.grown(counted)


def test_another_class_is_refused():
    message = "of its own class only. Received: WordVectorizer and CharacterVectorizer"
    with pytest.raises(ConfigError, match=message):
        WordVectorizer.from_texts(TEXTS).grown(CharacterVectorizer.from_texts(TEXTS))

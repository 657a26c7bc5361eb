"""Unknown words as ids of their n-grams, against the slow reference."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import text as text_reference
from tests.reference import words as reference
from tests.text.strategies import order_sets, raw_lists, slow_property_settings, text_lists
from tests.texts import NASTY
from tf_charagram.errors import ConfigError
from tf_charagram.text.batches import to_bytes
from tf_charagram.text.splitting import split_words
from tf_charagram.text.words import WordVectorizer

TEXTS = ["the cat sat", "the cat ran", "a dog's", "a catfish doesn't \u4f60\u597d"]
# As with `lower=False` alone: words have no white space at their ends.
AS_IT_IS = {"lower": False, "collapse": False, "strip": False}


def split(texts, lowercase=True):
    words = split_words(tf.constant([to_bytes(t) for t in texts], tf.string), lowercase, None, None)
    return [[word.decode() for word in row] for row in words.to_list()]


def ids_of(vectorizer, texts):
    return vectorizer(tf.constant([to_bytes(text) for text in texts], tf.string))


@slow_property_settings
@given(text_lists, raw_lists, order_sets, st.integers(2, 3), st.booleans())
def test_equals_reference(texts, raws, orders, min_count, lowercase):
    texts = [*texts, "a a a rarelyseen"]
    words = [word for row in split(texts, lowercase) for word in row]
    counts = {word: words.count(word) for word in words}
    rare = sorted(word for word, count in counts.items() if count < min_count)
    ngrams = text_reference.vocabulary(rare, orders, **AS_IT_IS)
    vectorizer = WordVectorizer.from_texts(
        texts, min_count=min_count, ngram_orders=tuple(orders), lowercase=lowercase
    )
    assert vectorizer.ngrams.ngrams() == ngrams
    assert vectorizer.num_words == len(counts) - len(rare)
    assert vectorizer.num_rows == 1 + vectorizer.num_words + len(ngrams)
    raws = [*texts, *raws]
    expected = [
        reference.ids_of_words(row, vectorizer.words, ngrams, orders)
        for row in split(raws, lowercase)
    ]
    assert ids_of(vectorizer, raws).to_list() == expected


def test_by_hand():
    """Known: a, the. The n-grams of rare "ab" and "b" are " a", " b", "ab" and "b ", which is first
    as it comes twice; so of "abb" it has " a", "ab" and "b ", and "x" has none.
    """
    vectorizer = WordVectorizer.from_texts(["a the a the ab b"], min_count=2, ngram_orders=(2,))
    assert vectorizer.words == ["a", "the"]
    assert vectorizer.ngrams.ngrams() == ["b ", " a", " b", "ab"]
    assert vectorizer.num_rows == 7
    ids = ids_of(vectorizer, ["the abb a", "", "x"])
    assert ids.to_list() == [[2, 0, 4, 6, 3, 1], [], [0]]
    assert ids.dtype == tf.int32 and ids.row_splits.dtype == tf.int64


def test_words_beyond_max_words_teach_too():
    vectorizer = WordVectorizer.from_texts(["a a b"], max_words=1, ngram_orders=(2,))
    assert vectorizer.words == ["a"] and vectorizer.ngrams.ngrams() == [" b", "b "]


@pytest.mark.parametrize("max_order", [4, 8])
def test_state_round_trip(max_order, tmp_path):
    """Also where n-grams have mixed keys."""
    texts = [*TEXTS, "".join(map(chr, range(0x100, 0x200)))]
    vectorizer = WordVectorizer.from_texts(
        texts, min_count=2, ngram_orders=(2, max_order), max_chars=99
    )
    config = json.loads(json.dumps(vectorizer.settings()))
    np.savez(tmp_path / "words.npz", **vectorizer.state())
    with np.load(tmp_path / "words.npz", allow_pickle=False) as state:
        restored = WordVectorizer.from_state(config, dict(state))
    assert restored.get_config() == vectorizer.get_config()
    assert (restored.words, restored.num_rows) == (vectorizer.words, vectorizer.num_rows)
    raws = [*texts, *NASTY.values()]
    assert ids_of(restored, raws).to_list() == ids_of(vectorizer, raws).to_list()
    assert len(vectorizer.resources) == 2


@pytest.fixture(scope="module")
def vectorizer():
    return WordVectorizer.from_texts(TEXTS, min_count=2, ngram_orders=(2, 3))


@pytest.mark.parametrize("name", NASTY)
def test_nasty_text_leaves_its_neighbours_alone(vectorizer, name):
    ids = ids_of(vectorizer, ["dogs", NASTY[name], "cat"]).to_list()
    assert ids[::2] == ids_of(vectorizer, ["dogs", "cat"]).to_list()
    assert max(ids[1], default=0) < vectorizer.num_rows


def test_runs_in_a_graph():
    vectorizer = WordVectorizer.from_texts(TEXTS, min_count=2, ngram_orders=(2, 3))
    graph = tf.function(vectorizer, input_signature=[tf.TensorSpec([None], tf.string)])
    for batch in ([], [""], ["The cats, the dogs", "", "cat"], ["the cat"]):
        texts = tf.constant(batch, tf.string)
        assert graph(texts).to_list() == vectorizer(texts).to_list()


def test_grown():
    """Words come between, so n-grams move; what the old one knows keeps its rows."""
    old = WordVectorizer.from_texts(TEXTS, min_count=2, ngram_orders=(2, 3))
    new_texts = ["dog dog fish sat", "elk elk"]
    other = WordVectorizer.from_texts(new_texts, min_count=2, ngram_orders=(2, 3))
    grown, rows = old.grown(other)
    assert grown.words == [*old.words, "dog", "elk"]
    ngrams = grown.ngrams.ngrams()
    assert ngrams[: len(old.ngrams)] == old.ngrams.ngrams()
    assert set(ngrams) == {*old.ngrams.ngrams(), *other.ngrams.ngrams()}
    moved = 2 + np.arange(len(old.ngrams)) + 1 + old.num_words
    assert rows.tolist() == [*range(old.num_words + 1), *moved]
    # "sat" has no n-gram that only the new texts have.
    texts = ["the cat sat", "a", ""]
    expected = [[int(rows[i]) for i in row] for row in ids_of(old, texts).to_list()]
    assert ids_of(grown, texts).to_list() == expected


def test_grown_by_words_alone():
    """As the words of pretrained vectors are added."""
    old = WordVectorizer.from_texts(TEXTS, min_count=2, ngram_orders=(2,))
    grown, rows = old.grown(WordVectorizer(**old.settings(), words=["cat", "new"]))
    assert grown.words == [*old.words, "new"]
    assert grown.ngrams.ngrams() == old.ngrams.ngrams()
    assert rows.tolist() == [i + (i > old.num_words) for i in range(old.num_rows)]
    with pytest.raises(ConfigError, match="unknown_words='shared' and unknown_words='ngrams'"):
        WordVectorizer.from_texts(TEXTS).grown(old)


@pytest.mark.parametrize(
    ("texts", "arguments", "message"),
    [
        (["a b a"], {}, "no word of the texts occurs fewer than 1 times. .*--min-count 2"),
        (["a a b b"], {"min_count": 2}, "occurs fewer than 2 times. .*--min-count 3"),
        (["a a b"], {"min_count": 2, "ngram_orders": (0,)}, "integers from 1 to 8. Received: .0."),
        (["a a b"], {"min_count": 2, "ngram_orders": (4,)}, r"no n-gram of orders \[4\]"),
    ],
)
def test_errors(texts, arguments, message):
    with pytest.raises(ConfigError, match=message):
        WordVectorizer.from_texts(texts, **{"ngram_orders": (2,), **arguments})

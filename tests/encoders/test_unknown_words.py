"""Every word encoder where unknown words are the sums of their n-grams."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.contracts import CONTRACTS, exports, ragged, randomized, some_now
from tests.encoders.agreement import check_against_reference, check_export
from tests.reference import words as reference
from tests.texts import NASTY
from tf_charagram.encoders import ENCODERS, encoder_class
from tf_charagram.errors import ConfigError
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.batches import to_bytes
from tf_charagram.text.words import WordVectorizer

# A bag, a window and a sequence of words stand for the others.
NAMES = some_now(
    [name for name in ENCODERS if encoder_class(name).vectorizer == "words"],
    "word_average", "cse", "gran",
)  # fmt: skip
NUM_ROWS, NUM_WORDS = 8, 3
#: Known words, unknown ones with and without n-grams, at the start, at the end, alone.
ROWS = [[1, 2, 0, 4, 6, 6, 3], [0, 7], [], [0, 0, 5, 4, 0], [2, 0, 4], [3]]


def rnn_weights(encoder):
    cell = encoder.rnn.cell
    return {"Wx": cell.kernel, "Wh": cell.recurrent_kernel, "b": cell.bias}


def lstm_weights(encoder):
    cell = encoder.lstm.cell
    return {"Wx": cell.kernel, "Wh": cell.recurrent_kernel, "b": cell.bias, "P": cell.peepholes}


def gran_weights(encoder):
    return lstm_weights(encoder) | {"G": encoder.gate.kernel, "g": encoder.gate.bias}


def cse_weights(encoder):
    one, two = encoder.filters.convolutions
    return {"K1": one.kernel, "b1": one.bias, "K2": two.kernel, "b2": two.bias}


def gran_of_halves(ids, p):
    return reference.gran(True)(ids, p | {"Gx": p["G"][:4], "Gh": p["G"][4:]})


# The settings, the weights besides the table, and the reference.
AGREEMENTS = {
    "word_average": ({}, lambda encoder: {}, reference.word_average),
    "projection": (
        {},
        lambda encoder: {"K1": encoder.dense.kernel, "b1": encoder.dense.bias},
        reference.dense_layers("linear", 1),
    ),
    "dan": (
        {},
        lambda encoder: {"K1": encoder.dense[0].kernel, "b1": encoder.dense[0].bias},
        reference.dense_layers("tanh", 1),
    ),
    "rnn": ({}, rnn_weights, reference.rnn("tanh")),
    "identity_rnn": ({}, rnn_weights, reference.rnn("linear", True)),
    "lstm": ({}, lstm_weights, reference.lstm(True)),
    "cse": ({"widths": (1, 2)}, cse_weights, reference.cse("linear", (1, 2))),
    "gran": ({}, gran_weights, gran_of_halves),
}


def make(name, **arguments):
    arguments = {"num_rows": NUM_ROWS, "dim": 6, "num_words": NUM_WORDS, **arguments}
    return encoder_class(name)(**arguments)


@pytest.mark.parametrize("name", AGREEMENTS)
def test_equals_reference(name):
    """Values and gradients, that of the table naming each row once."""
    settings, weights, encode = AGREEMENTS[name]
    encoder = make(name, dim=4, **settings)
    weights = {"W": encoder.table.table, **weights(encoder)}
    check_against_reference(encoder, weights, reference.of_runs(encode, NUM_WORDS), rows=ROWS)


# `test_export` exports the same encoders, with their vectorizer.
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "check",
    [check for check in CONTRACTS if check is not exports],
    ids=lambda check: check.__name__,
)
def test_contract(name, check, tmp_path):
    """Also for ids that no vectorizer gives, such as an n-gram at the start of a text."""
    check(lambda: make(name), NUM_ROWS, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_without_unknown_words_nothing_changes(name):
    rows = [[1, 2, 3, 3], [], [2]]
    plain = randomized(lambda: make(name, num_words=None))
    encoder = randomized(lambda: make(name))
    assert_allclose(encoder(ragged(rows)), plain(ragged(rows)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_dropout_falls_on_words(name):
    """With the same draw, a word of two ids whose rows sum to those of another gives the same."""
    embedded = []
    for row in ([1], [0, 4]):
        encoder = randomized(lambda: make(name, word_dropout=0.5, seed=3))
        table = encoder.word_table.numpy()
        table[1] = table[0] + table[4]
        encoder.word_table.assign(table)
        embedded.append(encoder(ragged([row]), training=True))
    assert_allclose(*embedded, rtol=1e-5, atol=1e-6)


@pytest.fixture(scope="module")
def vectorizer():
    texts = ["the cat sat", "the cat ran", "a dog", "a catfish doesn't \u4f60\u597d"]
    return WordVectorizer.from_texts(texts, min_count=2, ngram_orders=(2, 3))


def for_vectorizer(name, vectorizer):
    return make(name, num_rows=vectorizer.num_rows, num_words=vectorizer.num_words)


@pytest.mark.parametrize("name", some_now(AGREEMENTS, "word_average"))
def test_saved_and_loaded(name, vectorizer, tmp_path):
    embedder = TextEmbedder(vectorizer, randomized(lambda: for_vectorizer(name, vectorizer)))
    embedder.save(tmp_path)
    texts = ["the cats", "doggerel", "\u597d", "", *NASTY.values()]
    vectors = embedder.encode(texts)
    assert np.isfinite(vectors).all()
    assert_array_equal(TextEmbedder.load(tmp_path).encode(texts), vectors)
    alone = np.concatenate([embedder.encode([text]) for text in texts])
    assert_allclose(alone, vectors, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", some_now(AGREEMENTS, "word_average"))
def test_export(name, vectorizer, tmp_path):
    check_export(lambda _: for_vectorizer(name, vectorizer), tmp_path, vectorizer)


def test_words_that_share_ngrams_are_alike(vectorizer):
    embedder = TextEmbedder(
        vectorizer, randomized(lambda: for_vectorizer("word_average", vectorizer))
    )
    like, unlike = embedder.similarity(["catfishes", "catfishes"], ["xcatfish", "doesnt"])
    assert like > unlike


def test_ten_thousand_words():
    """The mean of as many words, all unknown, each its own sum."""
    texts = [f"word{number}" for number in range(10_000)]
    vectorizer = WordVectorizer.from_texts(
        ["a a", "word", *texts[::7]], min_count=2, ngram_orders=(2, 3, 4), max_chars=None
    )
    encoder = randomized(lambda: for_vectorizer("word_average", vectorizer))
    each = encoder(vectorizer(tf.constant([to_bytes(text) for text in texts])))
    whole = encoder(vectorizer(tf.constant([" ".join(texts)])))
    assert_allclose(whole[0], np.mean(each, axis=0), rtol=2e-3, atol=1e-3)


@pytest.mark.parametrize("num_words", [0, 8, -1])
def test_errors(num_words):
    message = rf"`num_words` must be in \[1, num_rows\) or None. Received: num_words={num_words}"
    with pytest.raises(ConfigError, match=message):
        make("word_average", num_words=num_words)

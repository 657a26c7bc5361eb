"""Two-stage training: known rows keep their bits, and new ones are added."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import tensorflow as tf

from tests.contracts import randomized
from tests.texts import NASTY, words
from tests.variants import some_now
from tf_charagram.encoders import ENCODERS, encoder_class
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.encoders.words import WordEncoder
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text import vectorizer_class
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.training._loop.building import _transfer, grow_from

DIM = 6
# Defaults that only take time here.
SMALLER = {"char_cnn": {"input_dim": 5}, "char_lstm": {"input_dim": 5}}
OLD = ["the cat", "a hot dog", "cats and dogs", *words(20)]
# Each of the first three has n-grams, words and characters that are not in `OLD`.
NEW = ["the q\u00fcant", "a cat, zzz", "!? 7", *words(20, seed=1)]
OTHERS = ["", "\u4f60\u597d", *(NASTY[name] for name in ("broken", "emoji", "nul", "combining"))]


def vectorizer_of(name, texts, **options):
    return vectorizer_class(encoder_class(name).vectorizer).from_texts(texts, **options)


def maker(name, seed=0, **options):
    options = {"dim": DIM, "seed": seed, **SMALLER.get(name, {}), **options}
    return lambda vectorizer: encoder_class(name)(num_rows=vectorizer.num_rows, **options)


def first_stage(name, folder, **options):
    """Returns a model trained, as it were, on `OLD`."""
    vectorizer = vectorizer_of(name, OLD)
    embedder = TextEmbedder(vectorizer, randomized(lambda: maker(name, **options)(vectorizer)))
    embedder.save(folder)
    return embedder


def table_of(encoder):
    """Returns the path and the values of the one weight whose name is `table`."""
    (table,) = (weight for weight in encoder.weights if weight.name == "table")
    return table.path, table.numpy()


@pytest.fixture(scope="module")
def stages(tmp_path_factory):
    """Returns a function that gives a model on `OLD`, its folder, and the same grown by `NEW`."""

    @functools.cache
    def stages_of(name):
        folder = tmp_path_factory.mktemp("stages")
        old = first_stage(name, folder)
        grown = grow_from(folder, vectorizer_of(name, NEW), maker(name, seed=3))
        return old, folder, TextEmbedder(*grown)

    return stages_of


@pytest.mark.parametrize("name", some_now(ENCODERS, "charagram"))
class TestEveryEncoder:
    def test_the_same_texts_change_nothing(self, name, stages):
        old, folder, _ = stages(name)
        grown = TextEmbedder(*grow_from(folder, vectorizer_of(name, OLD), maker(name, seed=3)))
        texts = [*OLD, *NEW, *OTHERS]
        np.testing.assert_array_equal(grown.encode(texts), old.encode(texts))

    def test_known_texts_stay_as_they_are(self, name, stages):
        old, _, grown = stages(name)
        assert grown.vectorizer.num_rows > old.vectorizer.num_rows
        np.testing.assert_array_equal(grown.encode(OLD), old.encode(OLD))
        # New units of a text change it.
        assert (grown.encode(NEW[:3]) != old.encode(NEW[:3])).any(axis=1).all()
        # Units that neither stage knows.
        unknown = ["\u05d0", "\u4f60 \u597d"]
        np.testing.assert_array_equal(grown.encode(unknown), old.encode(unknown))

    def test_every_weight_goes_where_it_belongs(self, name, stages):
        old, _, second = stages(name)
        _, rows = old.vectorizer.grown(vectorizer_of(name, NEW))
        grown, encoder = second.vectorizer, second.encoder
        path, expected = table_of(maker(name, seed=3)(grown))  # as the encoder begins
        assert len(expected) == grown.num_rows == encoder.num_rows
        expected[rows] = table_of(old.encoder)[1]
        fresh = np.setdiff1d(np.arange(grown.num_rows), rows)
        if isinstance(grown, NgramVectorizer):
            expected[fresh] *= np.float32(0.1)  # most texts have new n-grams beside known ones
        assert len(fresh) and np.all(np.any(expected[fresh], axis=1))
        weights = {weight.path: weight.numpy() for weight in old.encoder.weights}
        for weight in encoder.weights:
            is_table = weight.path == path
            np.testing.assert_array_equal(weight, expected if is_table else weights[weight.path])

    def test_is_saved_and_grows_again(self, name, stages, tmp_path):
        second = stages(name)[2]
        second.save(tmp_path)
        options = vectorizer_of(name, NEW), maker(name, seed=3)
        third = TextEmbedder(*grow_from(tmp_path, *options))
        texts = [*OLD, *NEW, *OTHERS]
        np.testing.assert_array_equal(third.encode(texts), second.encode(texts))


@pytest.mark.parametrize("seed", some_now(range(3), 0))
@pytest.mark.parametrize("num_layers", some_now([1, 2], 2))
def test_texts_without_a_new_ngram_stay_as_they_are(seed, num_layers, tmp_path):
    old = first_stage("charagram", tmp_path, num_layers=num_layers)
    new = vectorizer_of("charagram", words(3, seed=100 + seed))
    grown = TextEmbedder(*grow_from(tmp_path, new, maker("charagram", num_layers=num_layers)))
    texts = words(300, seed=7)
    lengths = [e.vectorizer(tf.constant(texts)).row_lengths() for e in (old, grown)]
    stays = np.equal(*lengths)
    assert 0 < stays.sum() < len(texts)
    equal = (grown.encode(texts) == old.encode(texts)).all(axis=1)
    np.testing.assert_array_equal(equal, stays)


@pytest.mark.parametrize(
    "name",
    some_now(
        [name for name in ENCODERS if issubclass(encoder_class(name), WordEncoder)],
        "dan",
    ),
)  # fmt: skip
def test_an_unknown_word_becomes_known(name, tmp_path):
    old = first_stage(name, tmp_path)
    grown = TextEmbedder(*grow_from(tmp_path, vectorizer_of(name, ["ant"]), maker(name)))
    texts = tf.constant(["ant", "bee"])
    assert old.vectorizer(texts).to_list() == [[0], [0]]
    assert grown.vectorizer(texts).to_list() == [[old.vectorizer.num_rows], [0]]
    assert (grown.encode(["the ant"]) != old.encode(["the ant"])).any()
    np.testing.assert_array_equal(grown.encode(["the bee", *OLD]), old.encode(["the bee", *OLD]))


def test_hashed_ngrams(tmp_path):
    options = {"orders": (2, 3), "hash_buckets": 64, "rows_per_ngram": 2}
    old = TextEmbedder(
        NgramVectorizer(**options), randomized(lambda: Charagram(num_rows=64, dim=DIM))
    )
    old.save(tmp_path)
    grown = TextEmbedder(
        *grow_from(tmp_path, NgramVectorizer(**options), maker("charagram", seed=3))
    )
    np.testing.assert_array_equal(grown.encode(OLD + NEW), old.encode(OLD + NEW))


def test_what_training_alone_sees_may_differ(tmp_path):
    for name, option in (("char_cnn", "dropout"), ("dan", "dropout")):
        first_stage(name, tmp_path / name, **{option: 0.5})
        make = maker(name, **{option: 0.1})
        _, encoder = grow_from(tmp_path / name, vectorizer_of(name, NEW), make)
        assert getattr(encoder, option) == 0.1


def test_frozen_word_vectors_are_transferred_too(tmp_path):
    old = first_stage("dan", tmp_path)

    def make(vectorizer):
        encoder = maker("dan")(vectorizer)
        encoder.table.trainable = False
        return encoder

    grown = TextEmbedder(*grow_from(tmp_path, vectorizer_of("dan", NEW), make))
    assert not grown.encoder.table.trainable
    np.testing.assert_array_equal(grown.encode(OLD), old.encode(OLD))


def test_a_square_weight_is_no_table():
    """Even where the table has as many rows as the dense layer."""
    old, new = (
        randomized(lambda: encoder_class("projection")(num_rows=4, dim=4), seed) for seed in (1, 2)
    )
    _transfer(old, new, np.array([1, 0, 3, 2]))
    np.testing.assert_array_equal(new.dense.kernel, old.dense.kernel)
    np.testing.assert_array_equal(table_of(new)[1], table_of(old)[1][[1, 0, 3, 2]])

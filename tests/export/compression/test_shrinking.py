"""Smaller models give nearly the vectors of the original model, or exactly the expected ones."""

import functools
import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.c_runtime import CRuntime
from tests.texts import NASTY, words
from tests.variants import some_now
from tf_charagram.encoders.averaging import Dan, Projection, WordAverage
from tf_charagram.encoders.characters import CharLstm
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.encoders.recurrent import Lstm
from tf_charagram.errors import ConfigError
from tf_charagram.export._compression import shrinking
from tf_charagram.export._compression.options import ShrinkOptions
from tf_charagram.export._compression.quantization import QuantizedEncoder, _QuantizedSum
from tf_charagram.export._compression.shrinking import shrink
from tf_charagram.models._answers.vectors import unit_rows
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text._algorithm.batches import to_bytes
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text.characters import CharacterVectorizer
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary
from tf_charagram.text.words import WordVectorizer

DIM = 12
WORDS = words(60)
TEXTS = [*WORDS, "a sentence of words", "unknown", *NASTY.values()]
SHORT = [to_bytes(text) for text in TEXTS if len(text) < 100]


def make(vectorizer, encoder_class, **settings):
    """Returns an embedder with weights that are not those it starts from, among them a bias."""
    encoder = encoder_class(num_rows=vectorizer.num_rows, dim=DIM, **settings)
    draw = np.random.default_rng(0)
    encoder.set_weights([draw.normal(0, 0.3, w.shape).astype(np.float32) for w in encoder.weights])
    return TextEmbedder(vectorizer, encoder)


def smaller(embedder, **options):
    return TextEmbedder(*shrink(embedder.vectorizer, embedder.encoder, ShrinkOptions(**options)))


@pytest.fixture(scope="module")
def ngrams():
    return NgramVectorizer.from_texts(TEXTS[:-3])


@pytest.fixture(scope="module")
def linear(ngrams):
    return make(ngrams, Charagram)


def weighted(texts):
    """Returns a vectorizer of n-grams that reads misspelled words, and counts some words more."""
    counts = dict.fromkeys(texts[::2], 9)
    dictionary = Dictionary(counts).with_weights({texts[0]: 3.0, texts[2]: 0.25}, 1.5)
    vocabulary = NgramVocabulary.from_texts(texts)
    return NgramVectorizer(vocabulary=vocabulary, dictionary=dictionary)


MODELS = {
    "linear": (NgramVectorizer.from_texts, Charagram, {}),
    "tanh": (NgramVectorizer.from_texts, Charagram, {"activation": "tanh"}),
    "two layers": (NgramVectorizer.from_texts, Charagram, {"activation": "relu", "num_layers": 2}),
    "hashed": (lambda texts: NgramVectorizer(hash_buckets=90, rows_per_ngram=2), Charagram, {}),
    "weighted": (weighted, Charagram, {}),
    "word_average": (WordVectorizer.from_texts, WordAverage, {}),
    "projection": (WordVectorizer.from_texts, Projection, {}),
    "dan": (WordVectorizer.from_texts, Dan, {"num_layers": 2}),
}  # fmt: skip


@functools.cache
def plain_of(name):
    """Returns one of the models, and its vectors of short texts."""
    make_vectorizer, encoder_class, settings = MODELS[name]
    plain = make(make_vectorizer(WORDS), encoder_class, **settings)
    return plain, plain.encode(SHORT)


@pytest.mark.parametrize(
    ("name", "table_dtype"),
    some_now(
        [*itertools.product(MODELS, ["float16", "int8"])],
        ("linear", "int8"), ("two layers", "float16"), ("word_average", "int8"),
        ("weighted", "int8"),
    ),
)  # fmt: skip
def test_quantized_vectors_are_nearly_the_same(name, table_dtype):
    plain, expected = plain_of(name)
    quantized = smaller(plain, dtype=table_dtype)
    assert isinstance(quantized.encoder, QuantizedEncoder)
    found = quantized.encode(SHORT)
    largest = {"float16": 1e-3, "int8": 2e-2}[table_dtype]
    difference = np.linalg.norm(found - expected) / np.linalg.norm(expected)
    assert 0 < difference < largest
    # Alone and in a batch, and also where there is nothing to embed.
    assert_allclose(quantized.encode(SHORT[:1])[0], found[0], rtol=1e-4, atol=1e-5)
    assert np.isfinite(quantized.encode(TEXTS)).all()
    assert quantized.encode([]).shape == (0, DIM)
    assert quantized.encode([""]).shape == (1, DIM)


def test_sums_of_quantized_rows():
    table = np.array([[1.27, -0.5], [0.0, 0.0], [25.4, 0.2]], np.float32)
    ids = tf.ragged.constant([[0, 2, 0], [], [1], [2]], dtype=tf.int32)
    # Scales 0.01 and 0.2: 1.27 = 127 x 0.01, -0.5 = -50 x 0.01, 25.4 = 127 x 0.2, 0.2 = 1 x 0.2.
    sums = [[27.94, -0.8], [0, 0], [0, 0], [25.4, 0.2]]
    layer = _QuantizedSum(table, "int8")
    assert layer.rows.numpy().dtype == np.int8
    assert_allclose(layer(ids), sums, rtol=1e-5, atol=1e-6)
    assert_allclose(_QuantizedSum(table, "float16")(ids), sums, rtol=1e-3)
    assert layer(ids[:0]).shape == (0, 2)


def test_a_quantized_model_computes_in_float32(linear):
    """Whatever the types are that other layers compute in."""
    expected = smaller(linear, dtype="int8").encode(SHORT)
    keras.config.set_dtype_policy("mixed_float16")
    try:
        quantized = smaller(linear, dtype="int8")
    finally:
        keras.config.set_dtype_policy("float32")
    np.testing.assert_array_equal(quantized.encode(SHORT), expected)


def test_by_default_it_is_folded_only(linear):
    same = smaller(linear)
    assert same.vectorizer.longest_only and type(same.encoder) is Charagram
    assert_allclose(same.encode(SHORT), linear.encode(SHORT), rtol=1e-4, atol=1e-5)


class TestMaxNgrams:
    def test_count_and_norm_decide(self):
        whole = NgramVectorizer.from_texts(["abcd"], orders=(2,)).vocabulary
        counts = np.array([9, 4, 1, 5, 1])
        vocabulary = NgramVocabulary(whole.orders, whole.alphabet, whole.keys, counts)
        plain = make(NgramVectorizer(orders=(2,), vocabulary=vocabulary), Charagram)
        norms = np.array([0.15, 1.0, 10.0, 1.0, 0.2])  # Products 1.35, 4, 10, 5, 0.2.
        plain.encoder.ngram_table.assign(norms[:, np.newaxis] * np.eye(5, DIM))
        kept = smaller(plain, max_ngrams=3)
        ngrams = vocabulary.ngrams()
        assert kept.vectorizer.vocabulary.ngrams() == [ngrams[3], ngrams[1], ngrams[2]]
        assert kept.vectorizer.vocabulary.counts.tolist() == [5, 4, 1]

    def test_vectors_are_sums_of_what_is_left(self, linear):
        kept = smaller(linear, max_ngrams=50)
        left = set(kept.vectorizer.vocabulary.ngrams())
        assert len(left) == kept.encoder.num_rows == 50
        table, bias = linear.encoder.ngram_table.numpy(), linear.encoder.bias.numpy()
        for text, vector in zip(WORDS, kept.encode(WORDS), strict=True):
            found = linear.vectorizer.ngrams(text)
            rows = [row for ngram, (row,) in found if ngram in left]
            assert len(rows) < len(found)
            assert_allclose(vector, bias + table[rows].sum(axis=0), rtol=1e-4, atol=1e-5)

    def test_more_than_there_are(self, linear):
        assert smaller(linear, max_ngrams=10**9).encoder.num_rows == linear.encoder.num_rows

    def test_without_a_vocabulary(self, linear):
        hashed = make(NgramVectorizer(hash_buckets=9), Charagram)
        of_words = make(WordVectorizer.from_texts(WORDS), WordAverage)
        for model in (hashed, of_words, linear.folded()):
            with pytest.raises(ConfigError, match="`max_ngrams` needs a vocabulary of n-grams"):
                smaller(model, max_ngrams=5)


class TestDim:
    @pytest.mark.parametrize("name", ["linear", "hashed", "word_average"])
    def test_cosines_are_those_of_the_projections(self, name):
        plain, vectors = plain_of(name)
        table = next(w.numpy() for w in plain.encoder.weights if w.numpy().ndim == 2)
        directions = np.linalg.svd(table, full_matrices=False)[2][:5]
        projections = unit_rows(vectors @ directions.T)
        narrow = smaller(plain, dim=5)
        assert narrow.dim == 5
        vectors = narrow.encode(SHORT, normalize=True)
        assert_allclose(vectors @ vectors.T, projections @ projections.T, atol=1e-4)

    def test_all_directions_keep_the_model(self, linear):
        assert_allclose(
            smaller(linear, dim=DIM).encode(SHORT), linear.encode(SHORT), rtol=1e-4, atol=1e-5
        )

    @pytest.mark.parametrize("name", ["tanh", "two layers", "projection", "dan"])
    def test_not_linear_in_the_table(self, name):
        plain, _ = plain_of(name)
        with pytest.raises(
            ConfigError, match=r"`dim` needs an embedding that is linear in its table"
        ):
            smaller(plain, dim=5)

    def test_wider_than_the_model(self, linear):
        with pytest.raises(ConfigError, match=r"`dim` must be at most .* 12. Received: dim=13"):
            smaller(linear, dim=13)


@pytest.mark.parametrize(
    "table_dtype", ["int8", pytest.param("float16", marks=pytest.mark.variant)]
)
def test_all_at_once_served_by_the_c_library(linear, tmp_path, table_dtype):
    small = smaller(linear, dtype=table_dtype, max_ngrams=200, dim=7)
    small.export(tmp_path / "1")
    runtime = CRuntime(tmp_path / "1")
    found = runtime("serving_default", texts=SHORT)["embedding"]
    assert_allclose(found, small.encode(SHORT), rtol=1e-4, atol=1e-5)
    for texts in ([], [b""]):
        found = runtime("serving_default", texts=texts)["embedding"]
        assert found.shape == (len(texts), 7)


def test_the_model_itself_stays(linear):
    weights, expected = linear.encoder.get_weights(), linear.encode(SHORT)
    smaller(linear, dtype="int8", max_ngrams=50, dim=3)
    for weight, before in zip(linear.encoder.weights, weights, strict=True):
        assert_array_equal(weight.numpy(), before)
    assert_array_equal(linear.encode(SHORT), expected)


def test_the_card_says_what_was_quantized(linear):
    config = smaller(linear, dtype="int8").encoder.get_config()
    assert config["table_dtype"] == "int8"
    assert config["name"] == "quantized_charagram" and config["activation"] == "linear"


@pytest.mark.parametrize(
    ("make_vectorizer", "encoder_class"),
    [
        pytest.param(
            lambda: CharacterVectorizer.from_texts(WORDS), CharLstm, marks=pytest.mark.variant
        ),
        (lambda: WordVectorizer.from_texts(WORDS), Lstm),
    ],
)
def test_encoders_that_cannot_be_quantized(make_vectorizer, encoder_class, monkeypatch):
    monkeypatch.setattr(shrinking, "saved_model_bytes", lambda *parts: 2_000_000)
    plain = make(make_vectorizer(), encoder_class)
    name = encoder_class.__name__
    message = rf"{name} cannot be quantized: .* sum or average .* charagram, word_average, proj.*"
    with pytest.raises(ConfigError, match=message + "Use dtype=float32"):
        smaller(plain, dtype="int8")
    with pytest.raises(ConfigError, match=rf"`max_mb` must be at least 2\.000 .*{message}"):
        smaller(plain, max_mb=0.01)
    assert smaller(plain, max_mb=10).encoder is plain.encoder


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": "int4"}, r"Unknown dtype 'int4'. Did you mean 'int8'\? Available: float16"),
        ({"max_ngrams": 0}, r"`max_ngrams` must be at least 1. Received: max_ngrams=0"),
        ({"dim": -1}, r"`dim` must be at least 1. Received: dim=-1"),
        ({"max_mb": 0}, r"`max_mb` must be above 0 and finite. Received: max_mb=0"),
        ({"max_mb": float("nan")}, r"`max_mb` must be above 0 and finite. Received: max_mb=nan"),
        (
            {"max_mb": 1, "dtype": "int8"},
            r"`max_mb` chooses .* cannot be combined with .*Received: .*max_mb=1",
        ),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ConfigError, match=message):
        ShrinkOptions(**options)


def test_a_smaller_model_is_not_saved(tmp_path):
    vectorizer = NgramVectorizer.from_texts(["cat", "dog"])
    encoder = Charagram(num_rows=vectorizer.num_rows, dim=4)
    small = TextEmbedder(*shrink(vectorizer, encoder, ShrinkOptions(dtype="int8")))
    with pytest.raises(ConfigError, match="keep the model it was made from"):
        small.save(tmp_path / "model")

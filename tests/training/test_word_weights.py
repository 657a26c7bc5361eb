"""Training with weights of words: steps see the vectors that the model gives."""

import tensorflow as tf
from numpy.testing import assert_allclose

from tf_charagram import TextEmbedder
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.layers._ops.chunked import unpacked
from tf_charagram.optimizers import LazyAdam
from tf_charagram.tasks.paraphrase.model import ParaphraseModel
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text.vectorizer import NgramVectorizer

TEXTS = ["not a road", "no roads", "the road", "a toad"]


def embedder(**options):
    dictionary = Dictionary({"not": 50, "road": 40, "a": 9})
    dictionary = dictionary.with_weights({"not": 2.0, "road": 0.5}, 1.5)
    vectorizer = NgramVectorizer.from_texts(TEXTS, **options)
    vectorizer = vectorizer.with_parts(vectorizer.vocabulary, dictionary)
    return TextEmbedder(vectorizer, Charagram(num_rows=vectorizer.num_rows, dim=4, seed=1))


def trainer_of(model):
    trainer = ParaphraseModel.from_embedder(model)
    trainer.compile(LazyAdam(0.01))
    return trainer


def test_steps_see_the_vectors_of_the_model():
    model = embedder()
    ids = model.vectorizer.training_ids(tf.constant(TEXTS))
    vectors = trainer_of(model).vectors_of(ids, training=True)
    assert_allclose(vectors, model.encode(TEXTS), atol=1e-6)


def test_ids_without_weights_count_once():
    ids, weights = unpacked(tf.constant([7, 7 + (16 << 24), 3 + (127 << 24)]))
    assert ids.numpy().tolist() == [7, 7, 3]
    assert weights.numpy().tolist() == [1.0, 0.5, 127 / 32]
    model = embedder()
    as_written = TextEmbedder(model.vectorizer.as_written(), model.encoder)
    vectors = trainer_of(model).vectors_of(model.vectorizer(tf.constant(["not"])), training=True)
    assert_allclose(vectors, as_written.encode(["not"]), atol=1e-6)


def test_gradient_counts_weights():
    """The gradient of a row is the sum of the weights of its n-gram: 2 in "not", 0.5 in "road"."""
    model = embedder(orders=[2])
    ids = model.vectorizer.training_ids(tf.constant(["not road"]))
    trainer = trainer_of(model)
    table = model.encoder.ngram_table.value
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(trainer.vectors_of(ids, training=True))
    gradient = tf.convert_to_tensor(tape.gradient(total, table)).numpy()
    names = [name for name, _ in model.vectorizer.ngrams("not road")]
    rows = [rows[0] for _, rows in model.vectorizer.ngrams("not road")]
    expected = {"no": 2.0, "ot": 2.0, "t ": 2.0, " r": 0.5, "ro": 0.5, "oa": 0.5, "ad": 0.5}
    found = dict(zip(names, gradient[rows, 0].tolist(), strict=True))
    assert {name: found[name] for name in expected} == expected


def test_trained_saved_and_loaded(tmp_path):
    model = embedder()
    pairs = tf.data.Dataset.from_tensor_slices((TEXTS, TEXTS[::-1])).batch(4)
    trainer = trainer_of(model)
    trainer.fit(pairs, epochs=2, verbose=0)
    ids = model.vectorizer.training_ids(tf.constant(TEXTS))
    vectors = trainer.vectors_of(ids, training=False)
    assert_allclose(vectors, model.encode(TEXTS), atol=1e-6)
    model.save(tmp_path / "model")
    assert_allclose(TextEmbedder.load(tmp_path / "model").encode(TEXTS), vectors, atol=1e-6)

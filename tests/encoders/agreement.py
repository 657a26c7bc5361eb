"""How the tests of word encoders compare with the slow reference, and export."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the operations of the exported model)
from numpy.testing import assert_allclose

from tests.contracts import ragged, row_sparse
from tests.reference import words as reference
from tests.texts import NASTY
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.words import WordVectorizer

NUM_ROWS = 6
#: Among them a single word, none, repeated words, and row 0, the unknown word.
ROWS = [[1, 2, 3], [4], [], [2, 2, 5, 2, 1], [0, 3]]


def check_against_reference(encoder, weights, encode, seed=0, rows=ROWS):
    """Compares values and gradients, while training and not.

    Args:
        encoder: The encoder; its weights are changed.
        weights: Name in the reference -> variable, or several whose values lie below each other.
        encode: The reference.
        seed: Seed of the weights.
        rows: The ids to embed.
    """
    rng = np.random.default_rng(seed)
    groups = {name: list(w) if isinstance(w, tuple) else [w] for name, w in weights.items()}
    parameters = {}
    for name, variables in groups.items():
        for variable in variables:
            variable.assign(rng.normal(scale=0.6, size=variable.shape))
        parameters[name] = np.concatenate([v.numpy().astype(np.float64) for v in variables])
    assert len(encoder.trainable_variables) == len({v.path for g in groups.values() for v in g})
    upstream = rng.normal(size=(len(rows), encoder.dim))
    expected = reference.embed(encode, rows, parameters)
    expected_gradients = reference.embed_gradient(encode, rows, parameters, upstream)
    _optimizer = row_sparse(encoder)
    for training in (False, True):
        with tf.GradientTape() as tape:
            embedded = encoder(ragged(rows), training=training)
        gradients = tape.gradient(
            embedded,
            {name: [v.value for v in group] for name, group in groups.items()},
            output_gradients=tf.constant(upstream, tf.float32),
        )
        assert_allclose(embedded, expected, rtol=1e-4, atol=1e-5)
        if training:
            check_distinct_rows(gradients["W"][0], rows)
        for name, found in gradients.items():
            found = np.concatenate([tf.convert_to_tensor(gradient) for gradient in found])
            assert_allclose(found, expected_gradients[name], rtol=2e-3, atol=1e-4, err_msg=name)


def check_distinct_rows(gradient, rows=ROWS):
    """The gradient of the table names each row of the batch once."""
    assert isinstance(gradient, tf.IndexedSlices)
    assert sorted(gradient.indices.numpy()) == sorted({i for row in rows for i in row})


def check_export(make, tmp_path):
    """The SavedModel gives the vectors that vectorizer and encoder give.

    Args:
        make: Function from the number of ids to an encoder.
        tmp_path: Empty folder.
    """
    vectorizer = WordVectorizer.from_texts(["the cat doesn't sit", "a cat, a dog \u4f60"])
    encoder = make(vectorizer.num_rows)
    rng = np.random.default_rng(0)
    for weight in encoder.weights:
        weight.assign(rng.normal(scale=0.3, size=weight.shape))
    TextEmbedder(vectorizer, encoder).export(tmp_path / "saved")
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    nasty = [
        text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        for name, text in NASTY.items()
        if not name.startswith("long")
    ]
    for batch in (["The cat doesn't.", "", "a dog, unseen", *nasty], ["cat"], [""], []):
        texts = tf.constant(batch, tf.string, [len(batch)])
        served = loaded.signatures["serving_default"](texts=texts)["embedding"]
        assert served.shape == (len(batch), encoder.dim)
        assert np.isfinite(served).all()
        assert_allclose(served, encoder(vectorizer(texts)), rtol=1e-5, atol=1e-6)

"""charLSTM against the slow reference, and as a SavedModel."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose

from tests.contracts import CONTRACTS, ragged, randomized, row_sparse, some_now
from tests.reference import lstm as reference
from tf_charagram.encoders.char_lstm import CharLstm
from tf_charagram.errors import ConfigError
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.characters import CharacterVectorizer

ROWS = [[1, 3, 4, 1], [], [2], [1, 5, 5, 5, 3, 4, 1]]
NUM_ROWS = 6


@pytest.mark.parametrize("use_output_gate", [False, True])
@pytest.mark.parametrize("use_peepholes", [False, True])
@pytest.mark.parametrize("training", [False, True])
def test_equals_reference(use_output_gate, use_peepholes, training):
    settings = {"use_output_gate": use_output_gate, "use_peepholes": use_peepholes}
    encoder = randomized(lambda: CharLstm(num_rows=NUM_ROWS, dim=2, char_dim=3, **settings))
    names = ["table", "kernel", "recurrent_kernel", "bias", *["peepholes"] * use_peepholes]
    assert [weight.name for weight in encoder.weights] == names
    arguments = {weight.name: weight.numpy() for weight in encoder.weights}

    def function(table, **weights):
        return np.array([
            reference.states(table[row], **weights, output_gate=use_output_gate)[-1]
            if row else np.zeros(2)
            for row in ROWS
        ])  # fmt: skip

    upstream = np.random.default_rng(2).normal(size=(len(ROWS), 2))
    _optimizer = row_sparse(encoder)
    with tf.GradientTape() as tape:
        embedded = encoder(ragged(ROWS), training=training)
    gradients = tape.gradient(
        embedded,
        {weight.name: weight.value for weight in encoder.weights},
        output_gradients=tf.constant(upstream, tf.float32),
    )
    assert_allclose(embedded, function(**arguments), rtol=1e-5, atol=1e-6)
    assert sorted(gradients["table"].indices.numpy().tolist()) == [1, 2, 3, 4, 5]
    slopes = reference.numerical_gradients(function, arguments, upstream)
    for name, slope in slopes.items():
        found = tf.convert_to_tensor(gradients[name])
        assert_allclose(found, slope, rtol=1e-4, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("switch", some_now(["use_output_gate", "use_peepholes"]))
@pytest.mark.parametrize("check", CONTRACTS, ids=lambda check: check.__name__)
def test_contract_without(check, switch, tmp_path):
    settings = {"char_dim": 3, "seed": 3, switch: False}
    check(lambda: CharLstm(num_rows=9, dim=5, **settings), 9, tmp_path)


@pytest.mark.parametrize("use_peepholes", [False, True])
def test_saved_model(use_peepholes, tmp_path):
    texts = ["cat", "", "a cat", " ", "Cats!", "\u4e2d"]
    vectorizer = CharacterVectorizer.from_texts(texts[:3])
    encoder = randomized(
        lambda: CharLstm(
            num_rows=vectorizer.num_rows, dim=4, char_dim=3, use_peepholes=use_peepholes
        )
    )
    TextEmbedder(vectorizer, encoder).export(tmp_path / "1")
    serve = tf.saved_model.load(str(tmp_path / "1")).signatures["serving_default"]
    for batch in (texts, texts[:1], [""], []):
        found = serve(texts=tf.constant(batch, tf.string, [len(batch)]))["embedding"]
        expected = encoder(vectorizer(tf.constant(batch, tf.string, [len(batch)])))
        assert found.shape == (len(batch), 4) and np.isfinite(found).all()
        assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["dim", "char_dim"])
def test_errors(name):
    with pytest.raises(ConfigError, match=rf"`{name}` must be at least 1. Received: {name}=0"):
        CharLstm(num_rows=3, **{name: 0})

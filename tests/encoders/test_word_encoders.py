"""Word encoders against the slow reference, dropout, exports."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.contracts import ragged, randomized, row_sparse
from tests.reference import words as reference
from tf_charagram.encoders import ENCODERS, encoder_class
from tf_charagram.errors import ConfigError

WORD_ENCODERS = [name for name in ENCODERS if encoder_class(name).vectorizer == "words"]
#: Among them a single word, none, repeated words, and row 0, the unknown word.
ROWS = [[1, 2, 3], [4], [], [2, 2, 5, 2, 1], [0, 3]]


def check_against_reference(encoder, weights, encode):
    """Compares values and gradients, while training and not.

    Args:
        encoder: The encoder; its weights are changed.
        weights: Name in the reference -> variable, or several whose values lie below each other.
        encode: The reference.
    """
    rng = np.random.default_rng(0)
    groups = {name: list(w) if isinstance(w, tuple) else [w] for name, w in weights.items()}
    parameters = {}
    for name, variables in groups.items():
        for variable in variables:
            variable.assign(rng.normal(scale=0.6, size=variable.shape))
        parameters[name] = np.concatenate([v.numpy().astype(np.float64) for v in variables])
    assert len(encoder.trainable_variables) == len({v.path for g in groups.values() for v in g})
    upstream = rng.normal(size=(len(ROWS), encoder.dim))
    expected = reference.embed(encode, ROWS, parameters)
    expected_gradients = reference.embed_gradient(encode, ROWS, parameters, upstream)
    _optimizer = row_sparse(encoder)
    for training in (False, True):
        with tf.GradientTape() as tape:
            embedded = encoder(ragged(ROWS), training=training)
        gradients = tape.gradient(
            embedded,
            {name: [v.value for v in group] for name, group in groups.items()},
            output_gradients=tf.constant(upstream, tf.float32),
        )
        assert_allclose(embedded, expected, rtol=1e-4, atol=1e-5)
        if training:
            check_distinct_rows(gradients["W"][0])
        for name, found in gradients.items():
            found = np.concatenate([tf.convert_to_tensor(gradient) for gradient in found])
            assert_allclose(found, expected_gradients[name], rtol=2e-3, atol=1e-4, err_msg=name)


def check_distinct_rows(gradient):
    """The gradient of the table names each row of the batch once."""
    assert isinstance(gradient, tf.IndexedSlices)
    assert sorted(gradient.indices.numpy()) == sorted({i for row in ROWS for i in row})


def make(name, num_rows=6, dim=6, **settings):
    return encoder_class(name)(num_rows=num_rows, dim=dim, **settings)


def dense_weights(*layers):
    return {
        name: weight
        for number, layer in enumerate(layers, start=1)
        for name, weight in ((f"K{number}", layer.kernel), (f"b{number}", layer.bias))
    }


def cell_weights(cell):
    weights = {"Wx": cell.kernel, "Wh": cell.recurrent_kernel, "b": cell.bias}
    return weights if getattr(cell, "peepholes", None) is None else weights | {"P": cell.peepholes}


def gran_of_halves(has_output_gate):
    def encode(ids, p):
        dim = p["W"].shape[1]
        halves = {"Gx": p["G"][:dim], "Gh": p["G"][dim:]}
        return reference.gran(has_output_gate)(ids, p | halves)

    return encode


def weights_of(encoder):
    """Returns the weights by their names in the reference."""
    weights = {"W": encoder.table.table}
    for part in ("rnn", "lstm"):
        if hasattr(encoder, part):
            layer = getattr(encoder, part)
            weights |= cell_weights(getattr(layer, "cell", layer))
    if hasattr(encoder, "gate"):
        weights |= {"G": encoder.gate.kernel, "g": encoder.gate.bias}
    if hasattr(encoder, "dense"):
        dense = encoder.dense if isinstance(encoder.dense, list) else [encoder.dense]
        weights |= dense_weights(*dense)
    if hasattr(encoder, "filters"):
        for width, convolution in zip(encoder.widths, encoder.filters.convolutions, strict=True):
            weights |= {f"K{width}": convolution.kernel, f"b{width}": convolution.bias}
    return weights


def lstm_cases(name, encode):
    return [
        (name, {"dim": 3, "use_output_gate": gate, "use_peepholes": peepholes}, encode(gate))
        for gate in (True, False)
        for peepholes in (True, False)
    ]


CASES = [
    ("word_average", {}, reference.word_average),
    ("projection", {}, reference.dense_layers("linear", 1)),
    ("projection", {"input_dim": 3}, reference.dense_layers("linear", 1)),
    ("dan", {}, reference.dense_layers("tanh", 1)),
    ("dan", {"num_layers": 2, "input_dim": 3}, reference.dense_layers("tanh", 2)),
    ("dan", {"activation": "relu", "num_layers": 2}, reference.dense_layers("relu", 2)),
    ("rnn", {}, reference.rnn("tanh")),
    ("rnn", {"activation": "relu"}, reference.rnn("relu")),
    ("identity_rnn", {}, reference.rnn("linear", True)),
    *lstm_cases("lstm", reference.lstm),
    *lstm_cases("gran", gran_of_halves),
    ("cse", {"dim": 6, "input_dim": 3}, reference.cse("linear", (1, 2, 3))),
    ("cse", {"widths": (4, 2), "activation": "tanh"}, reference.cse("tanh", (4, 2))),
]


@pytest.mark.parametrize(("name", "settings", "encode"), CASES)
def test_equals_reference(name, settings, encode):
    encoder = make(name, **{"dim": 4, **settings})
    check_against_reference(encoder, weights_of(encoder), encode)


def test_identity_rnn_and_open_gates_give_the_average():
    encoders = [make(name, seed=7) for name in ("identity_rnn", "gran", "word_average")]
    encoders[1].gate.bias.assign(tf.fill([6], 30.0))
    *embedded, average = (encoder(ragged(ROWS)) for encoder in encoders)
    for found in embedded:
        assert_allclose(found, average, rtol=1e-5, atol=1e-8)


def test_pull_back_targets_are_the_initial_weights():
    encoder = make("identity_rnn", dim=4)
    targets = encoder.pull_back_targets()
    weights = {weight.path: weight for weight in encoder.trainable_weights}
    assert weights.keys() - targets.keys() == {encoder.word_table.path}
    for path, target in targets.items():
        assert_array_equal(weights[path], target)
    assert sorted(np.sum(target) for target in targets.values()) == [0, 4, 4]


class TestDropout:
    @pytest.mark.parametrize("name", WORD_ENCODERS)
    def test_is_for_training_and_from_the_seed(self, name):
        def embedded(seed, num_calls=1, **settings):
            encoder = randomized(lambda: make(name, dropout=0.5, seed=seed))
            return [encoder(ragged(ROWS), **settings).numpy() for _ in range(num_calls)]

        one, two = embedded(3, 2, training=True)
        assert (one != two).any(), "each batch must have its own draw"
        assert_array_equal(embedded(3, 2, training=True), [one, two])
        assert (embedded(4, training=True)[0] != one).any()
        plain = randomized(lambda: make(name))(ragged(ROWS))
        assert_array_equal(embedded(3, training=False)[0], plain)
        assert np.isfinite(one).all()

    @pytest.mark.parametrize("name", ["word_average", "identity_rnn", "cse"])
    def test_of_each_number_of_each_occurrence(self, name):
        """Embeddings of one word show which numbers were dropped; of two, that draws differ."""
        options = {"widths": [1], "input_dim": 4} if name == "cse" else {}
        encoder = make(name, num_rows=3, dim=4, dropout=0.25, **options)
        table = np.random.default_rng(0).uniform(1, 2, size=(3, 4)).astype(np.float32)
        encoder.word_table.assign(table)
        if name == "cse":
            encoder.filters.convolutions[0].kernel.assign(np.eye(4)[np.newaxis])
        count = 4_000
        once = encoder(ragged([[1]] * count), training=True).numpy()
        kept = once != 0
        assert_allclose(once, np.where(kept, table[1] / 0.75, 0.0), rtol=1e-6)
        assert_allclose(kept.mean(axis=0), 0.75, atol=0.03)
        assert_allclose(np.corrcoef(kept.T), np.eye(4), atol=0.06)
        twice = encoder(ragged([[1, 1]] * count), training=True).numpy() / table[1] * 0.75
        twice = np.round(twice if name == "cse" else 2 * twice, 4)
        shares = [(twice == number).mean() for number in (0, 1, 2)]
        assert_allclose(shares, [1 / 16, 6 / 16, 9 / 16], atol=0.02)

    @pytest.mark.parametrize("name", ["word_average", "projection"])
    def test_gradient(self, name):
        """Of a function that is linear in W: the gradient times W adds up to the function."""
        encoder = randomized(lambda: make(name, dim=4, dropout=0.5))
        if name == "projection":
            encoder.dense.bias.assign(np.zeros(4))
        _optimizer = row_sparse(encoder)
        upstream = np.random.default_rng(1).normal(size=(len(ROWS), 4)).astype(np.float32)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(encoder(ragged(ROWS), training=True) * upstream)
        gradient = tape.gradient(loss, encoder.word_table.value)
        check_distinct_rows(gradient)
        product = tf.reduce_sum(tf.convert_to_tensor(gradient) * encoder.word_table.value)
        assert_allclose(product, loss, rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("word_average", {"num_rows": 0}, "`num_rows` must be at least 1. Received: num_rows=0"),
        ("dan", {"num_layers": 3}, "`num_layers` must be 1 or 2. Received: num_layers=3"),
        ("dan", {"activation": "rleu"}, r"Unknown activation 'rleu'. Did you mean 'relu'\?"),
        ("word_average", {"dropout": 1.0}, r"`dropout` must be in \[0, 1\). .*=1.0"),
        ("gran", {"dropout": float("nan")}, r"`dropout` must be in \[0, 1\). .*=nan"),
        ("cse", {"dim": 100}, "`dim` must be a multiple of the number of filter widths, 3. .*100"),
        ("cse", {"widths": 3}, "`widths` must be a list of integers. Received: widths=3"),
        ("cse", {"widths": (0, 1)}, r"`widths` must be distinct and at least 1. .* \[0, 1\]"),
        ("cse", {"widths": (2, 2)}, r"`widths` must be distinct and at least 1. .* \[2, 2\]"),
    ],
)
def test_errors(name, arguments, message):
    with pytest.raises(ConfigError, match=message):
        make(name, **arguments)

"""What all word encoders share: dropout on the word vectors, and a table that can be frozen."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the operations of the exported model)
from numpy.testing import assert_allclose, assert_array_equal

from tests import contracts
from tests.contracts import ragged, randomized, row_sparse
from tests.encoders.agreement import check_distinct_rows
from tests.reference import words as reference
from tf_charagram.encoders import ENCODERS, encoder_class
from tf_charagram.encoders.averaging import Projection, WordAverage
from tf_charagram.encoders.cse import Cse
from tf_charagram.encoders.gran import Gran
from tf_charagram.encoders.recurrent import IdentityRnn
from tf_charagram.errors import ConfigError

WORD_ENCODERS = [name for name in ENCODERS if hasattr(encoder_class(name), "word_table")]
ROWS = [[1, 2, 3], [4], [], [2, 2, 5, 2, 1], [0, 3]]


def make(name, num_rows=6, **settings):
    return encoder_class(name)(num_rows=num_rows, dim=6, **settings)


def test_which_encoders_have_words():
    assert WORD_ENCODERS == [n for n in ENCODERS if encoder_class(n).vectorizer == "words"]
    assert "charagram" not in WORD_ENCODERS and "gran" in WORD_ENCODERS


@pytest.mark.parametrize("name", WORD_ENCODERS)
def test_dropout_is_for_training_and_from_the_seed(name):
    def embedded(seed, num_calls=1, **settings):
        encoder = randomized(lambda: make(name, word_dropout=0.5, seed=seed))
        return [encoder(ragged(ROWS), **settings).numpy() for _ in range(num_calls)]

    one, two = embedded(3, 2, training=True)
    assert (one != two).any(), "drawn anew for each batch"
    same, again = embedded(3, 2, training=True)
    assert_array_equal(same, one)
    assert_array_equal(again, two)
    assert (embedded(4, training=True)[0] != one).any()
    plain = randomized(lambda: make(name))(ragged(ROWS))
    assert_array_equal(embedded(3)[0], plain)
    assert_array_equal(embedded(3, training=False)[0], plain)
    assert np.isfinite(one).all()


@pytest.mark.parametrize("cls", [WordAverage, IdentityRnn, Cse])
def test_dropout_of_each_number_of_each_occurrence(cls):
    """Of one word the embedding shows which numbers were dropped; of two, that each has its own."""
    options = {"widths": [1], "word_dim": 4} if cls is Cse else {}
    encoder = cls(num_rows=3, dim=4, word_dropout=0.25, **options)
    table = np.random.default_rng(0).uniform(1, 2, size=(3, 4)).astype(np.float32)
    encoder.word_table.assign(table)
    if cls is Cse:
        encoder.filters.convolutions[0].kernel.assign(np.eye(4)[np.newaxis])
    count = 4_000
    once = encoder(ragged([[1]] * count), training=True).numpy()
    kept = once != 0
    assert_allclose(once, np.where(kept, table[1] / 0.75, 0.0), rtol=1e-6)
    assert_allclose(kept.mean(axis=0), 0.75, atol=0.03)
    assert_allclose(np.corrcoef(kept.T), np.eye(4), atol=0.06)
    twice = encoder(ragged([[1, 1]] * count), training=True).numpy() / table[1] * 0.75
    twice = np.round(twice if cls is Cse else 2 * twice, 4)
    shares = [(twice == number).mean() for number in (0, 1, 2)]
    assert_allclose(shares, [1 / 16, 6 / 16, 9 / 16], atol=0.02)


@pytest.mark.parametrize("cls", [WordAverage, Projection])
def test_gradient_with_dropout(cls):
    """Of a function that is linear in W: the gradient times W adds up to the function."""
    encoder = randomized(lambda: cls(num_rows=6, dim=4, word_dropout=0.5))
    if cls is Projection:
        encoder.dense.bias.assign(np.zeros(4))
    _optimizer = row_sparse(encoder)
    upstream = np.random.default_rng(1).normal(size=(len(ROWS), 4)).astype(np.float32)
    with tf.GradientTape() as tape:
        embedded = encoder(ragged(ROWS), training=True)
        loss = tf.reduce_sum(embedded * upstream)
    gradient = tape.gradient(loss, encoder.word_table.value)
    check_distinct_rows(gradient)
    product = tf.reduce_sum(tf.convert_to_tensor(gradient) * encoder.word_table.value)
    assert_allclose(product, loss, rtol=1e-5)


def test_expectation_with_dropout():
    """Of averages, and so of whatever is linear in the word vectors."""
    encoder = randomized(lambda: make("word_average", word_dropout=0.3))
    rows = ROWS * 2_000
    found = encoder(ragged(rows), training=True).numpy().reshape(-1, len(ROWS), 6).mean(axis=0)
    table = {"W": encoder.word_table.numpy()}
    assert_allclose(found, reference.embed(reference.word_average, ROWS, table), atol=0.03)


@pytest.mark.parametrize("cls", [Projection, Gran])
@pytest.mark.parametrize(
    "check",
    [
        contracts.config_round_trip, contracts.shape_and_type, contracts.empty_row_is_finite,
        contracts.empty_batch, contracts.weights_are_saved_by_path, contracts.exports,
    ],
    ids=lambda check: check.__name__,
)  # fmt: skip
def test_contract_with_dropout(cls, check, tmp_path):
    check(lambda: cls(num_rows=9, dim=5, word_dropout=0.4, seed=3), 9, tmp_path)


@pytest.mark.parametrize("name", WORD_ENCODERS)
def test_word_table(name):
    """It is one of the weights, of its shape, and freezing its layer leaves the others."""
    encoder = make(name)
    before = [weight.path for weight in encoder.trainable_variables]
    assert encoder.word_table.path in before
    assert encoder.word_table.shape == (6, 6)
    encoder.table.trainable = False
    after = [weight.path for weight in encoder.trainable_variables]
    assert after == [path for path in before if path != encoder.word_table.path]
    assert encoder.word_table.path in [weight.path for weight in encoder.weights]


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("charagram", {"dim": 2.5}, "`dim` must be an integer. Received: dim=2.5"),
        ("charagram", {"dim": None}, "`dim` must be an integer. Received: dim=None"),
        ("charagram", {"num_rows": "3"}, "`num_rows` must be an integer. Received: num_rows='3'"),
        ("charagram", {"num_layers": 2.0}, "`num_layers` must be 1 or 2"),
        ("dan", {"num_layers": 2.0}, "`num_layers` must be 1 or 2"),
        ("dan", {"word_dim": 2.5}, "`word_dim` must be an integer"),
        ("dan", {"num_words": 1.5}, "`num_words` must be an integer"),
        ("char_cnn", {"char_dim": 2.5}, "`char_dim` must be an integer"),
        ("char_lstm", {"use_peepholes": "no"}, "`use_peepholes` must be True or False"),
        ("lstm", {"use_output_gate": "no"}, "`use_output_gate` must be True or False"),
        ("cse", {"widths": 3}, "`widths` must be a list of integers. Received: widths=3"),
        ("cse", {"widths": (1.0, 2)}, "`widths` must be an integer. Received: widths=1.0"),
    ],
)
def test_arguments_of_another_type(name, arguments, message):
    with pytest.raises(ConfigError, match=message):
        encoder_class(name)(**{"num_rows": 3, "dim": 2, **arguments})


@pytest.mark.parametrize("value", [-0.1, 1.0, float("nan")])
def test_errors(value):
    message = rf"`word_dropout` must be in \[0, 1\). Received: word_dropout={value}"
    with pytest.raises(ConfigError, match=message):
        WordAverage(num_rows=3, word_dropout=value)

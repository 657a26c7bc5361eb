"""The heads of pairs against the formulas."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose

from tests.layers.heads import check_adapt, check_config, check_not_saturated, randomized
from tests.reference import supervised as reference
from tf_charagram.errors import ConfigError
from tf_charagram.losses.relatedness import expected_score
from tf_charagram.tasks.pairs.head import PairLabelHead, PairScoreHead

LABELS = ("no", "maybe", "yes")


def score_head(**settings):
    return PairScoreHead(**{"dim": 4, "num_classes": 5, "hidden_dim": 3, **settings})


def label_head(**settings):
    return PairLabelHead(**{"dim": 4, "labels": LABELS, "hidden_dim": 3, **settings})


@pytest.mark.parametrize("make", [score_head, label_head])
class TestPairHead:
    def test_equals_the_formulas(self, make):
        head, parameters = randomized(make())
        vectors = np.random.default_rng(1).normal(size=(14, 4))
        probabilities = tf.nn.softmax(head(vectors.astype(np.float32))).numpy()
        expected = [
            reference.pair_output(left, right, parameters)
            for left, right in zip(vectors[:7], vectors[7:], strict=True)
        ]
        assert_allclose(probabilities, expected, rtol=1e-4, atol=1e-6)

    def test_scale_is_a_part_of_the_kernels(self, make):
        """W* / scale^2 and W+ / scale are the matrices of the formula."""
        head, parameters = randomized(make())
        head.scale.assign(2.0)
        parameters |= {"W*": parameters["W*"] / 4.0, "W+": parameters["W+"] / 2.0}
        left, right = np.random.default_rng(1).normal(size=(2, 4))
        found = tf.nn.softmax(head(np.float32([left, right])))[0]
        assert_allclose(found, reference.pair_output(left, right, parameters), rtol=1e-4)

    def test_config(self, make):
        check_config(make)

    @pytest.mark.parametrize("factor", [0.01, 20.0])
    def test_adapt(self, make, factor):
        check_adapt(make(), factor)

    @pytest.mark.parametrize("dim", [30, 300, 2400])
    def test_not_saturated(self, make, dim):
        check_not_saturated(make(dim=dim, hidden_dim=50))

    def test_no_pairs(self, make):
        head = make()
        assert head(np.zeros((0, 4), np.float32)).shape == (0, head.output_bias.shape[0])

    @pytest.mark.parametrize("name", ["dim", "hidden_dim"])
    def test_errors(self, make, name):
        with pytest.raises(ConfigError, match=f"`{name}` must be at least 1. Received: {name}=0"):
            make(**{name: 0})


def test_scores():
    head, parameters = randomized(score_head())
    left, right = np.random.default_rng(1).normal(size=(2, 4))
    expected = reference.score(reference.pair_output(left, right, parameters))
    assert 1.0 < expected < 5.0
    assert_allclose(expected_score(head(np.float32([left, right]))), [expected], rtol=1e-5)


def test_one_class():
    with pytest.raises(ConfigError, match=r"`num_classes` must be at least 2. Received.*=1"):
        score_head(num_classes=1)


@pytest.mark.parametrize("labels", [[], ["yes"], ["yes", "no", "yes"]])
def test_bad_labels(labels):
    with pytest.raises(ConfigError, match=r"`labels` must be at least 2, all different. Received"):
        label_head(labels=labels)


def test_labels_are_strings():
    with pytest.raises(ConfigError, match=r"`labels` must be strings. Received: \[0, 1\]"):
        label_head(labels=[0, 1])

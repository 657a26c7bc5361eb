"""The head of the tagger: shapes, empty inputs, and inputs it must not depend on."""

from __future__ import annotations

import functools
import json

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.contracts import SPEC, ragged
from tests.reference.tokens import has_capital as has_capital_by_python
from tests.text.strategies import TRICKY, property_settings
from tf_charagram.errors import ConfigError
from tf_charagram.tasks.tagging.head import TaggingHead, has_capital
from tf_charagram.text._algorithm.code_points import normalized_code_points

SETTINGS = {"labels": ["A", "B", "C"], "word_dim": 4, "lstm_dim": 3, "hidden_dim": 2}
VECTORS = tf.constant(np.random.default_rng(5).normal(size=(6, 4)), tf.float32)
CAPITALS = tf.constant([True, False, False, True, False, True])


def make(**settings):
    head = TaggingHead(**{**SETTINGS, "use_capitals": True, **settings})
    rng = np.random.default_rng(0)
    for weight in head.weights:
        weight.assign(rng.normal(scale=0.5, size=weight.shape))
    return head


@functools.cache
def value_and_gradients(use_capitals, training):
    """Returns a function to the logits of a head and their gradients, and its graph."""
    head = make(use_capitals=use_capitals)

    def run(vectors, positions):
        with tf.GradientTape() as tape:
            tape.watch(vectors)
            logits = head(vectors, CAPITALS, positions, training=training)
            loss = tf.reduce_sum(logits**2)
        sources = [vectors, *(weight.value for weight in head.weights)]
        return [logits, *map(tf.convert_to_tensor, tape.gradient(loss, sources))]

    return run, tf.function(run, input_signature=[tf.TensorSpec(VECTORS.shape), SPEC])


@pytest.mark.parametrize("use_capitals", [False, True])
@pytest.mark.parametrize(
    "rows", [[], [[]], [[], []], [[0]], [[], [1, 1, 2], []], [[5, 0], [], [3] * 7]], ids=str
)
@pytest.mark.parametrize("training", [False, True])
def test_shapes_and_gradients(rows, use_capitals, training):
    positions, num_tokens = ragged(rows), sum(map(len, rows))
    results = [run(VECTORS, positions) for run in value_and_gradients(use_capitals, training)]
    for logits, slope, *slopes in results:
        assert logits.shape == (num_tokens, 3) and logits.dtype == tf.float32
        assert np.isfinite(logits).all() and np.isfinite(slope).all()
        named = sorted({i for row in rows for i in row})
        assert np.flatnonzero(slope.numpy().any(axis=1)).tolist() == named
        assert all(np.isfinite(slope).all() for slope in slopes)
        if max(map(len, [[], *rows])) != 1:  # one step makes no use of the recurrent weights
            assert all(slope.numpy().any() == bool(num_tokens) for slope in slopes)
    for one, other in zip(*results, strict=True):
        assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("use_peepholes", [False, True])
def test_config_round_trip(use_peepholes):
    settings = {**SETTINGS, "use_capitals": True, "use_peepholes": use_peepholes, "seed": 3}
    head = TaggingHead(**settings)
    config = json.loads(json.dumps(head.get_config()))
    assert {name: config[name] for name in settings} == settings
    restored = TaggingHead.from_config(config)
    assert restored.get_config() == head.get_config()
    assert len({weight.path for weight in head.weights}) == len(head.weights)
    for one, other in zip(head.weights, restored.weights, strict=True):
        assert one.path == other.path
        assert_array_equal(one, other, err_msg="the seed does not fix the initial weights")


@pytest.mark.parametrize("name", ["word_dim", "lstm_dim", "hidden_dim"])
def test_sizes_out_of_range(name):
    with pytest.raises(ConfigError, match=rf"`{name}` must be at least 1. Received: {name}=0"):
        TaggingHead(**{**SETTINGS, name: 0})


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([], "at least 1, all different"), (["A", "B", "A"], "at least 1, all different"),
        ("NOUN", "a list of strings"), (3, "a list of strings"), ([1, 2], "strings"),
    ],
)  # fmt: skip
def test_bad_labels(labels, message):
    with pytest.raises(ConfigError, match=f"`labels` must be {message}. Received: "):
        TaggingHead(**{**SETTINGS, "labels": labels})


def capitals(*tokens):
    encoded = [token if isinstance(token, bytes) else token.encode() for token in tokens]
    return has_capital(tf.constant(encoded, tf.string)).numpy().tolist()


def test_capitals():
    assert capitals("the", "The", "eBay", "", "42") == [False, True, True, False, False]
    # Sigma, Adlam (at the end of the table), a title letter; letters without case.
    assert all(capitals("\u03a3", "\U0001e921", "\u01c5"))
    assert not any(capitals("\u4e2d", "\u05d0"))
    # No-break space, U+0130, sharp s, broken bytes without and with a capital.
    assert capitals("\u00a0", "\u0130", "\u00df", b"\xff", b"\xffA") == [False] * 4 + [True]
    assert capitals() == []


def test_capitals_of_every_code_point():
    codes = [code for code in range(0x1F000) if not 0xD800 <= code < 0xE000]
    chars = [chr(code) for code in codes]
    assert codes[-1] > len(normalized_code_points())
    assert capitals(*chars) == [has_capital_by_python(char) for char in chars]


@property_settings
@given(st.lists(st.text(max_size=9) | st.text(TRICKY, max_size=9), max_size=9))
def test_capitals_equal_python(tokens):
    assert capitals(*tokens) == [has_capital_by_python(token) for token in tokens]

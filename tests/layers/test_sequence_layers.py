"""Layers over sequences: masks, config and errors that all of them share."""

from __future__ import annotations

import json

import keras
import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose

from tf_charagram.errors import ConfigError
from tf_charagram.layers.bilstm import BiLstm
from tf_charagram.layers.conv_pooling import ConvPooling
from tf_charagram.layers.peephole_lstm import PeepholeLSTM
from tf_charagram.layers.plain_lstm import PlainLSTM

LSTMS = (PeepholeLSTM, PlainLSTM, BiLstm)
MAKERS = {
    "peephole": lambda: PeepholeLSTM(5, use_output_gate=False, return_sequences=True, seed=3),
    "plain": lambda: PlainLSTM(5, return_sequences=True, seed=3),
    "both": lambda: BiLstm(5, use_peepholes=True, seed=3),
    "conv": lambda: ConvPooling({2: 3, 1: 5}, activation="relu", pooling="sum", seed=4),
}


@pytest.mark.parametrize("name", MAKERS)
def test_without_mask_all_steps_are_real(name):
    layer = MAKERS[name]()
    inputs = tf.constant(np.random.default_rng(0).normal(size=(2, 4, 3)), tf.float32)
    expected = layer(inputs, mask=tf.ones([2, 4], tf.bool))
    assert_allclose(layer(inputs), expected, rtol=1e-6)
    model = keras.Sequential([keras.Input((4, 3)), layer])
    assert_allclose(model(inputs), expected, rtol=1e-6)


@pytest.mark.parametrize("name", MAKERS)
def test_config_round_trip(name):
    layer = MAKERS[name]()
    config = json.loads(json.dumps(layer.get_config()))
    assert type(layer).from_config(config).get_config() == layer.get_config()
    if name == "conv":
        assert layer.widths == ((2, 3), (1, 5)) and config["pooling"] == "sum"
    else:
        assert (config["units"], config["seed"]) == (5, 3)


@pytest.mark.parametrize("layer_class", LSTMS)
def test_units(layer_class):
    with pytest.raises(ConfigError, match=r"`units` must be at least 1. Received: units=0"):
        layer_class(0)

"""Scores during `fit`."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from tf_charagram import NgramVectorizer, ParaphraseModel, TextEmbedder
from tf_charagram.encoders import Charagram
from tf_charagram.errors import ConfigError, DataError
from tf_charagram.evaluation.callback import ScoreOnSet
from tf_charagram.optimizers import LazyAdam


def small_embedder():
    vectorizer = NgramVectorizer.from_texts(["a cat", "dogs"])
    return TextEmbedder(vectorizer, Charagram(num_rows=vectorizer.num_rows, dim=8))


class TestScoreOnSet:
    def test_fit_of_pairs(self):
        embedder = small_embedder()
        model = ParaphraseModel.from_embedder(embedder)
        model.compile(LazyAdam(0.001))
        pairs = tf.data.Dataset.from_tensor_slices((["a", "b"], ["aa", "bb"])).batch(2)
        history = model.fit(pairs, verbose=0, shuffle=False, callbacks=[ScoreOnSet("starter")])
        assert history.history["val_starter"] == [ScoreOnSet("starter").score(embedder)]

    def test_a_keras_model_with_an_embedder(self):
        embedder = small_embedder()
        model = keras.Sequential([embedder, keras.layers.Dense(1)])
        model.compile(LazyAdam(0.001), "mse")
        score = [ScoreOnSet("starter")]
        texts, targets = tf.constant(["a", "b"]), np.zeros((2, 1))
        history = model.fit(texts, targets, verbose=0, callbacks=score).history
        assert history["val_starter"] == [score[0].score(embedder)]

    def test_a_model_without_an_embedder(self):
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        with pytest.raises(ConfigError, match="needs a model with a TextEmbedder"):
            model.fit(
                np.ones((2, 1)), np.ones((2, 1)), verbose=0, callbacks=[ScoreOnSet("starter")]
            )

    def test_a_mean(self, tmp_path):
        for name in ("MSRpar", "OnWN"):
            (tmp_path / f"2012.{name}.tsv").write_text("5\ta cat\tcats\n1\ta\tb\n3\ta dog\tdogs\n")
        score = ScoreOnSet("STS2012", tmp_path)
        assert score.name == "STS2012" and len(score._sets) == 2

    def test_errors(self, data):
        with pytest.raises(ConfigError, match="Unknown set 'startr'"):
            ScoreOnSet("startr")
        with pytest.raises(ConfigError, match="Unknown set 'SL999'"):
            ScoreOnSet("SL999", data[1])
        with pytest.raises(DataError, match="no such file or folder"):
            ScoreOnSet("SL999", "nothing")

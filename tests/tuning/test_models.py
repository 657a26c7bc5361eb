"""The public API: searches by tuners of KerasTuner."""

from __future__ import annotations

import subprocess
import sys

import keras
import keras_tuner
import numpy as np
import pytest
import tensorflow as tf
from keras_tuner.errors import FatalError

from tests.commands import assert_same_training, call, saved_weights
from tf_charagram.data.readers.pairs import read_pairs
from tf_charagram.errors import ConfigError
from tf_charagram.models._storage.model_folder import weights_of
from tf_charagram.tuning import ScoreOnSet, hypermodel

SMALL = {"dim": 8, "batch_size": 10, "seed": 1}
SCORED = keras_tuner.Objective("val_scored", "max")


def tuner_of(folder, kind=keras_tuner.RandomSearch, **settings):
    """Returns a tuner of four combinations."""
    space = {"l2": (1e-4, 1e-5), "activation": ("tanh", "linear")}
    return kind(
        hypermodel("words", space=space, **SMALL), objective=SCORED, directory=folder, seed=1,
        **settings,
    )  # fmt: skip


def untuned(**settings):
    """Returns a model with the default settings, but small."""
    space = {"l2": (0.0, 1e-5)}
    return hypermodel("words", space=space, **SMALL, **settings).build(
        keras_tuner.HyperParameters()
    )


@pytest.fixture(scope="module")
def searched(data, tmp_path_factory):
    """Returns the tuner of a finished search of two trials."""
    tuner = tuner_of(tmp_path_factory.mktemp("tuning"), max_trials=2)
    tuner.search(str(data[0]), epochs=2, callbacks=[ScoreOnSet(data[1])], verbose=0)
    return tuner


def test_a_search(searched, data, capsys):
    searched.results_summary()
    said = capsys.readouterr().out
    assert "val_scored" in said and said.count("l2: 0.0001") + said.count("l2: 1e-05") == 2
    best = searched.get_best_models()[0]
    score = searched.oracle.get_best_trials()[0].score
    assert ScoreOnSet(data[1]).score(best.embedder) == score
    texts = ["a cat", "cats"]
    np.testing.assert_allclose(best(tf.constant(texts)), best.embedder.encode(texts), atol=1e-6)


def test_a_search_goes_on(searched, data):
    """In another process, KerasTuner reads the state and the models again."""
    again = tuner_of(searched.directory, max_trials=3)
    assert again.remaining_trials == 1
    again.search(str(data[0]), callbacks=[ScoreOnSet(data[1])])
    assert len(again.oracle.trials) == 3
    assert again.get_best_models()[0].embedder.encode(["a"]).shape == (1, 8)


def test_a_model_is_trained_further(searched, data):
    path = searched._get_checkpoint_fname(searched.oracle.get_best_trials()[0].trial_id)
    model = untuned()
    model.load_weights(path)
    before = model.embedder.encode(["a cat"])
    history = model.fit(list(read_pairs(data[0])), initial_epoch=1, epochs=2, verbose=0)
    assert history.epoch == [1]
    assert 0 < np.abs(model.embedder.encode(["a cat"]) - before).max() < 0.1


@pytest.mark.long
def test_hyperband(data, tmp_path):
    tuner = tuner_of(tmp_path, keras_tuner.Hyperband, max_epochs=3)
    tuner.search(data[0], callbacks=[ScoreOnSet(data[1])], verbose=0)
    assert any("tuner/trial_id" in hp.values for hp in tuner.get_best_hyperparameters(3))


@pytest.mark.long
@pytest.mark.usefixtures("unexported")
def test_fit_trains_as_train_does(data, tmp_path):
    flags = ["--data", data[0], "--dim", 8, "--batch-size", 10, "--seed", 1, "--decay", "linear"]
    assert call("train", *flags, "--epochs", 2, "--output", tmp_path / "run") == 0
    model = untuned(decay="linear")
    history = model.fit(list(read_pairs(data[0])), epochs=2, verbose=0)
    assert len(history.history["loss"]) == 2
    expected = saved_weights(tmp_path / "run")
    for weight, array in zip(weights_of(model.embedder.parts[1:]), expected.values(), strict=True):
        assert_same_training(weight.value, array)


def test_early_stopping(data):
    stop = keras.callbacks.EarlyStopping("loss", mode="max", patience=1)
    history = untuned().fit(data[0], epochs=9, callbacks=[stop], verbose=0)
    assert len(history.history["loss"]) == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"task": "pos"}, "`task` must be words or sentences"),
        ({"encoder": "cse"}, "no grid for the encoder 'cse' on words"),
        ({"space": {"dmi": (1, 2)}}, "`dmi` is not an option"),
        ({"dmi": 3}, "Unknown setting 'dmi'. Did you mean 'dim'"),
        ({"space": {"dim": ()}}, r"a list of values for each setting\. Received: dim=\(\)"),
        ({"space": {"dim": 8}}, r"a list of values for each setting\. Received: dim=8"),
        ({"space": None}, r"`space` must be paper, wide, or a mapping .* Received: None"),
    ],
)
def test_errors(settings, message):
    with pytest.raises(ConfigError, match=message):
        hypermodel(**settings).build(keras_tuner.HyperParameters())


PAIRS = [("cat", "cats"), ("dog", "dogs")] * 9


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ("nowhere.tsv", "nowhere.tsv: no such file"),
        (None, "`pairs` must be a file, or a list of pairs of texts. Received: None"),
        ([], r"Received: \[\]"),
        (iter(PAIRS), "Received: <list_it"),
        (np.array(PAIRS), r"Received: array"),
        ([*PAIRS, ("cat", None)], r"Row 18 is \('cat', None\)"),
        ([*PAIRS, ("a", "b", "c")], r"Row 18 is \('a', 'b', 'c'\)"),
        ([*PAIRS, "ab"], "Row 18 is 'ab'"),
    ],
    ids=["missing", "none", "empty", "iterator", "array", "no_text", "triple", "text"],
)
def test_wrong_pairs_end_a_search(tmp_path, pairs, message):
    tuner = tuner_of(tmp_path, max_trials=2)
    with pytest.raises(FatalError, match=message):
        tuner.search(pairs, epochs=1, callbacks=[], verbose=0)


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {"validation_data": PAIRS}, "ScoreOnSet in `callbacks` .* Received: validation_data"),
        ((), {"validation_split": 0.1}, "Received: validation_split"),
        ((), {"batch_size": 5, "x": 1}, "arguments of `hypermodel`.* Received: batch_size, x"),
        ((["cats"],), {}, r"`search` takes pairs, epochs, .* Received: \['cats'\]"),
        ((), {"epochs": 0}, "`epochs` must be at least 1. Received: epochs=0"),
        ((), {"epochs": "2"}, "Received: epochs='2'"),
    ],
    ids=["validation", "split", "batch_size", "labels", "zero", "text"],
)
def test_other_arguments_end_a_search(tmp_path, args, kwargs, message):
    tuner = tuner_of(tmp_path, max_trials=2)
    with pytest.raises(FatalError, match=message):
        tuner.search(PAIRS, *args, callbacks=[], verbose=0, **kwargs)


def test_an_objective_that_is_not_logged_ends_a_search(tmp_path):
    tuner = tuner_of(tmp_path, max_trials=2)
    with pytest.raises(FatalError, match=r"val_scored is not logged\. Add ScoreOnSet .*: loss\."):
        tuner.search(PAIRS, epochs=1, verbose=0)


def test_import_needs_no_tensorflow():
    script = (
        "import sys, tf_charagram.tuning, tf_charagram.tuning.command\n"
        "assert not {'tensorflow', 'keras', 'keras_tuner'} & {*sys.modules}"
    )
    subprocess.run([sys.executable, "-c", script], check=True)

"""Presets: which settings they stand for, and for which tasks and encoders."""

from __future__ import annotations

import pytest

from tf_charagram.errors import ConfigError
from tf_charagram.tasks import make_settings, settings_class
from tf_charagram.tasks.presets import preset_settings
from tf_charagram.training.building import check_options


@pytest.mark.parametrize(
    ("task", "encoder", "state", "expected"),
    [
        ("words", "charagram", {}, {"epochs": 50, "batch_size": 25, "mask_duplicates": False}),
        ("words", "charagram", {}, {"file_order_first": False, "decay": "none", "l2": 1e-6}),
        ("sentences", "char_lstm", {}, {"file_order_first": True, "batch_size": 100}),
        ("sentences", "word_average", {}, {"optimizer": "adagrad", "learning_rate": 0.05}),
        ("sentences", "dan", {}, {"l2_composition": 1e-6, "l2_words": 1e-8, "epochs": 10}),
        ("sentences", "identity_rnn", {}, {"l2_composition": 10.0, "clip_norm": 1.0}),
        ("sentences", "cse", {}, {"margin": 0.6, "l2_words": 1e-6, "batches_by_length": False}),
        ("pos", "char_cnn", {}, {"use_capitals": True, "max_chars": 10_000, "epochs": 50}),
        ("sentiment", "lstm", {}, {"l2_head": 1e-6, "pull_back": False, "epochs": 10}),
        ("sentiment", "lstm", {"init": "run"}, {"l2_head": 1e-6, "pull_back": True}),
        ("similarity", "cse", {"init": "run"}, {"l2_words": 1e-6, "pull_back": True}),
        ("similarity", "word_average", {"init": "run"}, {"l2_words": 1e-8, "pull_back": False}),
        ("entailment", "dan", {"init": "run", "freeze": True}, {"l2_words": 0.0, "epochs": 20}),
    ],
)
def test_settings(task, encoder, state, expected):
    freeze = state.get("freeze", False)
    preset = preset_settings("paper", task, encoder, has_init="init" in state, freeze=freeze)
    given = {"task": task, "encoder": encoder, "preset": "paper", **preset, **state}
    config = settings_class(task).from_dict(given)
    assert (config.preset, config.task, config.encoder) == ("paper", task, encoder)
    assert {name: getattr(config, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("task", "encoder"),
    [
        ("words", "cse"),
        ("sentences", "gran"),
        ("sentiment", "cse"),
        ("similarity", "charagram"),
        ("distill", "charagram"),
    ],
)
def test_what_no_paper_trains(task, encoder):
    message = f"The papers do not train the encoder '{encoder}' on {task}: leave --preset paper out"
    with pytest.raises(ConfigError, match=message):
        preset_settings("paper", task, encoder)


def test_fine_tuning():
    config = make_settings("sentences", init="english", preset="fine-tune", l2=1e-4)
    assert (config.epochs, config.learning_rate, config.decay) == (3, 0.0005, "linear")
    assert (config.l2, config.dim, config.preset) == (1e-4, 384, "fine-tune")
    check_options(config)


def test_the_model_decides_more_than_the_preset():
    config = make_settings("sentences", init="english", preset="paper")
    assert (config.dim, config.epochs, config.encoder_options.activation) == (384, 10, "linear")


@pytest.mark.parametrize(
    ("task", "has_init", "message"),
    [
        ("words", False, "--preset fine-tune starts from a model: give --init, such as english"),
        ("pos", True, "--preset fine-tune is for words and sentences. Received: --task pos"),
    ],
)
def test_what_is_no_fine_tuning(task, has_init, message):
    with pytest.raises(ConfigError, match=message):
        preset_settings("fine-tune", task, "charagram", has_init=has_init)


def test_no_such_preset():
    message = r"Unknown preset 'papers'\. Did you mean 'paper'\? Available: fine-tune, paper\."
    with pytest.raises(ConfigError, match=message):
        preset_settings("papers", "words", "charagram")

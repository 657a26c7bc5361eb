"""Settings as plain values."""

from __future__ import annotations

import json

import pytest

from tf_charagram.encoders import ENCODERS
from tf_charagram.encoders.options import options_of
from tf_charagram.errors import ConfigError
from tf_charagram.tasks.distillation.settings import DistillConfig
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.tasks.supervised_settings import SupervisedConfig
from tf_charagram.tasks.tagging.settings import TaggingConfig


def through_json(settings):
    return json.loads(json.dumps(settings))


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("init", [None, "runs/one"])
def test_settings_come_back_from_json(encoder, init):
    config = ParaphraseConfig(encoder=encoder, init=init, data=("a", "b"), ngrams=(2, 5))
    settings = through_json(config.to_dict())
    assert ParaphraseConfig.from_dict(settings) == config
    assert ParaphraseConfig.from_dict({**settings, "json": True, "search.tuner": "grid"}) == config
    assert (set(config.encoder_options) == set(options_of(encoder))) == (init is None)


def test_options_lie_flat_beside_the_other_settings():
    config = ParaphraseConfig.from_dict({"encoder": "cse", "widths": "2,3", "word_dim": None})
    assert config.encoder_options == {
        "word_dropout": 0.0, "word_dim": None, "widths": (2, 3), "activation": "linear",
    }  # fmt: skip
    settings = config.to_dict()
    assert settings["widths"] == (2, 3) and "encoder_options" not in settings
    assert "num_layers" not in settings


def test_defaults_of_the_tasks():
    def options(config):
        return config.encoder_options

    assert options(ParaphraseConfig())["activation"] == "linear"
    sentences = ParaphraseConfig(task="sentences")
    assert options(sentences)["activation"] == "tanh"
    given = ParaphraseConfig(task="sentences", encoder_options={"activation": "linear"})
    assert options(given)["activation"] == "linear"
    assert options(given.replace(dim=3))["activation"] == "linear"
    assert options(given.replace(activation=None))["activation"] == "tanh"
    assert options(ParaphraseConfig(task="sentences", encoder="dan"))["activation"] == "tanh"
    assert options(ParaphraseConfig(task="sentences", init="runs/one")) == {}
    tagger = TaggingConfig(encoder="char_cnn")
    assert (options(tagger)["char_dim"], tagger.max_chars) == (50, 30)
    assert options(TaggingConfig(encoder="char_lstm", init="runs/one")) == {}
    assert options(SupervisedConfig(encoder="char_cnn"))["char_dim"] == 300


def test_replace():
    config = ParaphraseConfig(encoder="dan", dim=5, encoder_options={"num_layers": 2})
    changed = config.replace(margin=0.2, activation="relu")
    assert (changed.dim, changed.margin) == (5, 0.2)
    assert changed.encoder_options == {**config.encoder_options, "activation": "relu"}
    assert changed.replace(encoder="rnn") == ParaphraseConfig(encoder="rnn", dim=5, margin=0.2)
    with pytest.raises(ConfigError, match="`num_layers` is not an option of the encoder 'rnn'"):
        config.replace(encoder="rnn", num_layers=2)
    with pytest.raises(TypeError, match="ParaphraseConfig has no setting `hidden_dim`"):
        config.replace(hidden_dim=3)


@pytest.mark.parametrize(
    ("encoder", "options", "message"),
    [
        ("cse", {"num_layers": 2}, r"'cse'\. Received: num_layers=2\. .* of charagram, dan\."),
        ("charagram", {"depth": 3}, r"'charagram'\. Received: depth=3\. Options .*: activation, "),
        ("lstm", {"word_dim": 3}, r"`word_dim` is not an option of the encoder 'lstm'"),
        ("lstm", {"activation": "tanh"}, r"`activation` is not an option of the encoder 'lstm'"),
    ],
)
def test_options_of_other_encoders(encoder, options, message):
    with pytest.raises(ConfigError, match=message):
        ParaphraseConfig(encoder=encoder, encoder_options=options)
    if "depth" not in options:
        with pytest.raises(ConfigError, match=message):
            ParaphraseConfig.from_dict({"encoder": encoder, **options})


def test_unknown_encoder():
    with pytest.raises(ConfigError, match=r"Unknown encoder 'ces'\. Did you mean 'cse'\?"):
        ParaphraseConfig(encoder="ces")


@pytest.mark.parametrize(
    ("config", "name", "value", "message"),
    [
        (ParaphraseConfig, "l2", 1e30, "must be at most 1000"),
        (SupervisedConfig, "l2_words", -1.0, "must not be negative"),
        (SupervisedConfig, "l2_head", float("inf"), "must be a finite number"),
        (TaggingConfig, "l2_head", 1e30, "must be at most 1000"),
        (ParaphraseConfig, "clip_norm", float("inf"), "must be above 0 and finite in float32"),
        (ParaphraseConfig, "clip_norm", 1e39, "must be above 0 and finite in float32"),
        (ParaphraseConfig, "clip_norm", 0.0, "must be above 0 and finite in float32"),
    ],
)
def test_numbers_that_no_step_survives(config, name, value, message):
    with pytest.raises(ConfigError) as raised:
        config(**{name: value})
    assert str(raised.value).startswith(f"`{name}` {message}")
    assert str(raised.value).endswith(f"Received: {name}={value}")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"task": "entailment", "num_classes": 3}, "`num_classes` is for the task 'similarity'"),
        ({"task": "entailment", "phrases": True}, "`phrases` is for the task 'sentiment'"),
        ({"fine_labels": True}, "`fine_labels` is for the task 'sentiment'.*for similarity"),
    ],
    ids=str,
)
def test_settings_without_use(settings, message):
    with pytest.raises(ConfigError, match=message):
        SupervisedConfig(**settings)


def test_what_was_left_open_is_filled_in_again():
    """Where another task or encoder has another default; what was given stays."""
    assert ParaphraseConfig().replace(task="sentences").batch_size == 100
    assert ParaphraseConfig(batch_size=7).replace(task="sentences").batch_size == 7
    tagging = TaggingConfig()
    assert tagging.replace(encoder="char_cnn") == TaggingConfig(encoder="char_cnn")
    assert tagging.replace(encoder="char_cnn").replace(encoder="charagram") == tagging
    assert tagging.replace(seed=3).replace(seed=0) == tagging


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"margin": 0.3}, "`margin` is about `pairs`, and there are none. Received: margin=0.3"),
        ({"negatives": "mix"}, "`negatives` is about `pairs`, and there are none"),
        ({"num_neighbors": 5}, "`num_neighbors` is about lines near each other, and `neighbor_b"),
    ],
)
def test_distillation_has_no_settings_without_effect(settings, message):
    with pytest.raises(ConfigError, match=message):
        DistillConfig(**settings)

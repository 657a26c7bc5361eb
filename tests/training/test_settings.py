"""Settings as plain values: of this version and of the one before, which held all options."""

from __future__ import annotations

import dataclasses
import json

import pytest

from tf_charagram.encoders import ENCODERS
from tf_charagram.encoders.options import options_of
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.tasks import canonical_settings
from tf_charagram.tasks.distillation.settings import DistillConfig
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.tasks.supervised_settings import SupervisedConfig
from tf_charagram.tasks.tagging.settings import TaggingConfig
from tf_charagram.training.run_folder import RunFolder

#: What every file of settings held of the options of encoders, up to version 0.1.
OLD_OPTIONS = {
    "word_dropout": 0.0, "activation": None, "num_layers": 1, "filters": None, "dense": None,
    "dropout": None, "char_dim": None, "use_output_gate": True, "use_peepholes": True,
    "word_dim": None,
}  # fmt: skip


def through_json(settings):
    return json.loads(json.dumps(settings))


def old_settings(config, **options):
    """Returns the settings as the version before would have written them."""
    own = options_of(config.encoder)
    fields = {name: value for name, value in config.to_dict().items() if name not in own}
    return through_json({**fields, **OLD_OPTIONS, **options})


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("init", [None, "runs/one"])
def test_settings_come_back_from_json(encoder, init):
    config = ParaphraseConfig(encoder=encoder, init=init, data=("a", "b"), ngrams=(2, 5))
    settings = through_json(config.to_dict())
    assert ParaphraseConfig.from_dict(settings) == config
    assert ParaphraseConfig.from_dict({**settings, "json": True, "search.tuner": "grid"}) == config
    assert (set(config.encoder_options) == set(options_of(encoder))) == (init is None)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_settings_of_the_version_before(encoder):
    config = ParaphraseConfig(encoder=encoder)
    assert ParaphraseConfig.from_dict(old_settings(config)) == config


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


class TestResume:
    """A run folder compares settings with those of the run in it, whatever version wrote them."""

    @pytest.fixture
    def check(self, tmp_path):
        def check(old, new):
            saved = {"settings": through_json(old), "versions": {}, "data_files": {}}
            (tmp_path / "config.json").write_text(json.dumps(saved))
            RunFolder(tmp_path).check_config(
                {"settings": new, "data_files": {}}, canonical_settings
            )

        return check

    @pytest.mark.parametrize("encoder", ENCODERS)
    def test_a_run_of_the_version_before(self, check, encoder):
        config = ParaphraseConfig(encoder=encoder)
        check(old_settings(config), config.to_dict())
        check(config.to_dict(), config.to_dict())

    def test_what_the_task_filled_in(self, check):
        config = ParaphraseConfig(task="sentences")
        check(old_settings(config, activation="tanh"), config.to_dict())
        tagger = TaggingConfig(encoder="char_lstm")
        check(old_settings(tagger, char_dim=50), tagger.to_dict())

    def test_a_run_from_a_model(self, check):
        """What the model has was written by name if it was open, else it was at its default."""
        config = ParaphraseConfig(init="runs/one", encoder="dan", encoder_options={"num_layers": 1})
        filled = config.replace(activation="relu", word_dim=300, word_dropout=0.0)
        check(old_settings(filled, activation="relu", word_dim=300), filled.to_dict())

    def test_other_options(self, check):
        config = ParaphraseConfig(encoder="dan")
        changed = config.replace(num_layers=2, margin=0.5)
        message = "margin was 0.4, is 0.5, num_layers was 1, is 2. Resume with the same"
        with pytest.raises(RunError, match=message):
            check(old_settings(config), changed.to_dict())
        widths = ParaphraseConfig(encoder="cse", encoder_options={"widths": [1, 2]})
        check(widths.to_dict(), dataclasses.replace(widths, threads=3).to_dict())
        with pytest.raises(RunError, match=r"widths was \[1, 2, 3\], is \[1, 2\]"):
            check(old_settings(ParaphraseConfig(encoder="cse")), widths.to_dict())


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

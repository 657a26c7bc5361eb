"""Settings of runs: from plain values and back, defaults of tasks, and errors."""

from __future__ import annotations

import json

import pytest

from tf_charagram.encoders import ENCODERS
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.tasks import make_settings
from tf_charagram.tasks.labels.settings import SupervisedConfig
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.tasks.tagging.settings import TaggingConfig
from tf_charagram.training._loop.run_folder import RunFolder


@pytest.mark.parametrize("encoder", ENCODERS)
def test_settings_come_back_from_json(encoder):
    config = ParaphraseConfig(encoder=encoder, data=("a", "b"))
    assert ParaphraseConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_options_lie_next_to_the_other_settings():
    config = ParaphraseConfig.from_dict({"encoder": "cse", "widths": "2,3", "data": "a,b"})
    assert config.encoder_options.widths == (2, 3) and config.data == ("a", "b")
    settings = config.to_dict()
    assert settings["widths"] == (2, 3) and settings["dropout"] == 0.0
    assert not {"encoder_options", "num_layers"} & settings.keys()


def test_defaults_of_the_tasks():
    assert ParaphraseConfig().encoder_options.activation == "linear"
    assert (ParaphraseConfig().batch_size, make_settings("sentences").batch_size) == (25, 100)
    assert make_settings("sentences").encoder_options.activation == "tanh"
    given = make_settings("sentences", activation="linear")
    assert given.replace(dim=3).encoder_options.activation == "linear"
    tagger = TaggingConfig(encoder="char_cnn")
    assert (tagger.encoder_options.input_dim, tagger.max_chars, tagger.use_capitals) == (
        50, 30, False,
    )  # fmt: skip
    assert TaggingConfig().use_capitals and TaggingConfig().batch_size == 10
    assert TaggingConfig(data=("a.conllu",)).batch_size == 100
    assert SupervisedConfig(encoder="char_cnn").encoder_options.input_dim == 300


def test_replace():
    config = ParaphraseConfig(encoder="dan", dim=5, encoder_options={"num_layers": 2})
    changed = config.replace(margin=0.2, activation="relu")
    assert (changed.dim, changed.margin, changed.encoder_options.num_layers) == (5, 0.2, 2)
    assert changed.encoder_options.activation == "relu"
    assert changed.replace(encoder="rnn") == ParaphraseConfig(encoder="rnn", dim=5, margin=0.2)
    with pytest.raises(ConfigError, match="`num_layers` is not an option of the encoder 'rnn'"):
        config.replace(encoder="rnn", num_layers=2)
    with pytest.raises(ConfigError, match="`hidden_dim` is not an option of the encoder 'dan'"):
        config.replace(hidden_dim=3)


@pytest.mark.parametrize(
    ("config", "settings", "message"),
    [
        (ParaphraseConfig, {"encoder": "ces"}, r"Unknown encoder 'ces'\. Did you mean 'cse'\?"),
        (ParaphraseConfig, {"l2": 1e30}, "`l2` must be in [0, 1000]. Received: l2=1e"),
        (SupervisedConfig, {"l2_head": float("inf")}, "`l2_head` must be in [0, 1000]"),
        (TaggingConfig, {"l2": -1.0}, "`l2` must be in [0, 1000]. Received: l2=-1.0"),
        (ParaphraseConfig, {"clip_norm": 1e39}, "`clip_norm` must be above 0 and finite in"),
        (ParaphraseConfig, {"clip_norm": 0.0}, "`clip_norm` must be above 0 and finite in"),
        (ParaphraseConfig, {"epochs": float("nan")}, "`epochs` must be at least 1e-06"),
        (ParaphraseConfig, {"seed": 2**31}, "`seed` must be at most 2147483647"),
        (ParaphraseConfig, {"dim": None}, "`dim` must be a number. Received: dim=None"),
        (ParaphraseConfig, {"margin": None}, "`margin` must have a value"),
        (ParaphraseConfig, {"decay": "linaer"}, "Unknown decay 'linaer'. Did you mean 'linear'"),
        (ParaphraseConfig, {"unicode_form": "NFX"}, "Unknown unicode_form 'NFX'"),
        (ParaphraseConfig, {"preset": "paper"}, "Unknown preset 'paper'"),
        (ParaphraseConfig, {"rows_per_ngram": 2}, "`rows_per_ngram` is for `hash_buckets` only"),
        (ParaphraseConfig, {"hash_buckets": 9, "min_count": 2}, "which `hash_buckets` replaces"),
        (ParaphraseConfig, {"encoder": "lstm", "hash_buckets": 9}, "`hash_buckets` is not an opt"),
        (ParaphraseConfig, {"encoder": "lstm", "ngrams": (2,)}, "`ngrams` is not an option of"),
        (ParaphraseConfig, {"encoder": "char_cnn", "min_count": 2}, "`min_count` is not an optio"),
        (ParaphraseConfig, {"word_vectors": "v.txt"}, "`word_vectors` is not an option of the"),
        (ParaphraseConfig, {"freeze": "words"}, "The encoder 'charagram' has no word vectors"),
        (ParaphraseConfig, {"freeze": "encoder"}, "`freeze` can be encoder for tasks with labels"),
        (SupervisedConfig, {"sst": ("fin",)}, "Unknown part of `sst` 'fin'. Did you mean 'fine'?"),
        (ParaphraseConfig, {"l2_words": 0.1}, "`l2_words` is not an option of the encoder"),
        (ParaphraseConfig, {"encoder": "dan", "dictionary": ("k.tsv",)}, "`dictionary` is not an"),
    ],
)  # fmt: skip
def test_what_is_refused(config, settings, message):
    with pytest.raises(ConfigError) as raised:
        config(**settings)
    assert message.replace("\\", "") in str(raised.value)


def test_other_settings_are_no_resume(tmp_path):
    def check(old, new):
        saved = {"settings": json.loads(json.dumps(old.to_dict())), "data_files": {}}
        (tmp_path / "config.json").write_text(json.dumps(saved))
        RunFolder(tmp_path).check_config({"settings": new.to_dict(), "data_files": {}})

    config = ParaphraseConfig(encoder="cse")
    check(config, config.replace(checkpoint_every_s=3.0, output="elsewhere"))
    message = r"epochs was 10, is 2, margin was 0\.4, is 0\.5, widths was \[1, 2, 3\], is \[1, 2\]"
    with pytest.raises(RunError, match=message):
        check(config, config.replace(epochs=2.0, margin=0.5, widths=(1, 2)))

"""Settings that a preset or the model of `--init` determines, and what does not go together."""

from __future__ import annotations

import pytest

from tests.texts import words
from tf_charagram.encoders import encoder_class, vectorizer_of
from tf_charagram.errors import ConfigError
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.tasks import make_settings
from tf_charagram.tasks._shared.defaults import check_init, check_start, fine_tuning
from tf_charagram.text import vectorizer_class
from tf_charagram.training._loop.building import check_options

DIM = 6
TEXTS = ["the cat", "the hot dog", *words(20)]


def test_fine_tuning():
    config = make_settings("sentences", init="english", preset="fine-tune", l2=1e-4)
    assert (config.epochs, config.learning_rate, config.decay) == (3, 0.0005, "linear")
    assert (config.l2, config.dim, config.preset) == (1e-4, 384, "fine-tune")
    check_options(config)


@pytest.mark.parametrize(
    ("task", "has_init", "message"),
    [
        ("words", False, "--preset fine-tune starts from a model: give --init, such as english"),
        ("pos", True, "--preset fine-tune is for words and sentences. Received: --task pos"),
    ],
)
def test_what_is_no_fine_tuning(task, has_init, message):
    with pytest.raises(ConfigError, match=message):
        fine_tuning(task, has_init=has_init)


@pytest.fixture
def save(tmp_path):
    """Returns a function that saves a small model and returns its folder."""

    def saved(name, reading=None, **options):
        vectorizer = vectorizer_class(vectorizer_of(name)).from_texts(TEXTS, **reading or {})
        if name.startswith("char_"):
            options.setdefault("input_dim", 5)
        encoder = encoder_class(name)(num_rows=vectorizer.num_rows, dim=DIM, **options)
        TextEmbedder(vectorizer, encoder).save(tmp_path / name)
        return str(tmp_path / name)

    return saved


@pytest.mark.parametrize("task", ["words", "distill", "similarity", "pos"])
def test_settings_that_are_not_given_are_those_of_the_model(save, task):
    init = save("char_lstm", {"max_chars": 70}, use_output_gate=False)
    config = make_settings(task, init=init, seed=3)
    assert (config.encoder, config.dim, config.max_chars, config.seed) == ("char_lstm", DIM, 70, 3)
    options = config.encoder_options
    assert (options.input_dim, options.use_output_gate, options.use_peepholes) == (5, False, True)
    if task == "pos":
        assert config.use_capitals
    check_start(config)


def test_ngrams_and_options(save):
    init = save("charagram", {"orders": (2, 5)}, activation="relu")
    config = make_settings("sentences", init=init)
    assert (config.ngrams, config.encoder_options.activation) == ((2, 5), "relu")
    check_start(config)


@pytest.mark.parametrize(("name", "option"), [("char_cnn", "dropout"), ("dan", "dropout")])
def test_options_for_training_only_are_not_inherited(save, name, option):
    init = save(name, **{option: 0.5})
    assert getattr(make_settings("words", init=init).encoder_options, option) == 0.0
    config = make_settings("words", init=init, **{option: 0.1})
    assert getattr(config.encoder_options, option) == 0.1
    check_start(config)


def test_another_encoder(save):
    init = save("charagram")
    message = r"To start from it, give --encoder charagram \(received: dan\)\."
    with pytest.raises(ConfigError, match=message):
        make_settings("words", init=init, encoder="dan")
    config = make_settings("words", encoder="dan").replace(init=init)
    with pytest.raises(ConfigError, match=message):
        check_start(config)


@pytest.mark.parametrize(
    ("name", "options", "given", "message"),
    [
        ("dan", {}, {"dim": 8}, r"give --dim 6 \(received: 8\)\."),
        ("dan", {"num_layers": 2}, {"num_layers": 1, "activation": "relu"},
         r"give --activation tanh \(received: relu\), --num-layers 2 \(received: 1\)\."),
        ("lstm", {"use_output_gate": False}, {"use_output_gate": True},
         r"give use_output_gate=False in --config \(received: True\)\."),
        ("cse", {"widths": (1, 2)}, {"widths": (1,)}, r"give --widths 1,2 \(received: 1\)\."),
        ("charagram", {}, {"ngrams": (2,)}, r"give --ngrams 2,3,4 \(received: 2\)\."),
        ("charagram", {}, {"unicode_form": "NFC"}, r"no --unicode-form \(received: NFC\)\."),
        ("charagram", {}, {"hash_buckets": 9}, r"give no --hash-buckets \(received: 9\)\."),
    ],
)  # fmt: skip
def test_other_settings(save, name, options, given, message):
    config = make_settings("words", init=save(name, **options), **given)
    with pytest.raises(ConfigError, match=rf"was trained with other settings\. .*{message}"):
        check_start(config)


def test_init_and_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for init, out in (("a", None), ("a", "b"), ("a", "a/b"), ("a/b", "a/c"), ("ab", "a")):
        check_init(init, out)
    inside = ("a/model", "a"), ("a/../b", "b"), ("a", "a/model/x"), (tmp_path / "a", "a")
    for init, out in (("a", "a"), *inside):
        message = (
            rf"`init` must not lie in `output`.*--output; .*--resume.*init={init}, output={out}"
        )
        with pytest.raises(ConfigError, match=message):
            check_init(init, out)

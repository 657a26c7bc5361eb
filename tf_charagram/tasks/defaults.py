"""Settings that a preset or the model of `init` determines; needs no TensorFlow.

The preset `paper` reproduces the papers, `fine-tune` trains a model further (docs/models.md).
Sources: C is Charagram (2016), U Towards Universal Paraphrastic Sentence Embeddings (2016), S CSE
(2018). Most values were searched, and the papers rarely report the best one; then a preset has the
value of the grid nearest to our default. Other settings have the same default as the papers.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tf_charagram.encoders import make_options, options_class
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.models.locations import read_config
from tf_charagram.settings import types_of
from tf_charagram.training.settings import RunConfig

Settings = dict[str, Any]

_OF_TEXT = ("hash_buckets", "rows_per_ngram", "unicode_form", "max_chars")

_ADAM: Settings = {"optimizer": "adam", "learning_rate": 0.001}  # C 4.1.2, S 4.1
_ADAGRAD: Settings = {"optimizer": "adagrad", "learning_rate": 0.05}  # U, footnote 12
_PAIRS: Settings = {
    # C appendix A.1, U 3.1.1, S 3.2: a negative is any text of the batch but those of its pair,
    # and the batch is drawn at random.
    "mask_duplicates": False,
    "batches_by_length": False,
    # The penalties of C appendix A and U equation 1 are on all weights, at every step.
    "dense_l2": True,
    "margin": 0.4,  # C appendix B, U footnote 12
    "negatives": "max",
    "dim": 300,
}
_C_PAIRS: Settings = {**_PAIRS, **_ADAM, "l2": 1e-6}
_C_WORDS: Settings = {**_C_PAIRS, "epochs": 50, "batch_size": 25}  # C 4.1.3
_C_SENTENCES: Settings = {**_C_PAIRS, "epochs": 10, "batch_size": 100}  # C 4.1.4
# C 4.1.4: without the order of the file in the first epoch, these two did not converge.
_C_CURRICULUM: Settings = {**_C_SENTENCES, "file_order_first": True}
_C_POS: Settings = {  # C 4.2
    "optimizer": "sgd", "learning_rate": 0.2, "batch_size": 100, "epochs": 50, "dim": 150,
    "use_capitals": True,
    # The paper truncates nothing; this is the limit of n-gram ids.
    "max_chars": 10_000,
}  # fmt: skip

_U_AVERAGE: Settings = {**_PAIRS, **_ADAGRAD, "epochs": 10, "batch_size": 100, "l2_words": 1e-8}
_U_COMPOSED: Settings = {
    **_U_AVERAGE, "optimizer": "adam", "learning_rate": 0.0005, "l2_composition": 1e-6,
}  # fmt: skip
_S_PAIRS: Settings = {  # S 4.1; searched values as in footnote 4, the only ones it states
    **_PAIRS, **_ADAM, "epochs": 10, "batch_size": 100, "margin": 0.6, "l2_words": 1e-6,
}  # fmt: skip

_LABELS: Settings = {**_ADAM, "dense_l2": True, "epochs": 10, "dim": 300}
_U_LABELS: Settings = {  # U 4.4 and footnote 16
    **_LABELS, "batch_size": 25, "hidden_dim": 50, "l2_words": 1e-8, "l2_head": 1e-6,
}  # fmt: skip
_S_SIMILARITY: Settings = {**_LABELS, "batch_size": 32, "l2_words": 1e-6}  # S 4.2
_FROZEN: Settings = {**_ADAM, "epochs": 20, "l2_head": 1e-6}  # U 4.4.2

_PAPER: dict[str, dict[str, Settings]] = {
    "words": dict.fromkeys(("charagram", "char_cnn", "char_lstm"), _C_WORDS),
    "sentences": {
        "charagram": _C_SENTENCES,
        "char_cnn": _C_CURRICULUM,
        "char_lstm": _C_CURRICULUM,
        "word_average": _U_AVERAGE,
        **dict.fromkeys(("projection", "dan", "rnn", "lstm"), _U_COMPOSED),
        # Both are in its grid; without them its loss overflowed (research/results.md).
        "identity_rnn": {**_U_COMPOSED, "l2_composition": 10.0, "clip_norm": 1.0},
        "cse": _S_PAIRS,
    },
    "pos": dict.fromkeys(("charagram", "char_cnn", "char_lstm"), _C_POS),
}
_U_ENCODERS = ("word_average", "projection", "dan", "rnn", "lstm")
_PAIR_TASKS = ("words", "sentences")
_LABEL_TASKS = ("similarity", "entailment", "sentiment")

_FINE_TUNE: Settings = {
    "epochs": 3, "learning_rate": 0.0005, "decay": "linear", "l2": 1e-5,
}  # fmt: skip


def _labels(task: str, encoder: str, has_init: bool, freeze: bool) -> Settings | None:
    """Returns the settings of a task with labels; `None` if no paper has that encoder."""
    if task == "similarity" and encoder == "cse":
        settings = dict(_S_SIMILARITY)
    elif encoder in _U_ENCODERS:
        settings = dict(_U_LABELS)
        if encoder != "word_average":
            settings["l2_composition"] = 1e-6
    else:
        return None
    if freeze:
        return dict(_FROZEN)
    if has_init and encoder != "word_average":
        settings["pull_back"] = True  # U 4.4.1, S 4.2
    return settings


def _paper(task: str, encoder: str, has_init: bool, freeze: bool) -> Settings:
    if task in _LABEL_TASKS:
        settings = _labels(task, encoder, has_init, freeze)
    else:
        settings = _PAPER.get(task, {}).get(encoder)
    if settings is None:
        raise ConfigError(
            f"The papers do not train the encoder '{encoder}' on {task}: leave --preset paper out. "
            "research/deviations.md lists their models."
        )
    return settings


def _fine_tune(task: str, has_init: bool) -> Settings:
    if task not in _PAIR_TASKS:
        raise ConfigError(
            f"--preset fine-tune is for {' and '.join(_PAIR_TASKS)}. Received: --task {task}"
        )
    if not has_init:
        raise ConfigError("--preset fine-tune starts from a model: give --init, such as english.")
    return dict(_FINE_TUNE)


def preset_settings(
    name: str, task: str, encoder: str, *, has_init: bool = False, freeze: bool = False
) -> Settings:
    """Returns the settings of a preset.

    Args:
        name: `paper` or `fine-tune`.
        task: Name of the task.
        encoder: Name of the encoder.
        has_init: Whether training starts from a model.
        freeze: Whether only a head is trained on top of that model.

    Raises:
        ConfigError: There is no such preset, or none for the task and encoder.

    Example:
        >>> preset_settings("paper", "pos", "charagram")["learning_rate"]
        0.2
    """
    if name == "paper":
        return _paper(task, encoder, has_init, freeze)
    if name == "fine-tune":
        return _fine_tune(task, has_init)
    raise ConfigError(unknown_name("preset", name, ("paper", "fine-tune")))


def check_init(init: str | Path, out: str | Path | None) -> None:
    """Checks that a second stage does not write over the first.

    Args:
        init: Run or model folder to start from.
        out: Folder of the new run, or `None` for one with a new name.

    Raises:
        ConfigError: The model to start from lies in the folder of the new run.
    """
    if out is None:
        return
    first, second = Path(init).resolve(), Path(out).resolve()
    if first.is_relative_to(second) or second.is_relative_to(first / "model"):
        raise ConfigError(
            "`init` must not lie in `out`, because the model there would be overwritten. Give "
            "another --out; to go on with a run that was stopped, use --resume. Received: "
            f"init={init}, out={out}"
        )


def inherited_settings(init: str | Path) -> dict[str, Any]:
    """Returns the settings that a saved model decides, as a run has them.

    They are the encoder, its options except those for training only, its width, and how texts
    become ids.

    Raises:
        RunError: The folder holds no model, or a damaged one.
    """
    saved = read_config(init)
    vectorizer, encoder = saved["vectorizer"], saved["encoder"]["config"]
    name = saved["encoder"]["name"]
    cls = options_class(name)
    options = make_options(name, {n: encoder[n] for n in types_of(cls) if n in encoder})
    settings = {"encoder": name, "dim": encoder["dim"]}
    settings |= {n: getattr(options, n) for n in types_of(cls) if n not in cls.training_only}
    settings |= {n: vectorizer[n] for n in _OF_TEXT if n in vectorizer}
    if "lowercase" in vectorizer:
        settings["use_capitals"] = vectorizer["lowercase"]
    if "orders" in vectorizer:
        settings["ngrams"] = tuple(vectorizer["orders"])
    return settings


def check_start(config: RunConfig) -> None:
    """Checks that a run reads texts as the model it starts from does, and has its encoder.

    Raises:
        RunError: The folder of `config.init` holds no model, or a damaged one.
        ConfigError: Settings differ, each is named with the flag to give; or `config.init` lies in
            `config.out`.
    """
    if config.init is None:
        return
    check_init(config.init, config.out)
    own = config.to_dict()
    saved = inherited_settings(config.init)
    differing = {name: value for name, value in saved.items() if own.get(name, value) != value}
    if differing:
        if "encoder" in differing:
            differing = {"encoder": differing["encoder"]}
        raise other_settings(config.init, differing, own)


def other_settings(
    init: str | Path, saved: Mapping[str, Any], received: Mapping[str, Any]
) -> ConfigError:
    """Returns the error for settings that are not those of the model a run starts from."""
    named = [f"{_flag(name, value)} (received: {_text(received[name])})"
             for name, value in saved.items()]  # fmt: skip
    return ConfigError(
        f"{init} was trained with other settings. To start from it, give {', '.join(named)}."
    )


def _flag(name: str, value: Any) -> str:
    """Returns the flag that gives a setting a value."""
    flag = f"--{name.replace('_', '-')}"
    if value is None:
        return f"no {flag}"
    if isinstance(value, bool):
        return flag if value else flag.replace("--", "--no-", 1)
    return f"{flag} {_text(value)}"


def _text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)

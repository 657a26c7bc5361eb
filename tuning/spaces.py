"""What can be searched: fields of `TrainConfig` and their values, for a task and an encoder.

Sources: C is Charagram (2016), appendix B and section 4.3; U is Towards Universal Paraphrastic
Sentence Embeddings (2016), section 4.2.1; S is CSE (2018), section 4.1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tf_charagram.errors import ConfigError

#: Field -> values. A grid goes through them in order, the last field fastest.
Space = dict[str, tuple[Any, ...]]

#: The value of `l2_words` that means: do not train the word vectors at all.
FROZEN = "frozen"

_C_WORDS: Space = {"batch_size": (25, 50), "negatives": ("max", "mix")}
_C_L2: Space = {"l2": (1e-4, 1e-5, 1e-6)}
_C_ENCODERS: dict[str, Space] = {
    "charagram": {"activation": ("tanh", "linear")},
    "char_cnn": {
        "activation": ("relu", "tanh"),
        "dense": ("tanh", "linear"),
        "filters": ("small", "kim"),
    },
    "char_lstm": {"use_output_gate": (True, False)},
}

_U: Space = {
    "l2_composition": (1e-3, 1e-4, 1e-5, 1e-6),
    "batch_size": (25, 50, 100),
    "l2_words": (1e-5, 1e-6, 1e-7, 1e-8),
    "margin": (0.4, 0.6, 0.8),
    "optimizer": ("adagrad", "adam"),
    "learning_rate": (0.05, 0.005, 0.0005),
    "clip_norm": (1.0, None),
    "negatives": ("mix", "max"),
}
_U_ENCODERS: dict[str, Space] = {
    "word_average": {},
    "projection": {},
    "dan": {"activation": ("tanh", "relu"), "num_layers": (1, 2)},
    "rnn": {"activation": ("tanh", "relu")},
    "identity_rnn": {"l2_composition": (1000.0, 100.0, 10.0, 1.0)},
    "lstm": {"use_output_gate": (True, False)},
}

_S_CSE: Space = {
    "margin": (0.4, 0.6, 0.8),
    "l2_words": (1e-4, 1e-5, 1e-6),
    "l2_composition": (1e-5, 1e-6, 1e-7, 0.0),
    "batch_size": (32, 64, 128, 256),
}

_WIDE: Space = {
    "dim": (100, 200, 300),
    "batch_size": (25, 50, 100, 200),
    "negatives": ("max", "mix", "random"),
    "margin": (0.2, 0.4, 0.6, 0.8),
    "optimizer": ("adam", "adagrad"),
    "learning_rate": (0.05, 0.005, 0.001, 0.0005),
    "decay": ("none", "linear"),
}
_WIDE_CHARACTERS: Space = {"l2": (0.0, 1e-6, 1e-5, 1e-4)}
_WIDE_WORDS: Space = {
    "l2_words": (0.0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4),
    "l2_composition": (0.0, 1e-6, 1e-5, 1e-4),
    "word_dropout": (0.0, 0.1, 0.3),
}
_WIDE_ENCODERS: dict[str, Space] = {
    # What ids depend on changes slowest, so that trials share them.
    "charagram": {
        "ngrams": ((2, 3, 4), (3, 4), (2, 3, 4, 5), (3, 4, 5, 6), (2, 3, 4, 5, 6)),
        "hash_buckets": (None, 2**16, 2**18, 2**20),
        **_WIDE,
        **_WIDE_CHARACTERS,
        "activation": ("linear", "tanh", "relu"),
        "num_layers": (1, 2),
    },
    "char_cnn": {
        **_WIDE,
        **_WIDE_CHARACTERS,
        **_C_ENCODERS["char_cnn"],
        "dense": ("tanh", "linear", "none"),
        "dropout": (0.0, 0.2),
    },
    "char_lstm": {
        **_WIDE,
        **_WIDE_CHARACTERS,
        "use_output_gate": (True, False),
        "use_peepholes": (True, False),
    },
    **{name: {**_WIDE, **_WIDE_WORDS, **own} for name, own in _U_ENCODERS.items()},
    "identity_rnn": {
        **_WIDE,
        **_WIDE_WORDS,
        "l2_composition": _U_ENCODERS["identity_rnn"]["l2_composition"],
    },
    "cse": {**_WIDE, **_WIDE_WORDS, "activation": ("linear", "tanh")},
    "gran": {**_WIDE, **_WIDE_WORDS, "use_output_gate": (True, False)},
}


def paper_space(task: str, encoder: str, *, has_vectors: bool = False) -> Space:
    """Returns the papers' grid, whole and in their order.

    For words that of C: 24 trials for `charagram`, 96 for `char_cnn`, 24 for `char_lstm`. For
    sentences that of C for these, where batch size and negatives are fixed, that of U for
    `word_average` to `lstm`, and that of S for `cse`. The dropout that S tries in its second stage
    has no values there; `wide` has some.

    Args:
        task: `"words"` or `"sentences"`.
        encoder: Name of the encoder.
        has_vectors: Whether there are pretrained word vectors, which U also keeps as they are.

    Raises:
        ConfigError: The papers tuned no such encoder for this task.
    """
    if encoder in _C_ENCODERS:
        is_words = task == "words"
        return {**(_C_WORDS if is_words else {}), **_C_L2, **_C_ENCODERS[encoder]}
    if task == "sentences" and encoder in _U_ENCODERS:
        return _for_words({**_U, **_U_ENCODERS[encoder]}, encoder, has_vectors)
    if task == "sentences" and encoder == "cse":
        return dict(_S_CSE)
    raise ConfigError(
        f"The papers have no grid for the encoder '{encoder}' on {task}. Search --space wide."
    )


def wide_space(task: str, encoder: str, *, has_vectors: bool = False) -> Space:
    """Returns more than the papers tried; meant for other tuners than the grid.

    The arguments are those of `paper_space`; the task makes no difference.
    """
    return _for_words(_WIDE_ENCODERS[encoder], encoder, has_vectors)


#: The spaces by name.
SPACES = {"paper": paper_space, "wide": wide_space}


def _for_words(space: Space, encoder: str, has_vectors: bool) -> Space:
    """Returns a space without what an encoder over words cannot vary."""
    space = dict(space)
    if encoder == "word_average":
        # All its weights are word vectors: nothing is left to compose, or to train if frozen.
        space.pop("l2_composition", None)
    elif has_vectors and "l2_words" in space:
        space["l2_words"] = (*space["l2_words"], FROZEN)
    if has_vectors:
        space.pop("dim", None)
    return space


def num_combinations(space: Space) -> int:
    """Returns the size of the grid."""
    return math.prod(map(len, space.values()))


def combination(space: Space, index: int) -> dict[str, Any]:
    """Returns one point of the grid, field -> value.

    Args:
        space: The space.
        index: Its place in the order of the grid, from 0.
    """
    values = {}
    for name, choices in reversed(space.items()):
        index, place = divmod(index, len(choices))
        values[name] = choices[place]
    return {name: values[name] for name in space}


def settings_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields of `TrainConfig` that a combination stands for."""
    if values.get("l2_words") == FROZEN:
        return {**values, "l2_words": 0.0, "freeze_words": True}
    return dict(values)


def label(value: Any) -> str:
    """Returns a value as text: how KerasTuner and the tables know it."""
    if isinstance(value, tuple | list):
        return ",".join(map(str, value))
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else str(value)

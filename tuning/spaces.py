"""Search spaces: settings of a task and their values, for a task and an encoder."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

from tf_charagram.encoders import ENCODERS, options_class, vectorizer_of
from tf_charagram.errors import ConfigError
from tf_charagram.settings import choices_of, types_of
from tf_charagram.tasks import settings_class
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.tasks.supervised_settings import SupervisedConfig
from tf_charagram.tuning import grids
from tf_charagram.tuning.grids import Space

#: Value of `l2_words` for word vectors that are not trained.
FROZEN = "frozen"

# Separates the names of fields that vary together.
_TIE = "+"
# Settings that `init` decides, besides most encoder options.
_OF_MODEL = ("dim", "ngrams", "hash_buckets")
# Settings of the training of an encoder, besides some of its options.
_OF_TRAINING = ("l2", "l2_words", "l2_composition", "pull_back")


def paper_space(
    task: str,
    encoder: str,
    *,
    has_vectors: bool = False,
    has_init: bool = False,
    freeze: bool = False,
) -> Space:
    """Returns the papers' grid.

    Words and sentences have that of Charagram for its encoders, sentences that of Universal for
    `word_average` to `lstm` and that of CSE for `cse`. Tags have that of Charagram, labels that of
    Universal, also with encoders that it does not have.

    Args:
        task: Name of the task.
        encoder: Name of the encoder.
        has_vectors: Whether there are pretrained word vectors, which may stay untrained.
        has_init: Whether training starts from a model, whose settings are not searched.
        freeze: Whether only a head is trained.

    Raises:
        ConfigError: The papers have no grid for the encoder on this task.
    """
    _check_pos(task, encoder)
    space: Space
    if encoder == "cse" and task == "sentences":
        return dict(grids.S_PAIRS)
    if encoder == "cse" and task == "similarity" and not freeze:
        return {**grids.S_SIMILARITY, **({"pull_back": (True,)} if has_init else {})}
    if task == "pos" and encoder in grids.C_POS:
        space = grids.C_POS[encoder]
    elif _is_supervised(task) and freeze:
        space = grids.U_FEATURES
    elif _is_supervised(task) and encoder in grids.LABEL_ENCODERS:
        base = grids.U_UNIVERSAL if has_init else grids.U_LABELS
        space = {**base, **grids.LABEL_ENCODERS[encoder]}
    elif issubclass(settings_class(task), ParaphraseConfig) and encoder in grids.C_ENCODERS:
        is_words = task == "words"
        space = {
            **(grids.C_WORDS if is_words else {}), **grids.C_L2, **grids.C_ENCODERS[encoder],
        }  # fmt: skip
    elif task == "sentences" and encoder in grids.U_ENCODERS:
        space = {**grids.U_PAIRS, **grids.U_ENCODERS[encoder]}
    else:
        raise ConfigError(
            f"The papers have no grid for the encoder '{encoder}' on {task}. Search --space wide."
        )
    return _fitting(space, encoder, has_vectors, has_init, freeze)


def wide_space(
    task: str,
    encoder: str,
    *,
    has_vectors: bool = False,
    has_init: bool = False,
    freeze: bool = False,
) -> Space:
    """Returns a space beyond the papers, for other tuners than the grid; arguments as above.

    Of the options of the encoder, it has those with choices and those in `grids.WIDE_NUMBERS`.

    Raises:
        ConfigError: The encoder does not fit the task.
    """
    _check_pos(task, encoder)
    ids, own = grids.WIDE_IDS, grids.WIDE_PAIRS
    if task == "pos":
        ids, own = grids.WIDE_POS_IDS, grids.WIDE_POS
    elif task == "distill":
        own = grids.WIDE_DISTILL
    elif _is_supervised(task):
        own = grids.WIDE_LABELS
    units = vectorizer_of(encoder)
    space = {
        **(ids if units == "ngrams" else {}),
        **own,
        **grids.WIDE_PENALTIES[units],
        **_wide_options(encoder),
        **grids.WIDE_ENCODERS.get(encoder, {}),
    }
    if has_init and _is_supervised(task):
        space = {**without(space, ["l2"]), **grids.WIDE_UNIVERSAL}
    return _fitting(space, encoder, has_vectors, has_init, freeze)


#: The spaces by name.
SPACES: dict[str, Callable[..., Space]] = {
    "paper": paper_space,
    "wide": wide_space,
}


def _is_supervised(task: str) -> bool:
    return issubclass(settings_class(task), SupervisedConfig)


def _wide_options(encoder: str) -> Space:
    """Returns the options of an encoder with choices."""
    values = {
        name: choices_of(kind) or grids.WIDE_NUMBERS.get(name, ())
        for name, kind in types_of(options_class(encoder)).items()
    }
    left_out = grids.NOT_WIDE.get(encoder, ())
    return {name: choices for name, choices in values.items() if choices and name not in left_out}


def _check_pos(task: str, encoder: str) -> None:
    if task == "pos" and vectorizer_of(encoder) == "words":
        names = [name for name in ENCODERS if vectorizer_of(name) != "words"]
        raise ConfigError(
            "The task 'pos' composes words from characters: choose the encoder "
            f"{', '.join(names)}. Received: encoder={encoder}"
        )


def _fitting(space: Space, encoder: str, has_vectors: bool, has_init: bool, freeze: bool) -> Space:
    """Returns a space without fields that cannot vary."""
    options = options_class(encoder)
    left_out: set[str] = set()
    if has_init:
        left_out.update(_OF_MODEL, types_of(options).keys() - set(options.training_only))
    if freeze:
        left_out.update(_OF_TRAINING, options.training_only)
    if has_vectors:
        left_out.add("dim")
    if vectorizer_of(encoder) != "words":
        left_out.add("l2_words")
    if encoder == "word_average":
        # All its weights are word vectors.
        left_out.update(("l2_composition", "pull_back"))
    space = without(space, left_out)
    must_train = encoder == "word_average" or "pull_back" in space
    if has_vectors and not must_train and "l2_words" in space:
        space["l2_words"] = (*space["l2_words"], FROZEN)
    return space


def without(space: Space, names: Collection[str]) -> Space:
    """Returns a space without some fields; fields tied to them remain."""
    result: Space = {}
    for name, choices in space.items():
        fields = name.split(_TIE)
        left = [place for place, field in enumerate(fields) if field not in names]
        if len(left) == len(fields):
            result[name] = choices
        for place in left if len(left) < len(fields) else ():
            result[fields[place]] = tuple(dict.fromkeys(choice[place] for choice in choices))
    return result


def num_combinations(space: Space) -> int:
    """Returns the number of combinations."""
    return math.prod(map(len, space.values()))


def combination(space: Space, index: int) -> dict[str, Any]:
    """Returns a point of the grid, field -> value; the last field varies fastest."""
    values = {}
    for name, choices in reversed(space.items()):
        index, place = divmod(index, len(choices))
        values[name] = choices[place]
    return {name: values[name] for name in space}


def settings_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings of a combination."""
    settings: dict[str, Any] = {}
    for name, value in values.items():
        fields = name.split(_TIE)
        settings.update(zip(fields, value if len(fields) > 1 else (value,), strict=True))
    if settings.get("l2_words") == FROZEN:
        settings |= {"l2_words": 0.0, "freeze_words": True}
    return settings


def label(value: Any) -> str:
    """Returns a value as text, for tables and for KerasTuner."""
    if isinstance(value, tuple | list):
        return ",".join(map(str, value))
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else str(value)

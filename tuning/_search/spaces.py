"""Search spaces: the settings that trials vary, and their values."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from tf_charagram.encoders import options_class, vectorizer_of
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.settings import choices_of, types_of
from tf_charagram.tasks.distillation.settings import DistillConfig
from tf_charagram.tasks.labels.settings import SupervisedConfig
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.training.settings import RunConfig
from tf_charagram.tuning._search import grids
from tf_charagram.tuning._search.grids import Space

_TIE = "+"
# Settings that `init` decides, besides most encoder options.
_OF_MODEL = ("dim", "ngrams", "hash_buckets")
# Settings of the training of an encoder, besides some of its options.
_OF_TRAINING = ("l2", "l2_words", "l2_composition", "pull_back")
# Encoders whose word vectors are always trained: a word average has nothing else to train, and the
# grid of CSE trains its words.
_TRAINS_WORDS = ("word_average", "cse")


def search_space(
    space: str | Mapping[str, Sequence[Any]], config: RunConfig, fixed: Collection[str] = ()
) -> Space:
    """Returns the settings that trials vary, and their values.

    Args:
        space: `"paper"`, `"wide"`, or setting -> values.
        config: Settings that the trials share.
        fixed: Names of settings that are not searched.

    Raises:
        ConfigError: The space is unknown, is not in the papers, or leaves nothing to search.
    """
    found: Space
    if space == "paper":
        found = _fitting(_paper_space(config), config)
    elif space == "wide":
        found = _fitting(_wide_space(config), config)
    elif isinstance(space, str):
        raise ConfigError(unknown_name("space", space, ("paper", "wide")))
    elif isinstance(space, Mapping):
        found = {name: _choices(name, choices) for name, choices in space.items()}
    else:
        raise ConfigError(
            f"`space` must be paper, wide, or a mapping of settings to values. Received: {space!r}"
        )
    # A setting without effect would train equal models.
    found = without(found, {*fixed, *_without_effect(config, fixed)})
    if not found:
        raise ConfigError(
            "There is nothing to search: every field is fixed by a flag or by --init."
        )
    return found


def _choices(name: str, choices: Any) -> tuple[Any, ...]:
    is_list = isinstance(choices, Sequence) and not isinstance(choices, str)
    if not is_list or not choices:
        raise ConfigError(
            f"`space` must have a list of values for each setting. Received: {name}={choices!r}"
        )
    return tuple(choices)


def _paper_space(config: RunConfig) -> Space:
    """Returns the papers' grid.

    On words and sentences, Charagram's encoders have Charagram's grid. On sentences, `word_average`
    to `lstm` have Universal's grid and `cse` the grid of CSE. Tags have Charagram's grid. Labels
    have Universal's grid, even with encoders of other papers.

    Raises:
        ConfigError: The papers have no grid for the encoder on this task.
    """
    task = config.task
    encoder = config.encoder
    has_init = config.init is not None
    is_frozen = config.freeze == "encoder"
    if encoder == "cse" and task == "sentences":
        return grids.S_PAIRS
    if encoder == "cse" and task == "similarity" and not is_frozen:
        if has_init:
            return {**grids.S_SIMILARITY, "pull_back": (True,)}
        return grids.S_SIMILARITY
    if task == "pos" and encoder in grids.C_POS:
        return grids.C_POS[encoder]
    if is_frozen:
        return grids.U_FEATURES
    if isinstance(config, SupervisedConfig):
        base = grids.U_UNIVERSAL if has_init else grids.U_LABELS
        return {**base, **grids.LABEL_ENCODERS.get(encoder, {})}
    if isinstance(config, ParaphraseConfig) and encoder in grids.C_ENCODERS:
        words = grids.C_WORDS if task == "words" else {}
        return {**words, **grids.C_L2, **grids.C_ENCODERS[encoder]}
    if task == "sentences" and encoder in grids.U_ENCODERS:
        return {**grids.U_PAIRS, **grids.U_ENCODERS[encoder]}
    raise ConfigError(
        f"The papers have no grid for the encoder '{encoder}' on {task}. Search --space wide."
    )


def _wide_space(config: RunConfig) -> Space:
    """Returns a space beyond the papers, for other tuners than the grid.

    It has all options of the encoder with a list of choices, some of its other options, and what
    the loss of pairs names.
    """
    options = dict(types_of(options_class(config.encoder)))
    space = {**grids.WIDE, **grids.WIDE_OF_TASK.get(config.task, {})}
    if isinstance(config, ParaphraseConfig):
        space |= config.loss_options.wide
        options |= types_of(type(config.loss_options))
    for name, kind in options.items():
        choices = choices_of(kind)
        if choices:
            space[name] = choices
    known = types_of(type(config)).keys() | options.keys()
    left_out = _not_in_wide(config)
    return {name: space[name] for name in space if name in known and name not in left_out}


def _not_in_wide(config: RunConfig) -> set[str]:
    """Returns the settings of the wide space that a task or encoder does not use."""
    has_init = config.init is not None
    units = vectorizer_of(config.encoder)
    left_out = set()
    # Penalties are either one for all weights, or one for words and one for their composition.
    if units == "words" or (has_init and isinstance(config, SupervisedConfig)):
        left_out.add("l2")
    else:
        left_out.update(("l2_words", "l2_composition"))
    if units != "ngrams":
        left_out.update(("ngrams", "hash_buckets"))
    if not has_init:
        left_out.add("pull_back")
    return left_out


def _fitting(space: Space, config: RunConfig) -> Space:
    """Returns a space without settings that cannot vary, and with untrained word vectors."""
    has_vectors = config.word_vectors is not None
    space = without(space, _decided(config))
    can_stay = has_vectors and config.encoder not in _TRAINS_WORDS and "pull_back" not in space
    if can_stay and "l2_words" in space:
        # Pretrained word vectors can stay as they are.
        choices: list[tuple[float, str | None]] = [(value, None) for value in space["l2_words"]]
        choices.append((0.0, "words"))
        space = without(space, ["l2_words"])
        space[f"l2_words{_TIE}freeze"] = tuple(choices)
    return space


def _decided(config: RunConfig) -> set[str]:
    """Returns the settings that others decide."""
    options = options_class(config.encoder)
    decided: set[str] = set()
    if config.init is not None:
        decided.update(_OF_MODEL)
        decided.update(types_of(options).keys() - set(options.training_only))
    if config.freeze == "encoder":
        decided.update(_OF_TRAINING)
        decided.update(options.training_only)
    if config.word_vectors is not None:
        decided.add("dim")
    if vectorizer_of(config.encoder) != "words":
        decided.add("l2_words")
    if config.encoder == "word_average":
        # All its weights are word vectors.
        decided.update(("l2_composition", "pull_back"))
    return decided


def _without_effect(config: RunConfig, fixed: Collection[str]) -> Iterator[str]:
    """Yields settings without effect given those that are fixed."""
    if config.freeze == "words":
        yield "l2_words"
    if "l2_words" in fixed:
        yield "freeze"
    if {"min_count", "max_per_order"} & set(fixed):
        yield "hash_buckets"
    if isinstance(config, DistillConfig) and not config.pairs:
        yield from ("pairs_weight", "margin")


def without(space: Space, names: Collection[str]) -> Space:
    """Returns a space without some settings; settings tied to them remain."""
    result: Space = {}
    for name, choices in space.items():
        fields = fields_of(name)
        if not set(fields) & set(names):
            result[name] = choices
            continue
        for place, field in enumerate(fields):
            if field not in names:
                # Several pairs can have the same second value.
                values = [choice[place] for choice in choices]
                result[field] = tuple(dict.fromkeys(values))
    return result


def num_combinations(space: Space) -> int:
    """Returns the number of combinations."""
    return math.prod(map(len, space.values()))


def fields_of(name: str) -> list[str]:
    """Splits the name of an entry of a space into its settings; the first names it elsewhere."""
    return name.split(_TIE)


def settings_of(name: str, choice: Any) -> dict[str, Any]:
    """Returns the settings of a choice of an entry of a space."""
    fields = fields_of(name)
    if len(fields) == 1:
        return {name: choice}
    return dict(zip(fields, choice, strict=True))


def tuner_values(name: str, choices: Sequence[Any]) -> list[Any]:
    """Returns the value of each choice in KerasTuner: a number if possible, else a text.

    Choices of several settings have the value of the first; `None` among numbers is 0.

    Examples:
        >>> tuner_values("clip_norm", (1.0, None)), tuner_values("ngrams", ((2, 3), (3, 4)))
        ([1.0, 0.0], ['2,3', '3,4'])
        >>> tuner_values("optimizer+learning_rate", (("adagrad", 0.05), ("adam", 0.001)))
        ['adagrad', 'adam']
    """
    if _TIE in name:
        firsts = [choice[0] for choice in choices]
        # Only if the first value tells the choices apart.
        if len(set(firsts)) == len(choices):
            choices = firsts
    kinds = {type(choice) for choice in choices if choice is not None}
    # KerasTuner's model of scores needs numbers, to know which values are near.
    if kinds == {bool} or kinds == {int}:
        return [int(choice or 0) for choice in choices]
    if kinds <= {int, float}:
        return [float(choice or 0) for choice in choices]
    return [label(choice) for choice in choices]


def label(value: Any) -> str:
    """Returns a value as text, for tables and for KerasTuner."""
    if isinstance(value, tuple | list):
        return ",".join(map(str, value))
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else str(value)

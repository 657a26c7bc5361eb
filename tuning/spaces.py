"""Search spaces: the settings that trials vary, and their values."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from tf_charagram.encoders import options_class, vectorizer_of
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.settings import choices_of, types_of
from tf_charagram.tasks.distillation.settings import DistillConfig
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.tasks.supervised_settings import SupervisedConfig
from tf_charagram.training.settings import RunConfig
from tf_charagram.tuning import grids
from tf_charagram.tuning.grids import Space

_TIE = "+"
# Settings that `init` decides, besides most encoder options.
_OF_MODEL = ("dim", "ngrams", "hash_buckets")
# Settings of the training of an encoder, besides some of its options.
_OF_TRAINING = ("l2", "l2_words", "l2_composition", "pull_back")
# A word average has nothing else to train; the grid of CSE trains its words.
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
        found = _fitting(paper_space(config), config)
    elif space == "wide":
        found = _fitting(wide_space(config), config)
    elif isinstance(space, str):
        raise ConfigError(unknown_name("space", space, ("paper", "wide")))
    else:
        found = {name: tuple(choices) for name, choices in space.items()}
    found = without(found, {*fixed, *_without_effect(config, fixed)})
    if not found:
        raise ConfigError(
            "There is nothing to search: every field is fixed by a flag or by --init."
        )
    return found


def paper_space(config: RunConfig) -> Space:
    """Returns the papers' grid.

    Words and sentences have that of Charagram for its encoders, sentences that of Universal for
    `word_average` to `lstm` and that of CSE for `cse`. Tags have that of Charagram, labels that of
    Universal, also with encoders that it does not have.

    Raises:
        ConfigError: The papers have no grid for the encoder on this task.
    """
    task, encoder, has_init = config.task, config.encoder, config.init is not None
    freeze = getattr(config, "freeze", False)
    if encoder == "cse" and task == "sentences":
        return grids.S_PAIRS
    if encoder == "cse" and task == "similarity" and not freeze:
        return {**grids.S_SIMILARITY, **({"pull_back": (True,)} if has_init else {})}
    if task == "pos" and encoder in grids.C_POS:
        return grids.C_POS[encoder]
    if freeze:
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


def wide_space(config: RunConfig) -> Space:
    """Returns a space beyond the papers, for other tuners than the grid.

    Of the options of the encoder, it has all with choices and some of the others.
    """
    options = types_of(options_class(config.encoder))
    units, has_init = vectorizer_of(config.encoder), config.init is not None
    left_out = {"l2_words", "l2_composition"}
    if units == "words" or (has_init and isinstance(config, SupervisedConfig)):
        left_out = {"l2"}
    if units != "ngrams":
        left_out |= {"ngrams", "hash_buckets"}
    if not has_init:
        left_out.add("pull_back")
    known = types_of(type(config)).keys() | options.keys()
    space = {
        **grids.WIDE,
        **grids.WIDE_OF_TASK.get(config.task, {}),
        **{name: choices for name, kind in options.items() if (choices := choices_of(kind))},
    }
    return {name: space[name] for name in space if name in known - left_out}


def _fitting(space: Space, config: RunConfig) -> Space:
    """Returns a space without settings that cannot vary, and with untrained word vectors."""
    options = options_class(config.encoder)
    has_vectors = config.word_vectors is not None
    left_out: set[str] = set()
    if config.init is not None:
        left_out.update(_OF_MODEL, types_of(options).keys() - set(options.training_only))
    if getattr(config, "freeze", False):
        left_out.update(_OF_TRAINING, options.training_only)
    if has_vectors:
        left_out.add("dim")
    if vectorizer_of(config.encoder) != "words":
        left_out.add("l2_words")
    if config.encoder == "word_average":
        # All its weights are word vectors.
        left_out.update(("l2_composition", "pull_back"))
    space = without(space, left_out)
    can_stay = has_vectors and config.encoder not in _TRAINS_WORDS and "pull_back" not in space
    if can_stay and "l2_words" in space:
        pulls = [(choice, False) for choice in space["l2_words"]]
        space = without(space, ["l2_words"])
        # Pretrained word vectors can stay as they are.
        space[f"l2_words{_TIE}freeze_words"] = (*pulls, (0.0, True))
    return space


def _without_effect(config: RunConfig, fixed: Collection[str]) -> Iterator[str]:
    """Yields settings without effect given those that are fixed."""
    if config.freeze_words:
        yield "l2_words"
    if "l2_words" in fixed:
        yield "freeze_words"
    if {"min_count", "max_per_order"} & set(fixed):
        yield "hash_buckets"
    if isinstance(config, DistillConfig) and not config.pairs:
        yield from ("pair_batch_size", "pairs_weight", "margin")


def without(space: Space, names: Collection[str]) -> Space:
    """Returns a space without some settings; settings tied to them remain."""
    result: Space = {}
    for name, choices in space.items():
        fields = fields_of(name)
        left = [place for place, field in enumerate(fields) if field not in names]
        if len(left) == len(fields):
            result[name] = choices
        for place in left if len(left) < len(fields) else ():
            result[fields[place]] = tuple(dict.fromkeys(choice[place] for choice in choices))
    return result


def num_combinations(space: Space) -> int:
    """Returns the number of combinations."""
    return math.prod(map(len, space.values()))


def fields_of(name: str) -> list[str]:
    """Returns the settings that an entry of a space varies, of which the first names it."""
    return name.split(_TIE)


def settings_of(name: str, choice: Any) -> dict[str, Any]:
    """Returns the settings of a choice of an entry of a space."""
    fields = fields_of(name)
    return dict(zip(fields, choice if len(fields) > 1 else (choice,), strict=True))


def tuner_values(name: str, choices: Sequence[Any]) -> list[Any]:
    """Returns the value of each choice in KerasTuner: a number if possible, else a text.

    Choices of several settings have the value of the first; `None` among numbers is 0.

    Example:
        >>> tuner_values("clip_norm", (1.0, None)), tuner_values("ngrams", ((2, 3), (3, 4)))
        ([1.0, 0.0], ['2,3', '3,4'])
        >>> tuner_values("optimizer+learning_rate", (("adagrad", 0.05), ("adam", 0.001)))
        ['adagrad', 'adam']
    """
    if _TIE in name and len({choice[0] for choice in choices}) == len(choices):
        choices = [choice[0] for choice in choices]
    kinds = {type(choice) for choice in choices if choice is not None}
    if kinds == {bool} or kinds == {int}:
        return [int(choice or 0) for choice in choices]
    if kinds <= {int, float}:
        return [float(choice or 0) for choice in choices]
    return list(map(label, choices))


def label(value: Any) -> str:
    """Returns a value as text, for tables and for KerasTuner."""
    if isinstance(value, tuple | list):
        return ",".join(map(str, value))
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else str(value)

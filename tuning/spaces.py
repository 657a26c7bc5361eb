"""What can be searched: fields of a task's settings and their values, for a task and an encoder."""

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

#: The value of `l2_words` that means: do not train the word vectors at all.
FROZEN = "frozen"

#: Between the names of fields that vary together.
_TIE = "+"
#: What a model has and a run that goes on from it cannot choose, besides most encoder options.
_OF_MODEL = ("dim", "ngrams", "hash_buckets")
#: What is about the training of an encoder, besides some of its options.
_OF_TRAINING = ("l2", "l2_words", "l2_composition", "pull_back")


def paper_space(
    task: str,
    encoder: str,
    *,
    has_vectors: bool = False,
    has_init: bool = False,
    freeze: bool = False,
) -> Space:
    """Returns the papers' grid, whole and in their order.

    For words that of C: 24 trials for `charagram`, 96 for `char_cnn`, 24 for `char_lstm`. For
    sentences that of C for these, where batch size and negatives are fixed, that of U for
    `word_average` to `lstm`, and that of S for `cse`. The dropout that S tries in its second stage
    has no values there; `wide` has some. For tags that of C, 12, 8 and 2 trials. For labels that
    of U, also for encoders that it does not have, but that of S for the similarity of `cse`.
    Smaller grids that the papers have besides are spaces of their own.

    Args:
        task: One of the tasks of `train`.
        encoder: Name of the encoder.
        has_vectors: Whether there are pretrained word vectors, which U also keeps as they are.
        has_init: Whether training goes on from a model; what that model decides is not searched.
        freeze: Whether only a head is trained on top of it.

    Raises:
        ConfigError: The papers tuned no such encoder for this task.
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
    """Returns more than the papers tried; meant for other tuners than the grid.

    Of the options of the encoder, it has those with a choice and those in `grids.WIDE_NUMBERS`. The
    arguments are those of `paper_space`.

    Raises:
        ConfigError: The encoder cannot be trained for this task.
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


def charagram_space(task: str, encoder: str, **options: bool) -> Space:
    """Returns all that C tuned itself.

    It is the grid of `paper_space` for its encoders, but on words and sentences `charagram` varies
    its vocabulary too (sections 4.1.2 and 4.4), and the average of words has 4 trials (section
    4.1.4). The arguments are those of `paper_space`.

    Raises:
        ConfigError: C tuned no such encoder for this task.
    """
    if (task, encoder) == ("sentences", "word_average"):
        return _fitting_pairs(grids.C_AVERAGE, encoder, **options)
    if encoder not in grids.C_ENCODERS or task not in ("words", "sentences", "pos"):
        raise _no_grid("charagram", task, encoder)
    space = paper_space(task, encoder, **options)
    if encoder == "charagram" and task != "pos":
        # First, so that trials in a row share their ids.
        space = {**grids.C_COUNTS, **space}
    return space


def xxl_space(task: str, encoder: str, **options: bool) -> Space:
    """Returns the 6 trials of PARAGRAM-PHRASE XXL (U, footnote 12); see `paper_space`.

    Raises:
        ConfigError: It is another encoder or task.
    """
    if (task, encoder) != ("sentences", "word_average"):
        raise _no_grid("paragram-xxl", task, encoder)
    return _fitting_pairs(grids.U_XXL, encoder, **options)


def projection_space(task: str, encoder: str, **options: bool) -> Space:
    """Returns the trials of projections to more dimensions (U, footnote 18); see `paper_space`.

    They are 300 with word vectors, which may stay as they are, and 240 without.

    Raises:
        ConfigError: It is another encoder or task.
    """
    if (task, encoder) != ("sentences", "projection"):
        raise _no_grid("projection", task, encoder)
    return _fitting_pairs(grids.U_PROJECTION, encoder, **options)


#: The spaces by name.
SPACES: dict[str, Callable[..., Space]] = {
    "paper": paper_space,
    "charagram": charagram_space,
    "paragram-xxl": xxl_space,
    "projection": projection_space,
    "wide": wide_space,
}


def _no_grid(space: str, task: str, encoder: str) -> ConfigError:
    return ConfigError(
        f"The space '{space}' has nothing for the encoder '{encoder}' on {task}; docs/tuning.md "
        "says what it is for. Search --space paper or wide."
    )


def _fitting_pairs(
    space: Space,
    encoder: str,
    *,
    has_vectors: bool = False,
    has_init: bool = False,
    freeze: bool = False,
) -> Space:
    return _fitting(space, encoder, has_vectors, has_init, freeze)


def _is_supervised(task: str) -> bool:
    return issubclass(settings_class(task), SupervisedConfig)


def _wide_options(encoder: str) -> Space:
    """Returns the options of an encoder whose values are known, in their order."""
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
    """Returns a space without what cannot be varied."""
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
        # All its weights are word vectors: nothing is left to compose, or to train if frozen.
        left_out.update(("l2_composition", "pull_back"))
    space = without(space, left_out)
    # Word vectors that are pulled back are trained.
    must_train = encoder == "word_average" or "pull_back" in space
    if has_vectors and not must_train and "l2_words" in space:
        space["l2_words"] = (*space["l2_words"], FROZEN)
    return space


def without(space: Space, names: Collection[str]) -> Space:
    """Returns a space without some fields; one that was tied to one of them varies alone."""
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
    """Returns the fields of a task's settings that a combination stands for."""
    settings: dict[str, Any] = {}
    for name, value in values.items():
        fields = name.split(_TIE)
        settings.update(zip(fields, value if len(fields) > 1 else (value,), strict=True))
    if settings.get("l2_words") == FROZEN:
        settings |= {"l2_words": 0.0, "freeze_words": True}
    return settings


def label(value: Any) -> str:
    """Returns a value as text: how KerasTuner and the tables know it."""
    if isinstance(value, tuple | list):
        return ",".join(map(str, value))
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else str(value)

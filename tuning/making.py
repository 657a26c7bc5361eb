"""Makes a search out of settings, and checks what can be checked before it runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from tf_charagram.encoders import encoder_class
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.tasks import make_task, task_class
from tf_charagram.tasks.distillation.settings import DistillConfig
from tf_charagram.training.settings import LAST, RunConfig
from tf_charagram.tuning.config import TuneConfig
from tf_charagram.tuning.lengths import TrialLength, paper_length
from tf_charagram.tuning.search import Search
from tf_charagram.tuning.spaces import SPACES, without


def make_search(settings: TuneConfig, config: RunConfig, fixed: set[str]) -> Search:
    """Returns the search that settings describe; checks all that can be checked before it runs.

    Args:
        settings: How to search.
        config: What the trials share.
        fixed: Names of the fields that flags were given for.

    Raises:
        ConfigError: The encoder or the set to select by is unknown, or there is nothing to search.
        DataError: Pairs or sets cannot be read, or are missing.
        RunError: There is no model in `config.init`.
    """
    config = task_class(config.task).prepared(config)
    encoder_class(config.encoder)
    space = SPACES[settings.space](
        config.task,
        config.encoder,
        has_vectors=config.word_vectors is not None,
        has_init=config.init is not None,
        freeze=getattr(config, "freeze", False),
    )
    task = make_task(config)
    names = task.find_sets()
    if not names:
        raise ConfigError("A search needs --eval-data, and the set of --select in it.")
    if config.select == LAST:
        raise ConfigError(
            "A search needs --select, the set by whose scores it compares trials. Available: "
            f"{', '.join(names)}."
        )
    if config.select not in names:
        raise ConfigError(unknown_name("set for --select", config.select, names))
    if config.freeze_words:
        # Word vectors that are not trained cannot be pulled back.
        fixed = {*fixed, "l2_words"}
    fixed = {*fixed, *_without_effect(config, fixed)}
    length = _trial_length(settings, config, task.trial_epochs)
    share = 1.0 if length.examples is None else task.share_of(length.examples)
    config = dataclasses.replace(
        config, out=None, epochs=length.epochs, data=task.data_names(config)
    )
    return Search(
        config,
        without(space, fixed),
        tuner=settings.tuner,
        objective=settings.objective,
        stop_hopeless=settings.stop_hopeless,
        share=share,
        max_trials=settings.max_trials,
    )


def _without_effect(config: RunConfig, fixed: set[str]) -> Iterator[str]:
    """Yields fields that decide nothing, or cannot be varied, beside those that are fixed."""
    if fixed & {"min_count", "max_per_order"}:
        yield "hash_buckets"
    if isinstance(config, DistillConfig) and not config.pairs:
        yield from ("pair_batch_size", "pairs_weight", "margin")


def _trial_length(settings: TuneConfig, config: RunConfig, default: float) -> TrialLength:
    """Returns how long a trial is: as the flags say, else as the preset has it."""
    length = TrialLength(default)
    if config.preset == "paper":
        length = paper_length(
            config.task, config.encoder, settings.space, freeze=getattr(config, "freeze", False)
        )
    return TrialLength(
        settings.trial_epochs or length.epochs, settings.trial_examples or length.examples
    )

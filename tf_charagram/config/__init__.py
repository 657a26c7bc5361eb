"""Settings of training runs: frozen dataclasses, checked, the only source of defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tf_charagram.config.paraphrase import ParaphraseConfig
from tf_charagram.config.run import RunConfig
from tf_charagram.config.supervised import SupervisedConfig
from tf_charagram.config.tagging import TaggingConfig
from tf_charagram.encoders.options import encoders_with, options_of
from tf_charagram.errors import ConfigError, unknown_name

_CLASSES: tuple[type[RunConfig], ...] = (ParaphraseConfig, TaggingConfig, SupervisedConfig)
#: Task -> the class of its settings.
CONFIGS = {task: config for config in _CLASSES for task in config.TASKS}


def config_class(task: str) -> type[RunConfig]:
    """Returns the class of the settings of a task.

    Raises:
        ConfigError: There is no task of that name.
    """
    if task not in CONFIGS:
        raise ConfigError(unknown_name("task", task, CONFIGS))
    return CONFIGS[task]


def canonical_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns saved settings in the form that they share with equal ones of any version.

    Options that say nothing are left out: those of other encoders, and those at their default of a
    run that starts from a model. What is no setting of the task stays.

    Raises:
        ConfigError: A value is out of range.
        KeyError: They do not name their task.
    """
    config = config_class(settings["task"]).from_dict(settings)
    own = config.to_dict()
    if config.init is not None:
        for name, known in options_of(config.encoder).items():
            if own.get(name) == known.default:
                own.pop(name, None)
    others = {
        name: value
        for name, value in settings.items()
        if name not in own and not encoders_with(name)
    }
    return {**others, **own}


__all__ = [
    "CONFIGS",
    "ParaphraseConfig",
    "RunConfig",
    "SupervisedConfig",
    "TaggingConfig",
    "canonical_settings",
    "config_class",
]

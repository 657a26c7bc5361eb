"""Settings of training runs: frozen dataclasses, checked, the only source of defaults."""

from __future__ import annotations

from tf_charagram.config.paraphrase import ParaphraseConfig
from tf_charagram.config.run import RunConfig
from tf_charagram.config.supervised import SupervisedConfig
from tf_charagram.config.tagging import TaggingConfig
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


__all__ = [
    "CONFIGS",
    "ParaphraseConfig",
    "RunConfig",
    "SupervisedConfig",
    "TaggingConfig",
    "config_class",
]

"""What can be trained: one file per task, and the registry that finds a task by its name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.tasks.distillation.settings import DistillConfig
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.tasks.supervised_settings import SupervisedConfig
from tf_charagram.tasks.tagging.settings import TaggingConfig
from tf_charagram.training.settings import RunConfig

if TYPE_CHECKING:
    from tf_charagram.training.task import Task


class Entry(NamedTuple):
    """A task of the registry; its class is imported when needed, its settings always are.

    Attributes:
        module: Module of this package that has the class.
        class_name: The class, a `Task`.
        settings: The class of its settings, from which the flags of `train` are made.
    """

    module: str
    class_name: str
    settings: type[RunConfig]


TASKS = {
    "words": Entry("paraphrase.task", "Words", ParaphraseConfig),
    "sentences": Entry("paraphrase.task", "Sentences", ParaphraseConfig),
    "distill": Entry("distillation.task", "Distill", DistillConfig),
    "pos": Entry("tagging.task", "Tagging", TaggingConfig),
    "similarity": Entry("pairs.similarity", "Similarity", SupervisedConfig),
    "entailment": Entry("pairs.entailment", "Entailment", SupervisedConfig),
    "sentiment": Entry("sentiment.task", "Sentiment", SupervisedConfig),
}


def _entry(name: str) -> Entry:
    if name not in TASKS:
        raise ConfigError(unknown_name("task", name, TASKS))
    return TASKS[name]


def settings_class(name: str) -> type[RunConfig]:
    """Returns the class of the settings of a task.

    Raises:
        ConfigError: There is no task of that name.
    """
    return _entry(name).settings


def task_class(name: str) -> type[Task]:
    """Returns the class of a task; errors as `settings_class`."""
    entry = _entry(name)
    return getattr(import_module(f"{__name__}.{entry.module}"), entry.class_name)


def make_task(config: RunConfig) -> Task:
    """Returns the task that settings name, for a `TrainingRun`.

    Raises:
        ConfigError: There is no such task, or it has settings of another class.
    """
    settings = settings_class(config.task)
    if not isinstance(config, settings):
        raise ConfigError(
            f"The task '{config.task}' needs a {settings.__name__}. "
            f"Received: {type(config).__name__}"
        )
    return task_class(config.task)(config, BadLines(config.on_bad_line))

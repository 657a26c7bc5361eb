"""What can be trained: one file per task, and the registry that finds a task by its name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from tf_charagram.encoders.options import encoders_with, options_of
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


def canonical_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Returns settings in the form that they share with equal ones of any version.

    Options that say nothing are left out: those of other encoders, and those at their default of a
    run that starts from a model. What is not a setting of the task stays.
    """
    config = settings_class(settings["task"]).from_dict(settings)
    own = config.to_dict()
    if config.init is not None:
        for name, option in options_of(config.encoder).items():
            if own.get(name) == option.default:
                own.pop(name, None)
    names = [name for name in settings if name not in own and not encoders_with(name)]
    return {**{name: settings[name] for name in names}, **own}

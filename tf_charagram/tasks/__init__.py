"""What can be trained: one file per task, and the registry that finds a task by its name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.encoders import options_class
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.settings import types_of
from tf_charagram.tasks.distillation.settings import DistillConfig
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.tasks.presets import preset_settings
from tf_charagram.tasks.supervised_settings import SupervisedConfig
from tf_charagram.tasks.tagging.settings import TaggingConfig
from tf_charagram.training.inherited_settings import inherited_settings, other_settings
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


def run_defaults(
    task: str,
    encoder: str | None = None,
    *,
    init: str | None = None,
    preset: str | None = None,
    freeze: bool = False,
) -> dict[str, Any]:
    """Returns the settings of a run that are other than the defaults if they are not given.

    They are those of the preset, and those of the model that the run starts from.

    Raises:
        ConfigError: A name is unknown, the preset has nothing for the task and encoder, or the
            model has another encoder.
        RunError: The folder of `init` holds no model, or a damaged one.
    """
    inherited = {} if init is None else inherited_settings(init)
    if encoder is None:
        encoder = inherited.get("encoder", RunConfig.encoder)
    elif inherited and inherited["encoder"] != encoder:
        raise other_settings(init, {"encoder": inherited["encoder"]}, {"encoder": encoder})
    known = types_of(settings_class(task)).keys() | types_of(options_class(encoder)).keys()
    settings: dict[str, Any] = {"task": task, "encoder": encoder, "init": init, "preset": preset}
    if preset is not None:
        settings |= preset_settings(preset, task, encoder, has_init=init is not None, freeze=freeze)
    return {**settings, **{name: inherited[name] for name in inherited.keys() & known}}


def make_settings(task: str = "words", **given: Any) -> RunConfig:
    """Returns the settings of a run: those given, else those of its preset, its model or defaults.

    Args:
        task: Name of the task.
        **given: Settings of the task and options of the encoder.

    Raises:
        ConfigError: As `run_defaults` and the class of the settings.
        RunError: As `run_defaults`.

    Example:
        >>> make_settings("words", preset="paper").epochs
        50
    """
    deciding = {n: given[n] for n in ("encoder", "init", "preset", "freeze") if n in given}
    return settings_class(task).from_dict({**run_defaults(task, **deciding), **given})

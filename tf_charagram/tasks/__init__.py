"""The tasks by name, one folder per task. Deleting a folder and its lines here deletes the task."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from tf_charagram._common.lazy import lazy_names, names_in
from tf_charagram.data._tables.lines import BadLines
from tf_charagram.encoders import ENCODERS, options_class
from tf_charagram.errors import check_name
from tf_charagram.settings import described, types_of
from tf_charagram.tasks._shared.defaults import (
    check_start,
    fine_tuning,
    inherited_settings,
    other_settings,
)
from tf_charagram.training.settings import RunConfig

if TYPE_CHECKING:
    from tf_charagram.tasks.labels.models import PairClassifier, PairScorer, TextClassifier
    from tf_charagram.tasks.labels.supervised import SupervisedTask
    from tf_charagram.tasks.paraphrase.losses import PairBatch, PairLoss, loss_class
    from tf_charagram.training.task import Task
else:
    _HOMES = {
        "labels.models": ["PairClassifier", "PairScorer", "TextClassifier"],
        "labels.supervised": ["SupervisedTask"],
        "paraphrase.losses": ["PairBatch", "PairLoss", "loss_class"],
    }
    __getattr__ = lazy_names(
        __name__,
        names_in(__name__, _HOMES),
        needs_tensorflow=True,
        light=_HOMES["paraphrase.losses"],
    )

__all__ = [
    "PairBatch",
    "PairClassifier",
    "PairLoss",
    "PairScorer",
    "SupervisedTask",
    "TextClassifier",
    "loss_class",
]


class TaskEntry(NamedTuple):
    """A task, given by classes as `module:name` below this package, imported when needed.

    Attributes:
        task: The `Task`.
        settings: Its settings, from which the flags of `train` are made. They import without
            TensorFlow.
        kind: Kind of the model that it trains, if that is not an embedder.
        model: Class of that model.
        head: Class of its head.
    """

    task: str
    settings: str
    kind: str | None = None
    model: str | None = None
    head: str | None = None


TASKS = {
    "words": TaskEntry("paraphrase.task:Words", "paraphrase.settings:ParaphraseConfig"),
    "sentences": TaskEntry("paraphrase.task:Sentences", "paraphrase.settings:ParaphraseConfig"),
    "distill": TaskEntry("distillation.task:Distill", "distillation.settings:DistillConfig"),
    "pos": TaskEntry(
        "tagging.task:Tagging",
        "tagging.settings:TaggingConfig",
        "tagger",
        "tagging.model:Tagger",
        "tagging.head:TaggingHead",
    ),
    "similarity": TaskEntry(
        "labels.tasks:Similarity",
        "labels.settings:SupervisedConfig",
        "pair_scorer",
        "labels.models:PairScorer",
        "labels._heads.heads:PairScoreHead",
    ),
    "entailment": TaskEntry(
        "labels.tasks:Entailment",
        "labels.settings:SupervisedConfig",
        "pair_classifier",
        "labels.models:PairClassifier",
        "labels._heads.heads:PairLabelHead",
    ),
    "sentiment": TaskEntry(
        "labels.tasks:Sentiment",
        "labels.settings:SupervisedConfig",
        "text_classifier",
        "labels.models:TextClassifier",
        "labels._heads.heads:TextHead",
    ),
}


def _located(path: str) -> tuple[str, str]:
    """Returns the full name of a module and the name of a class in it."""
    module, _, name = path.partition(":")
    return f"{__name__}.{module}", name


#: Kind of model -> module and class.
MODELS = {entry.kind: _located(str(entry.model)) for entry in TASKS.values() if entry.kind}
#: Class of a model or of a head -> module.
CLASSES = {
    name: module
    for entry in TASKS.values()
    for module, name in (_located(path) for path in (entry.model, entry.head) if path)
}


def _class(path: str) -> Any:
    module, name = _located(path)
    return getattr(import_module(module), name)


def _entry(name: str) -> TaskEntry:
    check_name("task", name, TASKS)
    return TASKS[name]


def settings_class(name: str) -> type[RunConfig]:
    """Returns the class of the settings of a task.

    Raises:
        ConfigError: There is no task of that name.
    """
    return _class(_entry(name).settings)


def task_class(name: str) -> type[Task]:
    """Returns the class of a task.

    Raises:
        ConfigError: There is no task of that name.
    """
    return _class(_entry(name).task)


def make_task(config: RunConfig) -> Task:
    """Returns the task that settings name, for a `TrainingRun`.

    Raises:
        ConfigError: There is no such task, or its settings differ from the model to start from.
        RunError: The model to start from is missing or damaged.
    """
    check_start(config)
    return task_class(config.task)(config, BadLines(config.on_bad_line))


def run_defaults(
    task: str,
    encoder: str | None = None,
    *,
    init: str | None = None,
    preset: str | None = None,
) -> dict[str, Any]:
    """Returns the settings that a preset and the model of `init` determine, unless given.

    Raises:
        ConfigError: A name is unknown, the preset is not for the task, or the model has another
            encoder.
        RunError: `init` is not a model, or is damaged.
    """
    inherited = {} if init is None else inherited_settings(init)
    if encoder is None:
        encoder = inherited.get("encoder", RunConfig.encoder)
    elif inherited and inherited["encoder"] != encoder:
        raise other_settings(str(init), {"encoder": inherited["encoder"]}, {"encoder": encoder})
    known = types_of(settings_class(task)).keys() | types_of(options_class(encoder)).keys()
    settings: dict[str, Any] = {"task": task, "encoder": encoder, "init": init, "preset": preset}
    if preset == "fine-tune":
        settings |= fine_tuning(task, has_init=init is not None)
    # The model may come from another task, with settings that this task lacks.
    for name, value in inherited.items():
        if name in known:
            settings[name] = value
    return settings


def make_settings(task: str = "words", **given: Any) -> RunConfig:
    """Makes the settings of a run: as given, else from its model, its preset or the defaults.

    Args:
        task: Name of the task.
        **given: Settings of the task and options of the encoder.

    Raises:
        ConfigError: A name is unknown, a value is out of range, or settings contradict each other
            or the model of `init`.
        RunError: `init` is not a model, or is damaged.

    Examples:
        >>> make_settings("sentences").batch_size
        100
    """
    # Options of other encoders have an error of their own, which names the encoders.
    known = set(described(settings_class(task)))
    for entry in ENCODERS.values():
        known |= types_of(entry.options).keys()
    for options in settings_class(task).option_classes(given).values():
        known |= types_of(options).keys()
    for name in given:
        check_name("setting", name, known)
    deciding = {name: given[name] for name in ("encoder", "init", "preset") if name in given}
    cls = settings_class(task)
    return cls.from_dict({**run_defaults(task, **deciding), **given})

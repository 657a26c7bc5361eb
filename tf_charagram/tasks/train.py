"""Training from Python: one call with the settings of `charagram train`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from tf_charagram.errors import ConfigError
from tf_charagram.settings import types_of
from tf_charagram.tasks import make_settings, make_task, settings_class, task_class

#: A file, a folder or a name, several of them, or examples.
Data: TypeAlias = str | Path | Iterable[str | Path] | Iterable[Sequence[Any]]


@dataclass(frozen=True)
class TrainedRun:
    """A finished training run.

    Attributes:
        model: The model that was kept: a `TextEmbedder`, `Tagger`, `PairScorer`, `PairClassifier`
            or `TextClassifier`, depending on the task.
        history: The evaluations while it trained, with `step`, `epoch`, `loss`, `scores` and
            `seconds` each.
        scores: Set -> score of the model; `None` if a set has no score.
        folder: The run folder, as commands take it.
    """

    model: Any
    history: list[dict[str, Any]]
    scores: dict[str, float | None]
    folder: Path


def train(
    task: str = "words",
    *,
    data: Data | None = None,
    eval_data: Data | None = None,
    resume: bool = False,
    overwrite: bool = False,
    quiet: bool = False,
    **settings: Any,
) -> TrainedRun:
    """Trains a model, as `charagram train` does, and returns its run.

    Examples are pairs of texts for `words` and `sentences`, `(left, right, score)` for
    `similarity`, `(left, right, label)` for `entailment`, `(text, label)` for `sentiment`, and
    lists of `(word, tag)` for `pos`; `distill` needs files. Word and sentence embeddings are scored
    on `(left, right, score)`. A set of examples is named `eval_data` in the scores.

    Args:
        task: Name of the task.
        data: A file or several, `"starter"`, or examples. Default: the default of the task.
        eval_data: What to score on: a file, a folder or examples. Default: the default of the task.
        resume: Whether to go on with the run in `output`.
        overwrite: Whether to replace the run in `output`.
        quiet: Whether to show no progress.
        **settings: The flags of `charagram train`, with underscores: `epochs=3`, `init="english"`,
            `ngrams=(2, 3)`. Without `output`, the run folder is `runs/TASK-ENCODER-N` in the
            current folder, with the next free N.

    Raises:
        ConfigError: A setting is unknown or out of range, or two do not go together.
        DataError: A file or an example cannot be read.
        RunError: The run folder cannot be used.
        TrainingError: Training cannot go on, for instance because the loss is not finite.

    Examples:
        >>> out = getfixture("tmp_path") / "run"
        >>> pairs = [("colour", "color"), ("gray", "grey"), ("jail", "gaol")]
        >>> run = train(data=pairs, epochs=1, dim=10, evaluations_per_epoch=1, output=out)
        >>> run.model.encode(["color"]).shape, len(run.history), list(run.scores)
        ((1, 10), 1, ['starter'])
    """
    # Rich takes half of the time of importing the package, and only training needs it.
    from tf_charagram._common.lazy import load_tensorflow
    from tf_charagram._common.reporting import quiet as without_progress

    with TemporaryDirectory() as folder, without_progress(quiet):
        for name, values in (("data", data), ("eval_data", eval_data)):
            if values is not None:
                settings[name] = _files(task, name, values, Path(folder))
                if resume and Path(folder, f"{name}.jsonl").is_file():
                    raise ConfigError(f"To `resume` a run, `{name}` must be in files.")
        plain = {name: _plain(value) for name, value in settings.items()}
        config = make_settings(task, **plain)
        # A wrong setting is an error before TensorFlow takes seconds to import.
        load_tensorflow()
        from tf_charagram.training.run import TrainingRun

        run = TrainingRun(make_task(config), resume=resume, overwrite=overwrite)
        metrics = run.run(resume=resume)
    return TrainedRun(run.model, run.folder.read_history(), metrics["scores"], run.folder.path)


def _files(task: str, name: str, values: Data, folder: Path) -> Any:
    """Returns the value of `data` or `eval_data`; examples are written to a file of this name."""
    if hasattr(values, "columns"):
        raise ConfigError(f"`{name}` must be files or a list of examples. Received: a data frame.")
    items: list[Any] = [values] if isinstance(values, str | Path) else list(values)
    if not items:
        raise ConfigError(f"`{name}` has no examples.")
    if not all(isinstance(item, str | Path) for item in items):
        path = folder / f"{name}.jsonl"
        task_class(task).write_examples(items, path)
        items = [path]
    names = [str(item) for item in items]
    takes_several = types_of(settings_class(task))[name] == tuple[str, ...]
    if takes_several:
        return names
    if len(names) > 1:
        raise ConfigError(f"`{name}` must be one file or folder. Received: {', '.join(names)}")
    return names[0]


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value

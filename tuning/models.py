"""The public API: a search space of settings for KerasTuner, and its models."""

from __future__ import annotations

import reprlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import keras
import keras_tuner
import tensorflow as tf
from keras_tuner.errors import FatalError

from tf_charagram.errors import CharagramError, ConfigError, DataError, check_positive
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.optimizers.registry import make_optimizer
from tf_charagram.tasks import make_settings, make_task
from tf_charagram.tasks.paraphrase._corpus.corpus import pairs_reader
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.training._loop.run_folder import RunFolder
from tf_charagram.training.run import set_decay
from tf_charagram.training.settings import RunConfig
from tf_charagram.tuning._search.grids import Space
from tf_charagram.tuning._search.spaces import (
    fields_of,
    label,
    search_space,
    settings_of,
    tuner_values,
)

#: Arguments of `search`, of which the first may be positional.
_ARGUMENTS = ("pairs", "epochs", "initial_epoch", "callbacks", "verbose")


def hypermodel(
    task: str = "words",
    *,
    encoder: str = "charagram",
    space: str | Mapping[str, Sequence[Any]] = "paper",
    **settings: Any,
) -> TextHyperModel:
    """Returns a search space for a tuner of KerasTuner, such as `keras_tuner.RandomSearch`.

    Args:
        task: `"words"` or `"sentences"`; `charagram tune` searches the other tasks too.
        encoder: Name of the encoder.
        space: `"paper"`, the grid of the papers; `"wide"`, also widths, n-grams, optimizers and
            dropout; or setting -> values.
        **settings: Settings of `charagram train` and options of the encoder that are not searched,
            such as `dim=100`.

    Raises:
        ConfigError: A setting is wrong, the papers have no grid, or nothing is left to search.

    Examples:
        >>> words = hypermodel("words", space={"dim": (50, 100), "l2": (1e-4, 1e-5)})
        >>> objective = keras_tuner.Objective("val_SL999", "max")
        >>> tuner = keras_tuner.RandomSearch(words, objective, directory=getfixture("tmp_path"))
        >>> tuner.oracle.get_space().values
        {'dim': 50, 'l2': 0.0001}

        Then `tuner.search("pairs.tsv", epochs=2, callbacks=[ScoreOnSet("SL999")])` trains, and
        `tuner.get_best_models()[0].embedder` is the best `TextEmbedder`.
    """
    config = make_settings(task, encoder=encoder, **settings)
    if not isinstance(config, ParaphraseConfig):
        raise ConfigError(
            "`task` must be words or sentences. For others, use the command `charagram tune`. "
            f"Received: {task}"
        )
    return TextHyperModel(config, search_space(space, config, settings.keys()))


class TextHyperModel(keras_tuner.HyperModel):
    """A search space for KerasTuner, made by `hypermodel`.

    Values are numbers where settings are numbers: `None` is 0, and settings that vary together have
    the value of the first.

    Args:
        config: Settings that the trials share.
        space: Settings that they vary, and their values.
    """

    def __init__(self, config: RunConfig, space: Space) -> None:
        super().__init__()
        self.config = config
        self.space = space

    def settings(self, hp: keras_tuner.HyperParameters) -> dict[str, Any]:
        """Returns the settings of a trial that vary."""
        settings: dict[str, Any] = {}
        for name, choices in self.space.items():
            values = tuner_values(name, choices)
            chosen = hp.Choice(fields_of(name)[0], values)
            # Compared as text: between processes, KerasTuner rounds numbers to float32.
            labels = [label(value) for value in values]
            choice = choices[labels.index(label(chosen))]
            settings |= settings_of(name, choice)
        return settings

    def build(self, hp: keras_tuner.HyperParameters) -> TunedModel:
        """Returns the model of a trial."""
        return TunedModel(self.config.replace(**self.settings(hp)))

    def fit(
        self, hp: keras_tuner.HyperParameters, model: TunedModel, *args: Any, **kwargs: Any
    ) -> keras.callbacks.History:
        """Trains the model of a trial.

        Raises:
            FatalError: An argument of `search` is wrong, or the objective is not logged. This ends
                the search, because all trials would fail.
        """
        others = [*map(reprlib.repr, args[1:]), *sorted(kwargs.keys() - set(_ARGUMENTS))]
        if others:
            raise FatalError(
                f"`search` takes {', '.join(_ARGUMENTS)}. Settings such as batch_size are "
                "arguments of `hypermodel`; ScoreOnSet in `callbacks` replaces validation data. "
                f"Received: {', '.join(others)}"
            )
        try:
            _reader_of(*args[:1] or [kwargs.get("pairs")])
            check_positive(epochs=kwargs.get("epochs", 1))
        except CharagramError as error:
            raise FatalError(str(error)) from error
        try:
            history = model.fit(*args, **kwargs)
        except DataError as error:
            raise FatalError(str(error)) from error
        logged = history.history
        for callback in kwargs.get("callbacks", ()):
            objective = getattr(callback, "objective", None)
            if objective is not None and not objective.has_value(logged):
                raise FatalError(
                    f"The objective {objective.name} is not logged. Add ScoreOnSet to `callbacks`, "
                    f"or choose one of: {', '.join(logged)}."
                )
        return history


class TunedModel(keras.Model):
    """A model of a search, from strings `(batch,)` to embeddings, float32 `(batch, dim)`.

    Args:
        config: Its settings.

    Attributes:
        embedder: The `TextEmbedder`; `None` before `fit`, whose pairs decide its vocabulary.
    """

    def __init__(self, config: RunConfig) -> None:
        super().__init__()
        self.config = config
        self.embedder: TextEmbedder | None = None

    def call(self, texts: tf.Tensor) -> tf.Tensor:
        """Returns the embeddings of texts; only after `fit` or `load_weights`."""
        return self.embedder(texts)  # type: ignore[misc]

    def fit(
        self,
        pairs: str | Path | Sequence[tuple[str, str]],
        *,
        epochs: int = 1,
        initial_epoch: int = 0,
        callbacks: Sequence[keras.callbacks.Callback] = (),
        verbose: int | str = "auto",
    ) -> keras.callbacks.History:
        """Trains in the steps of `charagram train`.

        Args:
            pairs: A file of pairs, or another value of `--data`; or a list of pairs of texts, such
                as `list(read_pairs(path))`.
            epochs: Number of the last epoch.
            initial_epoch: Epochs that were trained before.
            callbacks: Keras callbacks.
            verbose: 0 shows no progress.

        Returns:
            The loss of each epoch, and what callbacks add.

        Raises:
            CharagramError: The pairs cannot be read, or do not fit the settings.
        """
        config: Any = self.config.replace(epochs=epochs)
        task: Any = make_task(config)
        task.read_pairs([_reader_of(pairs)])
        if self.embedder is None:
            self.embedder = task.build()
        self.optimizer = make_optimizer(config.optimizer, config.learning_rate)
        trainer = task.make_trainer(self.embedder, self.optimizer)
        with tempfile.TemporaryDirectory() as folder:
            stream = task.make_stream(self.embedder, RunFolder(folder))
            set_decay(self.optimizer, config, stream)
            run_segment = task.make_steps(trainer, stream)
            stream.open()
            steps = stream.steps_per_epoch
            history = keras.callbacks.History()
            watching = keras.callbacks.CallbackList(
                [*callbacks, history],
                add_progbar=verbose != 0,
                model=self,
                epochs=epochs,
                steps=steps,
                verbose=2,
            )
            # Callbacks such as EarlyStopping set it.
            self.stop_training = False
            watching.on_train_begin()
            for epoch in range(initial_epoch, epochs):
                watching.on_epoch_begin(epoch)
                loss = 0.0
                for segment in stream.segments(epoch * steps, steps):
                    run_segment(segment, ())
                    loss += float(trainer.loss_tracker.result()) * segment.num / steps
                watching.on_epoch_end(epoch, {"loss": loss})
                if self.stop_training:
                    break
            watching.on_train_end()
        return history

    def save_weights(self, path: str | Path, overwrite: bool = True) -> None:
        """Writes the embedder as a model folder, with its vocabulary."""
        self.embedder.save(path, overwrite)  # type: ignore[union-attr]

    def load_weights(self, path: str | Path) -> None:
        """Reads the embedder that `save_weights` wrote."""
        self.embedder = TextEmbedder.load(path)


def _reader_of(pairs: str | Path | Sequence[tuple[str, str]]) -> Any:
    """Returns the function that reads a file or a list of pairs, given a policy for bad lines."""
    if isinstance(pairs, str | Path):
        return pairs_reader(str(pairs))
    # An iterator would have no pairs for the second trial.
    if not isinstance(pairs, list | tuple) or not pairs:
        raise ConfigError(
            f"`pairs` must be a file, or a list of pairs of texts. Received: {reprlib.repr(pairs)}"
        )
    for row, pair in enumerate(pairs):
        is_pair = isinstance(pair, list | tuple) and len(pair) == 2
        if not is_pair or not all(isinstance(text, str) for text in pair):
            raise ConfigError(f"`pairs` must be pairs of texts. Row {row} is {reprlib.repr(pair)}")

    def read(_: Any) -> Iterator[tuple[str, str]]:
        return iter(pairs)

    return read

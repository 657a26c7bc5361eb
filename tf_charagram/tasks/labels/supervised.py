"""The base of the tasks with a head on the vectors of texts or of pairs of texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table

from tf_charagram._common.reporting import make_table, number
from tf_charagram.data._tables.columns import Labelled
from tf_charagram.data.starter import STARTER
from tf_charagram.encoders.base import is_padded
from tf_charagram.errors import DataError
from tf_charagram.evaluation._scores.tables import metric_table
from tf_charagram.evaluation.classification import ClassificationScore, score_labels
from tf_charagram.layers._ops.ragged import gather_ragged
from tf_charagram.models._answers.answering import AnsweringModel
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.tasks._shared.labelled import LabelledSets
from tf_charagram.tasks.labels.settings import SupervisedConfig
from tf_charagram.text._algorithm.arguments import distinct
from tf_charagram.text._algorithm.tensors import ids_function
from tf_charagram.training._loop.building import make_vectorizer
from tf_charagram.training._loop.loop import STEPS_PER_EXECUTION
from tf_charagram.training._loop.run_folder import RunFolder
from tf_charagram.training._loop.steps import FeatureSteps, RunSegment, run_watched
from tf_charagram.training._loop.stream import ExampleStream, Stream
from tf_charagram.training.step_model import StepModel
from tf_charagram.training.supervised_model import SupervisedModel
from tf_charagram.training.task import Scoring, Task

# Texts whose vectors tell the head their size before training.
_NUM_ADAPTED = 1_000
_MAX_LISTED = 5
_METRICS = {"accuracy": ("accuracy", ".2f"), "macro_f1": ("macro-F1", ".2f")}


class SupervisedTask(LabelledSets, Task):
    """A task whose head sees one vector per text (Universal, section 4.4).

    By default, examples have labels: a subclass reads a file. If `freeze` is encoder, each
    distinct text is embedded once, and batches hold its vector instead of ids.

    Attributes:
        examples: The examples to train on, one set per `--data`.
        labels: Their labels, sorted; empty if they have scores.
    """

    config: SupervisedConfig
    labels: tuple[str, ...]

    def table_options(self, name: str) -> dict[str, Any]:
        """Returns `columns`, `header` and `on_bad_line` for reading the table of a set."""
        options: dict[str, Any] = {"on_bad_line": self.bad_lines}
        if not name.startswith(f"{STARTER}."):
            options |= {"columns": self.config.columns, "header": self.config.header}
        return options

    def labels_of(self, examples: Sequence[Any]) -> tuple[str, ...]:
        """Returns the labels of the examples to train on, sorted.

        Raises:
            DataError: There are fewer than two.
        """
        # Sorted, so that indices of labels do not depend on the order of the examples.
        labels = tuple(sorted(set(chain(*(each.labels for each in examples)))))
        if len(labels) < 2:
            raise DataError(
                " and ".join(each.name for each in examples),
                "expected at least 2 different labels to train on, found "
                f"{_listed(labels) or 'no label'}. Add others.",
            )
        return labels

    def sides(self, examples: Any) -> tuple[list[str], ...]:
        """Returns the texts of examples: one list, or lefts and rights."""
        return examples.sides

    def targets(self, examples: Any) -> NDArray[Any]:
        """Returns the target of each example: the index of a label, or a score."""
        index = {label: i for i, label in enumerate(self.labels)}
        return np.array([index[label] for label in examples.labels], np.int64)

    def make_head(self, dim: int) -> keras.layers.Layer:
        """Returns a new head for vectors of width `dim`, by default a logit per label."""
        config = self.config
        return self.model_class.head_class(
            dim=dim, labels=self.labels, hidden_dim=config.hidden_dim, seed=config.seed
        )

    def _class_weights(self) -> NDArray[np.float64] | None:
        """Returns the weight of each label; `None` if all weigh the same."""
        if not self.labels or self.config.class_weights == "none":
            return None
        counts = Counter(chain(*(examples.labels for examples in self.examples)))
        # Weights are relative: the loss divides by their sum over the batch.
        return np.array([1.0 / counts[label] for label in self.labels])

    def read(self) -> None:
        """Reads the examples and the sets, whose labels must occur among the examples."""
        super().read()
        if self.labels:
            for examples in self.sets:
                _check_known_labels(examples, self.labels)

    def take_examples(self, examples: Sequence[Any]) -> None:
        """Stores the examples to train on, one set per `--data`."""
        self.labels = self.labels_of(examples)
        self.examples = list(examples)
        sets_of_sides = [self.sides(each) for each in self.examples]
        num_sides = len(sets_of_sides[0])
        # One list of texts, or lefts and rights, over all sets.
        self._texts = [
            list(chain.from_iterable(sides[number] for sides in sets_of_sides))
            for number in range(num_sides)
        ]

    def build(self) -> AnsweringModel:
        """Builds the model: new, from another run, or a head on that run's frozen encoder."""
        if self.config.freeze == "encoder":
            embedder = TextEmbedder.load(str(self.config.init))
            vectorizer, encoder = embedder.vectorizer, embedder.encoder
        else:
            new = make_vectorizer(self.config, chain(*self._texts))
            vectorizer, encoder = self.encoder_on(new)
        return self.model_class(vectorizer, encoder, self.make_head(encoder.dim))

    def make_stream(self, model: AnsweringModel, folder: RunFolder) -> ExampleStream:
        """Returns the batches: ids or vectors of the texts, lefts first, and targets."""
        targets = tf.constant(
            np.concatenate([self.targets(examples) for examples in self.examples])
        )
        # Each distinct text is read once; `rows` are its positions, `(num_sides, num_examples)`.
        texts, positions = distinct(chain(*self._texts))
        rows = positions.reshape(len(self._texts), -1)
        lengths = None
        inputs: tf.Tensor | tf.RaggedTensor
        if self.config.freeze == "encoder":
            inputs = tf.constant(model.embedder.encode(texts, batch_size=1000))
            take = tf.gather
        else:
            inputs = ids_function(model.vectorizer.training_ids)(texts)
            take = gather_ragged
            if is_padded(model.encoder):
                # The longer side decides how much padding a pair needs.
                lengths = inputs.row_lengths().numpy()[rows].max(axis=0)
        self._sample = inputs[:_NUM_ADAPTED]
        rows = tf.constant(rows)

        def batch(chosen: tf.Tensor) -> tuple[Any, tf.Tensor]:
            # Lefts first, then rights.
            batch_rows = tf.reshape(tf.gather(rows, chosen, axis=1), [-1])
            return take(inputs, batch_rows), tf.gather(targets, chosen)

        self._batch = batch
        return ExampleStream(
            len(self._texts[0]),
            batch,
            batch_size=int(self.config.batch_size or 0),
            unit=self._unit,
            seed=self.config.seed,
            lengths=lengths,
        )

    @property
    def _unit(self) -> str:
        return "texts" if len(self._texts) == 1 else "pairs"

    def make_trainer(
        self, model: AnsweringModel, optimizer: keras.optimizers.Optimizer
    ) -> SupervisedModel:
        """Returns the compiled model that trains encoder and head, or only the head."""
        config = self.config
        is_frozen = config.freeze == "encoder"
        trainer = SupervisedModel(
            None if is_frozen else model.encoder,
            model.head,
            has_weights=model.vectorizer.has_weights,
        )
        trainer.compile(
            optimizer,
            class_weights=self._class_weights(),
            l2_head=config.l2_head,
            pull_back=config.pull_back,
            **config.update_options(),
            steps_per_execution=STEPS_PER_EXECUTION,
        )
        trainer.adapt(self._sample)
        return trainer

    def make_steps(self, trainer: StepModel, stream: Stream) -> RunSegment:
        """Returns a function that trains for a segment of the stream."""
        if self.config.freeze != "encoder":
            return super().make_steps(trainer, stream)
        return partial(run_watched, trainer, FeatureSteps(trainer, stream, self._batch).run)

    def describe_data(self) -> str:
        """Returns a short description of the training data."""
        return f"{len(self._texts[0]):,} {self._unit}"

    def score_set(self, model: Any, examples: Any, scoring: Scoring) -> Any:
        """Compares predicted labels with the human labels."""
        _check_known_labels(examples, model.labels)
        predicted = [classified.label for classified in model.classify(*self.sides(examples))]
        return score_labels(
            examples.labels,
            predicted,
            model.labels,
            num_resamples=scoring.num_resamples,
            seed=scoring.seed,
        )

    def value(self, score: Any) -> float | None:
        """Returns the accuracy."""
        return score.metrics["accuracy"]

    def tables(self, scores: Mapping[str, Any]) -> list[Table]:
        """Returns a table with one row per set, and the confusion matrix of each set."""
        tables = [_classification_table(list(scores.items()))]
        for name, score in scores.items():
            tables.append(_label_table(score, f"{name}: rates x 100"))
        return tables


def _check_known_labels(examples: Labelled, labels: Sequence[str]) -> None:
    """Checks that the labels of a set occur in the training data.

    Raises:
        DataError: A label does not, and is named.
    """
    unknown = sorted(set(examples.labels) - set(labels))
    if unknown:
        raise DataError(
            examples.name,
            f"expected the labels of the training data ({_listed(labels)}), found also "
            f"{_listed(unknown)}. Check the label column, or train with these labels.",
        )


def _listed(labels: Sequence[str]) -> str:
    """Returns the first labels, quoted, for a message."""
    names = [repr(label) for label in labels[:_MAX_LISTED]]
    if len(labels) > _MAX_LISTED:
        names.append("...")
    return ", ".join(names)


def _classification_table(scores: Sequence[tuple[str, ClassificationScore]]) -> Table:
    """Returns a table of accuracy and macro-F1 x 100, one row per set."""
    table = metric_table(
        "Classification: % correct, F1 x 100", ("set", "examples"), _METRICS, scores
    )
    table.caption = "macro-F1: mean over the labels that occur in the set or were predicted."
    return table


def _label_table(score: ClassificationScore, title: str) -> Table:
    """Returns a table of the rates and the confusion matrix, one row per label."""
    names = ["examples", "precision", "recall", "F1"]
    names += [f"-> {label.label}" for label in score.labels]
    table = make_table(title, ["label"], names)
    for label, counts in zip(score.labels, score.confusion, strict=True):
        rates = [number(rate) for rate in (label.precision, label.recall, label.f1)]
        cells = [f"{count:,}" for count in counts]
        table.add_row(escape(label.label), f"{label.support:,}", *rates, *cells)
    table.caption = "->: confusion matrix, the examples of each label by predicted label."
    return table

"""What tells the supervised tasks apart: examples, targets, model and score of each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from tf_charagram.config import SupervisedConfig
from tf_charagram.data.readers.labelled import (
    LabelledPairs,
    LabelledTexts,
    check_classes,
    check_known_labels,
    read_labelled_pairs,
    read_labelled_texts,
    read_scored_pairs,
)
from tf_charagram.data.readers.lines import BadLines
from tf_charagram.data.readers.scored import ScoredPairs
from tf_charagram.data.starter import supervised as starter
from tf_charagram.evaluation.classification import ClassificationScore, score_labels
from tf_charagram.evaluation.relatedness import RelatednessScore, score_relatedness
from tf_charagram.layers.pair_head import PairScoreHead
from tf_charagram.models.answering import AnsweringModel
from tf_charagram.models.pair_models import PairClassifier, PairScorer
from tf_charagram.models.text_classifier import TextClassifier
from tf_charagram.reporting.supervised_tables import (
    classification_table,
    label_table,
    relatedness_table,
)
from tf_charagram.training.inputs import labelled_file

Score = RelatednessScore | ClassificationScore


class SupervisedTask(ABC):
    """One supervised task.

    Args:
        config: Settings of the run.
        bad_lines: What to do about bad lines.
    """

    model_class: type[AnsweringModel]

    def __init__(self, config: SupervisedConfig, bad_lines: BadLines) -> None:
        self.config = config
        self._options: dict[str, Any] = {
            "text_columns": config.text_columns,
            "label_column": config.label_column,
            "on_bad_line": bad_lines,
        }

    @abstractmethod
    def read(self, place: str, split: str, name: str) -> Any:
        """Reads examples.

        Args:
            place: A file, or `starter`.
            split: Which one, of the starter set and of a file that holds several.
            name: Name of the set.

        Raises:
            DataError: The file is missing or bad.
        """

    @abstractmethod
    def sides(self, examples: Any) -> tuple[list[str], ...]:
        """Returns the texts of examples: one list, or the lefts and the rights."""

    @abstractmethod
    def targets(self, examples: Any) -> NDArray[Any]:
        """Returns what a head is to give for each example: a score, or the number of a label."""

    @abstractmethod
    def head(self, dim: int) -> keras.layers.Layer:
        """Returns a new head for vectors of some width."""

    @abstractmethod
    def begin(self, examples: Sequence[Any], sets: Sequence[Any]) -> None:
        """Looks at all examples before training.

        Raises:
            DataError: They cannot be trained on, or not be scored on.
        """

    def class_weights(self, examples: Sequence[Any]) -> NDArray[np.float64] | None:
        """Returns the weight of each label, if there are to be any."""
        return None

    @abstractmethod
    def score(self, model: Any, examples: Any, *, num_resamples: int, seed: int = 0) -> Score:
        """Scores a model on examples."""

    @abstractmethod
    def value(self, score: Any) -> float | None:
        """Returns the number of a score that counts, larger is better."""

    @abstractmethod
    def tables(self, scores: Sequence[tuple[str, Any]]) -> list[Table]:
        """Returns tables of the scores of some sets."""


class Similarity(SupervisedTask):
    """How related two sentences are, from 1 to K."""

    model_class = PairScorer

    def read(self, place: str, split: str, name: str) -> ScoredPairs:
        """Reads pairs with scores."""
        path = labelled_file(place)
        if path is None:
            return starter.relatedness(split)
        return read_scored_pairs(
            path, num_classes=self.config.num_classes, split=split, name=name, **self._options
        )

    def begin(self, examples: Sequence[Any], sets: Sequence[Any]) -> None:
        """Does nothing: a score is a score."""

    def sides(self, examples: ScoredPairs) -> tuple[list[str], ...]:
        """Returns lefts and rights."""
        return examples.left, examples.right

    def targets(self, examples: ScoredPairs) -> NDArray[Any]:
        """Returns the scores."""
        return examples.scores.astype(np.float32)

    def head(self, dim: int) -> PairScoreHead:
        """Returns a head with a logit for each whole score."""
        config = self.config
        return PairScoreHead(
            dim=dim, num_classes=config.num_classes, hidden_dim=config.hidden_dim, seed=config.seed
        )

    def score(
        self, model: PairScorer, examples: ScoredPairs, *, num_resamples: int, seed: int = 0
    ) -> RelatednessScore:
        """Compares predicted scores with those of people."""
        predicted = model.score(examples.left, examples.right)
        return score_relatedness(examples.scores, predicted, num_resamples=num_resamples, seed=seed)

    def value(self, score: RelatednessScore) -> float | None:
        """Returns Pearson's r x 100."""
        return score.pearson

    def tables(self, scores: Sequence[tuple[str, RelatednessScore]]) -> list[Table]:
        """Returns a table with a set a row."""
        return [relatedness_table(scores)]


class _LabelTask(SupervisedTask):
    """A task whose examples have labels."""

    labels: tuple[str, ...]

    def begin(self, examples: Sequence[Any], sets: Sequence[Any]) -> None:
        """Takes the labels of the examples; those of the sets must be among them."""
        names = " and ".join(one.name for one in examples)
        self.labels = check_classes([label for one in examples for label in one.labels], names)
        for one in sets:
            check_known_labels(one.labels, self.labels, one.name)

    def targets(self, examples: LabelledPairs | LabelledTexts) -> NDArray[Any]:
        """Returns the numbers of the labels."""
        number = {label: i for i, label in enumerate(self.labels)}
        return np.array([number[label] for label in examples.labels], np.int32)

    def head(self, dim: int) -> keras.layers.Layer:
        """Returns a head with a logit for each label."""
        config = self.config
        return self.model_class.head_class(
            dim=dim, labels=self.labels, hidden_dim=config.hidden_dim, seed=config.seed
        )

    def score(
        self,
        model: PairClassifier | TextClassifier,
        examples: LabelledPairs | LabelledTexts,
        *,
        num_resamples: int,
        seed: int = 0,
    ) -> ClassificationScore:
        """Compares predicted labels with those of people."""
        predicted = [found.label for found in model.classify(*self.sides(examples))]
        return score_labels(
            examples.labels, predicted, model.labels, num_resamples=num_resamples, seed=seed
        )

    def class_weights(self, examples: Sequence[Any]) -> NDArray[np.float64] | None:
        """Returns weights by which all labels together count the same."""
        if self.config.class_weights == "none":
            return None
        counts = Counter(label for one in examples for label in one.labels)
        return np.array([1.0 / counts[label] for label in self.labels])

    def value(self, score: ClassificationScore) -> float | None:
        """Returns the accuracy."""
        return score.accuracy

    def tables(self, scores: Sequence[tuple[str, ClassificationScore]]) -> list[Table]:
        """Returns a table with a set a row, and who was taken for whom in each set."""
        return [
            classification_table(scores),
            *(label_table(score, f"{name}: rates x 100") for name, score in scores),
        ]


class Entailment(_LabelTask):
    """What a sentence says about another: a label."""

    model_class = PairClassifier

    def read(self, place: str, split: str, name: str) -> LabelledPairs:
        """Reads pairs with labels."""
        path = labelled_file(place)
        if path is None:
            return starter.inference(split)
        return read_labelled_pairs(path, split=split, name=name, **self._options)

    def sides(self, examples: LabelledPairs) -> tuple[list[str], ...]:
        """Returns lefts and rights."""
        return examples.left, examples.right


class Sentiment(_LabelTask):
    """What a text says: a label."""

    model_class = TextClassifier

    def read(self, place: str, split: str, name: str) -> LabelledTexts:
        """Reads texts with labels."""
        path = labelled_file(place)
        if path is None:
            return starter.sentiment(split)
        config = self.config
        return read_labelled_texts(
            path,
            fine_labels=config.fine_labels,
            # A set to score on has sentences.
            phrases=config.phrases and split == "train",
            name=name,
            **self._options,
        )

    def sides(self, examples: LabelledTexts) -> tuple[list[str], ...]:
        """Returns the texts."""
        return (examples.texts,)


SUPERVISED: dict[str, type[SupervisedTask]] = {
    "similarity": Similarity,
    "entailment": Entailment,
    "sentiment": Sentiment,
}

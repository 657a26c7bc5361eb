"""The tasks `similarity`, `entailment` and `sentiment`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from tf_charagram.data._tables.columns import Labelled, read_labelled, read_scored_pairs
from tf_charagram.data._tables.scored import ScoredPairs
from tf_charagram.evaluation._scores.statistics import MetricScore
from tf_charagram.tasks.labels._heads.heads import PairScoreHead
from tf_charagram.tasks.labels._heads.relatedness import relatedness_table, score_relatedness
from tf_charagram.tasks.labels.models import PairClassifier, PairScorer, TextClassifier
from tf_charagram.tasks.labels.supervised import SupervisedTask
from tf_charagram.tasks.labels.treebank import read_labelled_texts
from tf_charagram.training.task import Scoring


class Similarity(SupervisedTask):
    """Scores how related two sentences are (Tai et al. 2015)."""

    model_class = PairScorer
    starter = "inference"
    example_columns = ("text1", "text2", "label")

    def read_file(self, path: Path, split: str, name: str) -> ScoredPairs:
        """Reads pairs with scores."""
        high = float(self.config.num_classes)
        return read_scored_pairs(
            path, 1.0, high, split=split, name=name, **self.table_options(name)
        )

    def labels_of(self, examples: Sequence[ScoredPairs]) -> tuple[str, ...]:
        """Returns no labels."""
        return ()

    def sides(self, examples: ScoredPairs) -> tuple[list[str], ...]:
        """Returns lefts and rights."""
        return examples.left, examples.right

    def targets(self, examples: ScoredPairs) -> NDArray[Any]:
        """Returns the scores."""
        return examples.scores.astype(np.float32)

    def make_head(self, dim: int) -> PairScoreHead:
        """Returns a head with a logit for each whole score."""
        config = self.config
        return PairScoreHead(
            dim=dim, num_classes=config.num_classes, hidden_dim=config.hidden_dim, seed=config.seed
        )

    def score_set(self, model: PairScorer, examples: ScoredPairs, scoring: Scoring) -> MetricScore:
        """Compares predicted scores with the human scores."""
        return score_relatedness(
            examples.scores,
            model.score(examples.left, examples.right),
            num_resamples=scoring.num_resamples,
            seed=scoring.seed,
        )

    def value(self, score: MetricScore) -> float | None:
        """Returns Pearson's r x 100."""
        return score.metrics["pearson"]

    def tables(self, scores: Mapping[str, MetricScore]) -> list[Table]:
        """Returns a table with one row per set."""
        return [relatedness_table(list(scores.items()))]


class Entailment(SupervisedTask):
    """Labels pairs of sentences."""

    model_class = PairClassifier
    starter = "inference"
    example_columns = ("text1", "text2", "label")

    def read_file(self, path: Path, split: str, name: str) -> Labelled:
        """Reads pairs with labels."""
        return read_labelled(path, 2, split=split, name=name, **self.table_options(name))


class Sentiment(SupervisedTask):
    """Labels texts."""

    model_class = TextClassifier
    starter = "sentiment"
    example_columns = ("text", "label")

    def read_file(self, path: Path, split: str, name: str) -> Labelled:
        """Reads texts with labels."""
        return read_labelled_texts(
            path,
            fine_labels="fine" in self.config.sst,
            # Sets to score on have sentences.
            phrases="phrases" in self.config.sst and split == "train",
            name=name,
            **self.table_options(name),
        )

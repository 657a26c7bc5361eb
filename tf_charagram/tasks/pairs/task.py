"""The tasks `similarity` and `entailment`: how two sentences relate, as a score or a label."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from tf_charagram.data.readers.scored import ScoredPairs
from tf_charagram.tasks.pairs.data import LabelledPairs, read_labelled_pairs, read_scored_pairs
from tf_charagram.tasks.pairs.model import PairClassifier, PairScoreHead, PairScorer
from tf_charagram.tasks.pairs.scores import RelatednessScore, relatedness_table, score_relatedness
from tf_charagram.tasks.supervised import LabelTask, SupervisedTask
from tf_charagram.training.task import Scoring


class Similarity(SupervisedTask):
    """Scores how related two sentences are (Tai et al. 2015)."""

    model_class = PairScorer
    starter = "inference"

    def read_file(self, path: Path, split: str, name: str) -> ScoredPairs:
        """Reads pairs with scores."""
        return read_scored_pairs(
            path, num_classes=self.config.num_classes, split=split, name=name, **self.table_options
        )

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

    def score_set(
        self, model: PairScorer, examples: ScoredPairs, scoring: Scoring
    ) -> RelatednessScore:
        """Compares predicted scores with the human scores."""
        return score_relatedness(
            examples.scores, model.score(examples.left, examples.right),
            num_resamples=scoring.num_resamples, seed=scoring.seed,
        )  # fmt: skip

    def value(self, score: RelatednessScore) -> float | None:
        """Returns Pearson's r x 100."""
        return score.pearson

    def tables(self, scores: Mapping[str, RelatednessScore]) -> list[Table]:
        """Returns a table with one row per set."""
        return [relatedness_table(list(scores.items()))]


class Entailment(LabelTask):
    """Labels pairs of sentences."""

    model_class = PairClassifier
    starter = "inference"

    def read_file(self, path: Path, split: str, name: str) -> LabelledPairs:
        """Reads pairs with labels."""
        return read_labelled_pairs(path, split=split, name=name, **self.table_options)

    def sides(self, examples: LabelledPairs) -> tuple[list[str], ...]:
        """Returns lefts and rights."""
        return examples.left, examples.right

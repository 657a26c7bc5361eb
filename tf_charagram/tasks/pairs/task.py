"""The tasks `similarity` and `entailment`: how two sentences relate, as a score or a label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from rich.table import Table

from tf_charagram.data.readers.columns import Labelled, read_labelled, read_scored_pairs
from tf_charagram.data.readers.scored import ScoredPairs
from tf_charagram.evaluation.statistics import (
    Floats,
    MetricScore,
    hundredfold,
    interval,
    pearson,
    resample_counts,
    resampled_pearson,
    resampled_spearman,
    spearman,
)
from tf_charagram.evaluation.tables import metric_table
from tf_charagram.tasks.pairs.model import PairClassifier, PairScoreHead, PairScorer
from tf_charagram.tasks.supervised import LabelTask, SupervisedTask
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


class Entailment(LabelTask):
    """Labels pairs of sentences."""

    model_class = PairClassifier
    starter = "inference"
    example_columns = ("text1", "text2", "label")

    def read_file(self, path: Path, split: str, name: str) -> Labelled:
        """Reads pairs with labels."""
        return read_labelled(path, 2, split=split, name=name, **self.table_options(name))


def score_relatedness(
    gold: ArrayLike, predicted: ArrayLike, *, num_resamples: int = 1000, seed: int = 0
) -> MetricScore:
    """Compares predicted scores with human scores.

    The metrics are `pearson` and `spearman`, x 100 and `None` if one side is constant, and `mse`,
    the mean squared error, in squared units of the scale.

    Args:
        gold: The human scores, `(num_pairs,)`.
        predicted: The predicted scores on the same scale, `(num_pairs,)`.
        num_resamples: Bootstrap resamples; 0 for no intervals.
        seed: Seed of the resamples.
    """
    gold, predicted = np.asarray(gold, np.float64), np.asarray(predicted, np.float64)
    errors = (predicted - gold) ** 2
    draws: dict[str, Floats] = {}
    if num_resamples:
        random = np.random.default_rng(seed)
        resampled = [
            [
                100.0 * resampled_pearson(predicted, gold, counts),
                100.0 * resampled_spearman(predicted, gold, counts),
                counts @ errors / len(errors),
            ]
            for counts in resample_counts(len(gold), num_resamples, random)
        ]
        values = np.concatenate(resampled, axis=1)
        draws = dict(zip(("pearson", "spearman", "mse"), values, strict=True))
    return MetricScore(
        len(gold),
        {
            "pearson": hundredfold(pearson(predicted, gold)),
            "spearman": hundredfold(spearman(predicted, gold)),
            "mse": float(errors.mean()),
        },
        {name: interval(values) for name, values in draws.items()},
    )


def relatedness_table(scores: Sequence[tuple[str, MetricScore]]) -> Table:
    """Returns a table with correlations x 100 and the squared error, one row per set."""
    metrics = {
        "pearson": ("Pearson", ".2f"),
        "spearman": ("Spearman", ".2f"),
        "mse": ("MSE", ".4f"),
    }
    table = metric_table("Relatedness: correlations x 100", ("set", "pairs"), metrics, scores)
    table.caption = "MSE: in squared units of the scale."
    return table

"""Scores embedders on pairs of texts, clean and with typos, and compares them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from rich.table import Table

from tf_charagram.data._tables.lines import BadLines
from tf_charagram.data._tables.scored import ScoredPairs
from tf_charagram.data.sets import evaluation_sets
from tf_charagram.data.typos import with_typos
from tf_charagram.evaluation._scores.scores import (
    Embed,
    SetScore,
    differences,
    score_all,
    set_cosines,
)
from tf_charagram.evaluation._scores.tables import comparison_table, score_table
from tf_charagram.search.tfidf import CharacterTfidf


def tfidf_vectors(texts: Sequence[str]) -> scipy.sparse.csr_array:
    """Returns the tf-idf vectors of texts, with weights counted on these texts."""
    return CharacterTfidf(texts).transform(texts)


@dataclass(frozen=True)
class EvaluationSets:
    """Sets to score on, clean and with typos.

    Attributes:
        clean: The sets.
        mistyped: The same sets with typos in one text of each pair, if asked for.
        num_typos: Number of typos per text, or their kind.
    """

    clean: list[ScoredPairs]
    mistyped: list[ScoredPairs] | None = None
    num_typos: int | str = 0

    @classmethod
    def read(
        cls,
        eval_data: str | None,
        *,
        typos: int | str,
        bad_lines: BadLines,
        seed: int,
        columns: Sequence[str] = (),
        header: bool = True,
    ) -> Self:
        """Reads sets.

        Args:
            eval_data: Folder or file to score on; `None` for the starter set and downloaded sets.
            typos: Number of typos in one text of each pair, or their kind, for a second score;
                0 for no second score.
            bad_lines: Policy for bad lines.
            seed: Seed of the typos.
            columns: Columns of a file: two texts and the score, by name or number from 1.
            header: Whether the first line of a CSV or TSV file has the names of the columns.

        Raises:
            DataError: A file cannot be used.
        """
        sets = evaluation_sets(eval_data, columns=columns, header=header, on_bad_line=bad_lines)
        if not typos:
            return cls(sets)
        mistyped = [with_typos(pairs, typos, seed) for pairs in sets]
        return cls(sets, mistyped, typos)

    @property
    def variants(self) -> list[list[ScoredPairs]]:
        """The clean sets and, if asked for, the sets with typos."""
        if self.mistyped is None:
            return [self.clean]
        return [self.clean, self.mistyped]


@dataclass(frozen=True)
class EmbedderEvaluation:
    """The scores of one embedder.

    Attributes:
        model: Its folder, or the name of a baseline.
        clean: Its scores.
        typos: Its scores with typos in one text of each pair, if asked for.
        cosines: Cosines of the pairs `(num_pairs,)`, by variant and set of `EvaluationSets`.
        label: Its name in tables, if not the name of the folder.
    """

    model: str
    clean: list[SetScore]
    typos: list[SetScore] | None = None
    cosines: list[list[NDArray[np.float32]]] = field(default_factory=list, repr=False)
    label: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Returns the scores for JSON."""
        result: dict[str, Any] = {"model": self.model, **_scores_dict(self.clean)}
        if self.typos is not None:
            changes = _difference_dicts(self.clean, self.typos)
            result["typos"] = {**_scores_dict(self.typos), "differences": changes}
        return result


def evaluate_embeddings(
    model: str,
    embed: Embed,
    sets: EvaluationSets,
    *,
    num_resamples: int,
    seed: int,
    label: str = "",
) -> EmbedderEvaluation:
    """Scores an embedder or a baseline.

    Args:
        model: Its run folder, model folder or name.
        embed: Embeds texts to unit length; called once per set and variant.
        sets: Sets to score on.
        num_resamples: Bootstrap resamples for intervals; 0 for no intervals.
        seed: Seed of the resamples.
        label: Its name in tables, if not the name of the folder.
    """
    scores = []
    cosines = []
    for variant in sets.variants:
        values = list(set_cosines(embed, variant))
        cosines.append(values)
        scores.append(score_all(variant, values, num_resamples=num_resamples, seed=seed))
    clean = scores[0]
    # Variants are in the order clean, mistyped.
    typos = scores[1] if sets.mistyped is not None else None
    return EmbedderEvaluation(model, clean, typos, cosines, label)


def embedder_json(results: Sequence[EmbedderEvaluation]) -> dict[str, Any]:
    """Returns the scores for JSON: of one model, or of several under `models`.

    For two models, `differences` are the scores of the second minus the scores of the first.
    """
    models = [result.to_dict() for result in results]
    if len(models) == 1:
        return models[0]
    answer: dict[str, Any] = {"models": models}
    # Differences of more than two models would be too many to read.
    if len(results) == 2:
        first, second = results
        answer["differences"] = _difference_dicts(first.clean, second.clean)
        if first.typos is not None and second.typos is not None:
            answer["differences_typos"] = _difference_dicts(first.typos, second.typos)
    return answer


def embedder_tables(results: Sequence[EmbedderEvaluation]) -> list[Table]:
    """Returns a table of one model, or tables of several side by side with differences of two."""
    if len(results) == 1:
        return [_single_table(results[0])]
    labels = evaluation_labels(results)
    clean = []
    typos = []
    changes = []
    for label, result in zip(labels, results, strict=True):
        clean.append((label, result.clean))
        if result.typos:
            typos.append((label, result.typos))
            changes.append((label, differences(result.clean, result.typos)))
    tables = [_side_by_side(clean)]
    if typos:
        sets = results[0].clean
        tables.append(_side_by_side(typos, ", with typos"))
        tables.append(comparison_table(sets, [], changes, ", change by typos"))
    return tables


def _single_table(result: EmbedderEvaluation) -> Table:
    if result.typos is None:
        return score_table(result.clean)
    return _side_by_side([("clean", result.clean), ("typos", result.typos)])


def _side_by_side(columns: Sequence[tuple[str, Sequence[SetScore]]], title: str = "") -> Table:
    """Returns a table of scores; two columns get a third one with their difference."""
    scores = [column for _, column in columns]
    comparisons = []
    if len(scores) == 2:
        comparisons.append(("difference", differences(*scores)))
    return comparison_table(scores[0], columns, comparisons, title)


def evaluation_labels(results: Sequence[EmbedderEvaluation]) -> list[str]:
    """Returns a short name of each model and baseline."""
    names = model_labels([result.model for result in results])
    return [result.label or name for result, name in zip(results, names, strict=True)]


def model_labels(models: Sequence[str]) -> list[str]:
    """Returns the name of each model's run folder; its path if two have the same name."""
    paths = [Path(model).absolute() for model in models]
    # The folder `model` is inside the folder that users name their run by.
    names = [path.parent.name if path.name == "model" else path.name for path in paths]
    labels = []
    for model, name in zip(models, names, strict=True):
        is_ambiguous = names.count(name) > 1
        labels.append(model if is_ambiguous else name)
    return labels


def _scores_dict(scores: Sequence[SetScore]) -> dict[str, Any]:
    return {
        "scores": {score.name: score.value for score in scores},
        "details": [score.to_dict() for score in scores],
    }


def _difference_dicts(
    first: Sequence[SetScore], second: Sequence[SetScore]
) -> list[dict[str, Any]]:
    return [change.to_dict() for change in differences(first, second)]

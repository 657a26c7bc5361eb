"""Scores embedders on pairs of texts, clean and with typos, and compares them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from rich.table import Table

from tf_charagram.data.readers.lines import BadLines
from tf_charagram.data.readers.scored import ScoredPairs
from tf_charagram.data.sets import evaluation_sets
from tf_charagram.data.typos import with_typos
from tf_charagram.evaluation.scores import SetScore, differences, score_all, set_cosines
from tf_charagram.evaluation.tables import comparison_table, score_table
from tf_charagram.models.embedder import TextEmbedder, unit_rows

#: Computes the cosines of the pairs of each set, `(num_pairs,)`.
CosinesOf: TypeAlias = Callable[[Sequence[ScoredPairs]], list[NDArray[np.float32]]]


class Baseline(Protocol):
    """Embeds texts without training."""

    def fit(self, texts: Sequence[str]) -> None:
        """Adapts to the texts of a set, before they are encoded."""

    def encode(self, texts: Sequence[str]) -> Any:
        """Returns vectors `(num_texts, dim)`: an array, or unit-length rows as a CSR matrix."""


@dataclass(frozen=True)
class EvaluationSets:
    """Sets to score on, clean and with typos.

    Attributes:
        clean: The sets.
        mistyped: The same sets with typos in one text of each pair, if asked for.
        num_typos: Typos per text there.
    """

    clean: list[ScoredPairs]
    mistyped: list[ScoredPairs] | None = None
    num_typos: int = 0

    @classmethod
    def read(cls, eval_data: str | None, *, typos: int, bad_lines: BadLines, seed: int) -> Self:
        """Reads sets.

        Args:
            eval_data: Folder or file to score on; see `evaluation_sets`.
            typos: Typos in one text of each pair, for a second score; 0 for none.
            bad_lines: Policy for bad lines.
            seed: Seed of the typos.

        Raises:
            DataError: A file cannot be used.
        """
        sets = evaluation_sets(eval_data, on_bad_line=bad_lines)
        mistyped = [with_typos(pairs, typos, seed) for pairs in sets] if typos else None
        return cls(sets, mistyped, typos)

    @property
    def variants(self) -> list[list[ScoredPairs]]:
        """The clean sets and, if asked for, those with typos."""
        return [self.clean] if self.mistyped is None else [self.clean, self.mistyped]


@dataclass(frozen=True)
class EmbedderEvaluation:
    """The scores of one embedder.

    Attributes:
        model: Its folder, or the name of a baseline.
        clean: Its scores.
        typos: Its scores with typos in one text of each pair, if asked for.
        cosines: Cosines of the pairs `(num_pairs,)`, by variant and set of `EvaluationSets`.
        label: Its name in tables, if not that of the folder.
    """

    model: str
    clean: list[SetScore]
    typos: list[SetScore] | None = None
    cosines: list[list[NDArray[np.float32]]] = field(default_factory=list, repr=False)
    label: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Returns the scores for JSON."""
        result: dict[str, Any] = {"model": self.model, **_scores_dict(self.clean)}
        if self.typos is not None:
            changes = _difference_dicts(self.clean, self.typos)
            result["typos"] = {**_scores_dict(self.typos), "differences": changes}
        return result


def evaluate_model(
    model: str, sets: EvaluationSets, *, num_resamples: int, seed: int
) -> EmbedderEvaluation:
    """Scores a saved embedder.

    Args:
        model: Run folder, model folder or name.
        sets: Sets to score on.
        num_resamples: Bootstrap resamples for intervals; 0 for none.
        seed: Seed of the resamples.

    Raises:
        CharagramError: The model cannot be used.
    """
    embedder = TextEmbedder.load(model)

    def cosines_of(pairs: Sequence[ScoredPairs]) -> list[NDArray[np.float32]]:
        return list(set_cosines(lambda texts: unit_rows(embedder.encode(texts)), pairs))

    return _evaluation(model, cosines_of, sets, num_resamples, seed)


def evaluate_baseline(
    name: str,
    baseline: Baseline,
    sets: EvaluationSets,
    *,
    num_resamples: int,
    seed: int,
    label: str | None = None,
) -> EmbedderEvaluation:
    """Scores a baseline, fitted to the texts of each set; arguments as for `evaluate_model`."""

    def embed(texts: Sequence[str]) -> Any:
        vectors = baseline.encode(texts)
        return vectors if scipy.sparse.issparse(vectors) else unit_rows(vectors)

    def cosines_of(pairs: Sequence[ScoredPairs]) -> list[NDArray[np.float32]]:
        cosines: list[NDArray[np.float32]] = []
        for one in pairs:
            baseline.fit(list(dict.fromkeys((*one.left, *one.right))))
            cosines += set_cosines(embed, [one])
        return cosines

    return _evaluation(name, cosines_of, sets, num_resamples, seed, label or name)


def _evaluation(
    model: str,
    cosines_of: CosinesOf,
    sets: EvaluationSets,
    num_resamples: int,
    seed: int,
    label: str | None = None,
) -> EmbedderEvaluation:
    cosines = [cosines_of(variant) for variant in sets.variants]
    clean, *typos = (
        score_all(variant, values, num_resamples=num_resamples, seed=seed)
        for variant, values in zip(sets.variants, cosines, strict=True)
    )
    return EmbedderEvaluation(model, clean, typos[0] if typos else None, cosines, label)


def embedder_json(results: Sequence[EmbedderEvaluation]) -> dict[str, Any]:
    """Returns the scores for JSON: of one model, or of several under `models`.

    Of two, `differences` are the second one's scores minus the first one's.
    """
    if len(results) == 1:
        return results[0].to_dict()
    result: dict[str, Any] = {"models": [result.to_dict() for result in results]}
    if len(results) == 2:
        first, second = results
        result["differences"] = _difference_dicts(first.clean, second.clean)
        if first.typos is not None and second.typos is not None:
            result["differences_typos"] = _difference_dicts(first.typos, second.typos)
    return result


def embedder_tables(results: Sequence[EmbedderEvaluation]) -> list[Table]:
    """Returns a table of one model, or tables of several side by side with differences of two."""
    labels = evaluation_labels(results)
    clean = [(label, result.clean) for label, result in zip(labels, results, strict=True)]
    typos = [
        (label, result.typos)
        for label, result in zip(labels, results, strict=True)
        if result.typos is not None
    ]
    if len(results) == 1:
        (_, scores) = clean[0]
        if not typos:
            return [score_table(scores)]
        columns = [("clean", scores), ("typos", typos[0][1])]
        return [_side_by_side(columns)]
    tables = [_side_by_side(clean)]
    if typos:
        tables.append(_side_by_side(typos, ", with typos"))
        before = dict(clean)
        changes = [(label, differences(before[label], after)) for label, after in typos]
        tables.append(comparison_table(clean[0][1], [], changes, ", change by typos"))
    return tables


def _side_by_side(columns: Sequence[tuple[str, Sequence[SetScore]]], title: str = "") -> Table:
    scores = [column for _, column in columns]
    change = [("difference", differences(*scores))] if len(scores) == 2 else []
    return comparison_table(scores[0], columns, change, title)


def evaluation_labels(results: Sequence[EmbedderEvaluation]) -> list[str]:
    """Returns a distinct short name of each model and baseline."""
    folders = iter(model_labels([result.model for result in results if result.label is None]))
    labels = [next(folders) if result.label is None else result.label for result in results]
    uses = (labels[: number + 1].count(label) for number, label in enumerate(labels))
    return [
        label if use == 1 else f"{label} ({use})" for label, use in zip(labels, uses, strict=True)
    ]


def model_labels(models: Sequence[str]) -> list[str]:
    """Returns the name of each model's run folder; its path if two have the same name."""
    paths = [Path(model).absolute() for model in models]
    names = [path.parent.name if path.name == "model" else path.name for path in paths]
    counts = Counter(names)
    return [name if counts[name] == 1 else model for name, model in zip(names, models, strict=True)]


def _scores_dict(scores: Sequence[SetScore]) -> dict[str, Any]:
    return {
        "scores": {score.name: score.value for score in scores},
        "details": [score.to_dict() for score in scores],
    }


def _difference_dicts(
    first: Sequence[SetScore], second: Sequence[SetScore]
) -> list[dict[str, Any]]:
    return [change.to_dict() for change in differences(first, second)]

"""Scores embedders on pairs of texts, clean and with typos, and compares them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from rich.table import Table

from tf_charagram.data.readers.lines import BadLines
from tf_charagram.data.readers.scored import ScoredPairs
from tf_charagram.data.sets import evaluation_sets
from tf_charagram.data.typos import with_typos
from tf_charagram.evaluation.scores import Embed, SetScore, differences, score_all, set_cosines
from tf_charagram.evaluation.tables import comparison_table, score_table
from tf_charagram.lazy import extra_module
from tf_charagram.models.embedder import TextEmbedder, unit_rows


class Baseline(Protocol):
    """Embeds texts without training."""

    def fit(self, texts: Sequence[str]) -> None:
        """Adapts to the texts of a set, before they are encoded."""

    def encode(self, texts: Sequence[str]) -> Any:
        """Returns vectors `(num_texts, dim)`: an array, or unit-length rows as a CSR matrix."""


class CharacterTfidf:
    """Weights the character n-grams of texts by tf-idf, with scikit-learn.

    The n-grams are those of `charagram`: lowercase, white space collapsed, one space at both ends
    of the text. Rows have unit length.

    Args:
        orders: The smallest and the largest order of n-grams.

    Raises:
        ConfigError: scikit-learn is not installed.
    """

    def __init__(self, orders: tuple[int, int] = (2, 4)) -> None:
        text = extra_module("sklearn.feature_extraction.text", "sklearn")
        self._vectorizer = text.TfidfVectorizer(
            analyzer="char", ngram_range=orders, preprocessor=_padded, dtype=np.float32
        )

    def fit(self, texts: Sequence[str]) -> None:
        """Counts the texts that contain each n-gram."""
        self._vectorizer.fit(texts)

    def encode(self, texts: Sequence[str]) -> Any:
        """Embeds texts; n-grams that were not counted are left out.

        Returns:
            SciPy CSR matrix, float32 `(num_texts, num_ngrams)`.
        """
        return self._vectorizer.transform(texts)


def _padded(text: str) -> str:
    return f" {' '.join(text.lower().split())} "


@dataclass(frozen=True)
class EvaluationSets:
    """Sets to score on, clean and with typos.

    Attributes:
        clean: The sets.
        mistyped: The same sets with typos in one text of each pair, if asked for.
        num_typos: Typos per text there, or their kind.
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
    ) -> Self:
        """Reads sets.

        Args:
            eval_data: Folder or file to score on; see `evaluation_sets`.
            typos: Typos in one text of each pair, for a second score, see `with_typos`; 0 for none.
            bad_lines: Policy for bad lines.
            seed: Seed of the typos.
            columns: Columns of a file, see `evaluation_sets`.

        Raises:
            DataError: A file cannot be used.
        """
        sets = evaluation_sets(eval_data, columns=columns, on_bad_line=bad_lines)
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
    label: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Returns the scores for JSON."""
        result: dict[str, Any] = {"model": self.model, **_scores_dict(self.clean)}
        if self.typos is not None:
            changes = _difference_dicts(self.clean, self.typos)
            result["typos"] = {**_scores_dict(self.typos), "differences": changes}
        return result


def evaluate_model(
    model: str, embedder: TextEmbedder, sets: EvaluationSets, *, num_resamples: int, seed: int
) -> EmbedderEvaluation:
    """Scores an embedder.

    Args:
        model: Its run folder, model folder or name.
        embedder: The embedder.
        sets: Sets to score on.
        num_resamples: Bootstrap resamples for intervals; 0 for none.
        seed: Seed of the resamples.
    """
    return _evaluation(
        model, lambda texts: embedder.encode(texts, normalize=True), sets, num_resamples, seed
    )


def evaluate_baseline(
    name: str,
    baseline: Baseline,
    sets: EvaluationSets,
    *,
    num_resamples: int,
    seed: int,
    label: str = "",
) -> EmbedderEvaluation:
    """Scores a baseline, fitted to the texts of each set; arguments as for `evaluate_model`."""

    def embed(texts: Sequence[str]) -> Any:
        baseline.fit(texts)
        vectors = baseline.encode(texts)
        return vectors if scipy.sparse.issparse(vectors) else unit_rows(vectors)

    return _evaluation(name, embed, sets, num_resamples, seed, label or name)


def _evaluation(
    model: str,
    embed: Embed,
    sets: EvaluationSets,
    num_resamples: int,
    seed: int,
    label: str = "",
) -> EmbedderEvaluation:
    cosines = [list(set_cosines(embed, variant)) for variant in sets.variants]
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
    first = results[0]
    if len(results) == 1 and first.typos is None:
        return [score_table(first.clean)]
    if len(results) == 1:
        return [_side_by_side([("clean", first.clean), ("typos", first.typos or [])])]
    labelled = list(zip(evaluation_labels(results), results, strict=True))
    tables = [_side_by_side([(label, result.clean) for label, result in labelled])]
    mistyped = [(label, result.clean, result.typos) for label, result in labelled if result.typos]
    if mistyped:
        after = [(label, typos) for label, _, typos in mistyped]
        tables.append(_side_by_side(after, ", with typos"))
        changes = [(label, differences(clean, typos)) for label, clean, typos in mistyped]
        tables.append(comparison_table(first.clean, [], changes, ", change by typos"))
    return tables


def _side_by_side(columns: Sequence[tuple[str, Sequence[SetScore]]], title: str = "") -> Table:
    scores = [column for _, column in columns]
    change = [("difference", differences(*scores))] if len(scores) == 2 else []
    return comparison_table(scores[0], columns, change, title)


def evaluation_labels(results: Sequence[EmbedderEvaluation]) -> list[str]:
    """Returns a short name of each model and baseline."""
    names = model_labels([result.model for result in results])
    return [result.label or name for result, name in zip(results, names, strict=True)]


def model_labels(models: Sequence[str]) -> list[str]:
    """Returns the name of each model's run folder; its path if two have the same name."""
    paths = [Path(model).absolute() for model in models]
    names = [path.parent.name if path.name == "model" else path.name for path in paths]
    return [
        model if names.count(name) > 1 else name for name, model in zip(names, models, strict=True)
    ]


def _scores_dict(scores: Sequence[SetScore]) -> dict[str, Any]:
    return {
        "scores": {score.name: score.value for score in scores},
        "details": [score.to_dict() for score in scores],
    }


def _difference_dicts(
    first: Sequence[SetScore], second: Sequence[SetScore]
) -> list[dict[str, Any]]:
    return [change.to_dict() for change in differences(first, second)]

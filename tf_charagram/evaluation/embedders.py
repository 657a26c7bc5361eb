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

from tf_charagram.data.readers.lines import BadLines
from tf_charagram.data.readers.scored import ScoredPairs
from tf_charagram.data.sets import evaluation_sets
from tf_charagram.data.typos import with_typos
from tf_charagram.evaluation.scores import Embed, SetScore, differences, score_all, set_cosines
from tf_charagram.evaluation.tables import comparison_table, score_table
from tf_charagram.search.tfidf import CharacterTfidf


def tfidf_vectors(texts: Sequence[str]) -> scipy.sparse.csr_array:
    """Returns the tf-idf vectors of texts, counted on these texts; see `CharacterTfidf`."""
    return CharacterTfidf(texts).transform(texts)


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
        embed: See `score_sets`; called once per set.
        sets: Sets to score on.
        num_resamples: Bootstrap resamples for intervals; 0 for none.
        seed: Seed of the resamples.
        label: Its name in tables, if not that of the folder.
    """
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

"""Scores embedders on pairs of texts, clean and with typing errors, alone or side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from tf_charagram.bad_lines import BadLines
from tf_charagram.data.pipeline.typos import with_typos
from tf_charagram.data.readers.scored import ScoredPairs
from tf_charagram.encoders import encoder_name
from tf_charagram.evaluation.comparison import differences
from tf_charagram.evaluation.papers import paper_scores
from tf_charagram.evaluation.scores import score_sets
from tf_charagram.evaluation.set_score import SetScore
from tf_charagram.evaluation.sets import evaluation_sets
from tf_charagram.models.embedder import TextEmbedder, unit_rows
from tf_charagram.reporting.similarity_tables import comparison_table, score_table


@dataclass(frozen=True)
class EmbedderEvaluation:
    """The scores of one embedder.

    Attributes:
        model: Its folder, as given.
        clean: Its scores.
        typos: Its scores with typing errors in one text of each pair, if asked for.
    """

    model: str
    clean: list[SetScore]
    typos: list[SetScore] | None

    def to_dict(self) -> dict[str, Any]:
        """Returns what `--json` prints."""
        result: dict[str, Any] = {"model": self.model, **_scores_dict(self.clean)}
        if self.typos is not None:
            changes = _difference_dicts(self.clean, self.typos)
            result["typos"] = {**_scores_dict(self.typos), "differences": changes}
        return result


def evaluate_embedders(
    models: Sequence[str],
    eval_data: str | None,
    *,
    typos: int,
    bad_lines: BadLines,
    num_resamples: int,
    seed: int,
) -> list[EmbedderEvaluation]:
    """Scores embedders on the same sets.

    Args:
        models: Run folders or model folders.
        eval_data: Folder or file to score on; see `evaluation_sets`.
        typos: Typing errors in one text of each pair, for a second score; 0 for none.
        bad_lines: What to do about bad lines.
        num_resamples: Resamples of the bootstrap of the intervals.
        seed: Seed of typing errors and resamples.

    Raises:
        CharagramError: A model or a file cannot be used; the message says why.
    """
    sets = evaluation_sets(eval_data, on_bad_line=bad_lines)
    mistyped = [with_typos(pairs, typos, seed) for pairs in sets] if typos else None
    evaluations = []
    for model in models:
        embedder = TextEmbedder.load(model)

        def scores(
            sets: Sequence[ScoredPairs], embedder: TextEmbedder = embedder
        ) -> list[SetScore]:
            return score_sets(
                lambda texts: unit_rows(embedder.encode(texts)),
                sets,
                paper=paper_scores(encoder_name(embedder.encoder), embedder.encoder.get_config()),
                num_resamples=num_resamples,
                seed=seed,
            )

        typo_scores = None if mistyped is None else scores(mistyped)
        evaluations.append(EmbedderEvaluation(model, scores(sets), typo_scores))
    return _with_shared_scores(evaluations)


def _with_shared_scores(evaluations: list[EmbedderEvaluation]) -> list[EmbedderEvaluation]:
    """Leaves out the means that only some of the models have, those over the sets of a paper."""
    names = set.intersection(*({score.name for score in e.clean} for e in evaluations))

    def shared(scores: list[SetScore]) -> list[SetScore]:
        return [score for score in scores if score.name in names]

    return [
        EmbedderEvaluation(e.model, shared(e.clean), None if e.typos is None else shared(e.typos))
        for e in evaluations
    ]


def embedder_json(results: Sequence[EmbedderEvaluation]) -> dict[str, Any]:
    """Returns the results of one model; those of several under `models`, with differences of two.

    The differences are the second model's scores less the first's.
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
    """Returns the table of one model, or tables of the runs side by side with differences."""
    clean = [result.clean for result in results]
    typos = [result.typos for result in results if result.typos is not None]
    if len(results) == 1:
        if not typos:
            return [score_table(clean[0])]
        columns = [("clean", clean[0]), ("typos", typos[0])]
        return [
            comparison_table(clean[0], columns, [("difference", differences(clean[0], typos[0]))])
        ]
    labels = model_labels([result.model for result in results])
    tables = []
    for title, runs in (("", clean), (", with typing errors", typos)):
        if runs:
            change = [("difference", differences(*runs))] if len(runs) == 2 else []
            columns = list(zip(labels, runs, strict=True))
            tables.append(comparison_table(runs[0], columns, change, title))
    if typos:
        changes = [differences(before, after) for before, after in zip(clean, typos, strict=True)]
        title = ", change by typing errors"
        tables.append(
            comparison_table(clean[0], [], list(zip(labels, changes, strict=True)), title)
        )
    return tables


def model_labels(models: Sequence[str]) -> list[str]:
    """Returns a short name of each model: of its run folder, or the whole path if two are alike."""
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

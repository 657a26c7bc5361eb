"""Scores embedders on pairs of texts, clean and with typing errors, alone or side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import compress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from rich.table import Table

from research.baselines.specs import Baseline, BaselineSpec, load_baselines
from research.paper_numbers import PaperScores, paper_scores
from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.readers.scored import ScoredPairs
from tf_charagram.encoders import encoder_name
from tf_charagram.evaluation.comparison import differences
from tf_charagram.evaluation.evaluation_sets import EvaluationSets
from tf_charagram.evaluation.scores import score_all, set_cosines
from tf_charagram.evaluation.set_score import SetScore
from tf_charagram.evaluation.similarity_tables import comparison_table, score_table
from tf_charagram.models.embedder import TextEmbedder, unit_rows
from tf_charagram.reporting.console import cell

CosinesOf: TypeAlias = Callable[[Sequence[ScoredPairs]], list[NDArray[np.float32]]]


@dataclass(frozen=True)
class EmbedderEvaluation:
    """The scores of one embedder, or of one baseline.

    Attributes:
        model: Its folder or the name of the baseline, as given.
        clean: Its scores.
        typos: Its scores with typing errors in one text of each pair, if asked for.
        cosines: Those of the pairs of each set, `(num_pairs,)`, clean and with typing errors.
        notes: What a reader of the scores should know.
        label: Its name in tables, if it is no model.
    """

    model: str
    clean: list[SetScore]
    typos: list[SetScore] | None
    cosines: list[list[NDArray[np.float32]]] = field(default_factory=list, repr=False)
    notes: list[str] = field(default_factory=list)
    label: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Returns what `--json` prints."""
        result: dict[str, Any] = {"model": self.model, **_scores_dict(self.clean)}
        if self.typos is not None:
            changes = _difference_dicts(self.clean, self.typos)
            result["typos"] = {**_scores_dict(self.typos), "differences": changes}
        return {**result, "notes": self.notes} if self.notes else result


def evaluate_embedders(
    models: Sequence[str],
    sets: EvaluationSets,
    *,
    baselines: Sequence[BaselineSpec] = (),
    bad_lines: BadLines,
    num_resamples: int,
    seed: int,
) -> list[EmbedderEvaluation]:
    """Scores embedders and baselines on the same sets.

    Args:
        models: Run folders or model folders.
        sets: What to score on.
        baselines: What to compare with. Each is fitted to the texts of each set by itself.
        bad_lines: What to do about bad lines of the files of baselines.
        num_resamples: Resamples of the bootstrap of the intervals.
        seed: Seed of the resamples.

    Raises:
        CharagramError: A model or a file cannot be used; the message says why.
    """

    def evaluation(
        model: str, cosines_of: CosinesOf, paper: PaperScores | None = None, **about: Any
    ) -> EmbedderEvaluation:
        cosines, scores = [], []
        for of_variant in sets.variants:
            cosines.append(cosines_of(of_variant))
            scores.append(
                score_all(
                    of_variant, cosines[-1], paper=paper, num_resamples=num_resamples, seed=seed
                )
            )
        clean, typos = scores[0], scores[1] if sets.mistyped is not None else None
        return EmbedderEvaluation(model, clean, typos, cosines, **about)

    evaluations = []
    for model in models:
        embedder = TextEmbedder.load(model)
        paper = paper_scores(encoder_name(embedder.encoder), embedder.encoder.get_config())
        evaluations.append(evaluation(model, partial(_model_cosines, embedder), paper))
    for spec, baseline in load_baselines(baselines, sets.texts, bad_lines):
        scored = evaluation(spec.name, partial(_baseline_cosines, baseline), label=spec.label)
        notes = [f"{spec.label}: {note}" for note in baseline.notes()]
        evaluations.append(replace(scored, notes=notes))
    return _with_shared_scores(evaluations)


def _with_shared_scores(evaluations: list[EmbedderEvaluation]) -> list[EmbedderEvaluation]:
    """Leaves out the means that only some of the models have, those over the sets of a paper."""
    names = set.intersection(*({score.name for score in e.clean} for e in evaluations))

    def shared(scores: list[SetScore]) -> list[SetScore]:
        return [score for score in scores if score.name in names]

    return [
        replace(e, clean=shared(e.clean), typos=None if e.typos is None else shared(e.typos))
        for e in evaluations
    ]


def _model_cosines(
    embedder: TextEmbedder, sets: Sequence[ScoredPairs]
) -> list[NDArray[np.float32]]:
    return list(set_cosines(lambda texts: unit_rows(embedder.encode(texts)), sets))


def _baseline_cosines(baseline: Baseline, sets: Sequence[ScoredPairs]) -> list[NDArray[np.float32]]:
    def embed(texts: Sequence[str]) -> Any:
        vectors = baseline.encode(texts)
        # The only sparse ones, those of tf-idf, have unit length.
        return vectors if scipy.sparse.issparse(vectors) else unit_rows(vectors)

    cosines: list[NDArray[np.float32]] = []
    for pairs in sets:
        baseline.fit(list(dict.fromkeys((*pairs.left, *pairs.right))))
        cosines += set_cosines(embed, [pairs])
    return cosines


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
    labels = evaluation_labels(results)
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
    of_baselines = (result.label is not None for result in results)
    _break_headers(tables, list(compress(labels, of_baselines)))
    return tables


def _break_headers(tables: Sequence[Table], labels: Sequence[str]) -> None:
    """Puts the labels of baselines on several lines: two side by side are wide."""
    headers = {cell(label) for label in labels}
    for table in tables:
        for column in table.columns:
            if (header := str(column.header)) in headers:
                column.header = header.replace(":", ":\n", 1).replace(" (", "\n(")


def evaluation_labels(results: Sequence[EmbedderEvaluation]) -> list[str]:
    """Returns a short name of each model and baseline; of what is given twice, one has a number."""
    models = [result.model for result in results if result.label is None]
    names = iter(model_labels(models))
    labels = [next(names) if result.label is None else result.label for result in results]
    counts = Counter(labels)
    labels = [
        label if counts[label] == 1 else result.model
        for label, result in zip(labels, results, strict=True)
    ]
    uses = (labels[: number + 1].count(label) for number, label in enumerate(labels))
    return [
        label if use == 1 else f"{label} ({use})" for label, use in zip(labels, uses, strict=True)
    ]


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

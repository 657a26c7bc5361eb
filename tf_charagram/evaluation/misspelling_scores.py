"""Scores embedders on misspellings, beside edit distance and the vectors of fastText."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.readers.fasttext_model import load_fasttext
from tf_charagram.data.readers.misspellings import read_misspellings
from tf_charagram.errors import ConfigError, DataError
from tf_charagram.evaluation.comparison import Difference, score_differences
from tf_charagram.evaluation.embedders import model_labels
from tf_charagram.evaluation.misspelling_tables import recall_table
from tf_charagram.evaluation.misspellings import (
    Indices,
    MisspellingQueries,
    RecallScore,
    score_ranks,
)
from tf_charagram.extras import extra_module
from tf_charagram.models.embedder import TextEmbedder, unit_rows
from tf_charagram.search.spelling import (
    MAX_CHARS,
    NUM_CANDIDATES,
    SpellingCorrector,
    candidate_features,
    first_forms,
    nearest,
    ordered,
    read_words,
)
from tf_charagram.tasks.supervised_tables import difference_table

VECTORS, CORRECTIONS = "vectors", "vectors, edit distance, frequency"
#: Names in rapidfuzz: without and with swapped letters, Damerau's distance in its restricted form.
_EDIT_DISTANCES = ("Levenshtein", "OSA")
# Scores of queries and words in memory at once: 64 MB as float32.
_MAX_CELLS = 16_000_000
_FARTHEST = 255

Blocks = Iterator[tuple[int, NDArray[Any]]]


@dataclass(frozen=True)
class MisspellingEvaluation:
    """The scores of all methods on a list of misspellings.

    Attributes:
        queries: What was asked.
        num_words: Size of the vocabulary.
        models: The models, as given.
        by_model: The scores of each: by vectors alone, and of its corrections.
        others: The scores of edit distance and of fastText, by name.
        notes: What is missing and why.
    """

    queries: MisspellingQueries
    num_words: int
    models: list[str]
    by_model: list[dict[str, RecallScore]] = field(default_factory=list)
    others: dict[str, RecallScore] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def scores(self) -> dict[str, RecallScore]:
        """Returns all scores; where there are several models, their names come before a colon."""
        prefixes = [f"{label}: " for label in model_labels(self.models)]
        if len(self.models) == 1:
            prefixes = [""]
        scores = {
            f"{prefix}{name}": score
            for prefix, of_model in zip(prefixes, self.by_model, strict=True)
            for name, score in of_model.items()
        }
        return {**scores, **self.others}

    def differences(self) -> dict[str, list[Difference]]:
        """Returns the second model's scores less the first's, if there are two."""
        if len(self.by_model) != 2:
            return {}
        first, second = self.by_model
        return {name: score_differences(score, second[name]) for name, score in first.items()}

    def to_dict(self) -> dict[str, Any]:
        """Returns what `--json` prints."""
        queries, scores = self.queries, self.scores()
        result: dict[str, Any] = {
            "models": self.models,
            "num_words": self.num_words,
            "num_queries": len(queries),
            "num_unknown": queries.num_unknown,
            "num_equal": queries.num_equal,
            "num_wrong_forms_that_are_words": queries.num_words,
            "scores": {name: score.metrics["recall_at_1"] for name, score in scores.items()},
            "details": [{"method": name, **score.to_dict()} for name, score in scores.items()],
            "notes": self.notes,
        }
        if changes := self.differences():
            result["differences"] = {
                name: [change.to_dict() for change in of_method]
                for name, of_method in changes.items()
            }
        return result

    def tables(self) -> list[Table]:
        """Returns the table of all methods, and those of the differences of two models."""
        table = recall_table(self.scores(), self.queries, self.num_words, self.notes)
        changes = self.differences().items()
        return [table, *(difference_table(name, change) for name, change in changes)]


def evaluate_misspellings(
    models: Sequence[str],
    path: str,
    vocabulary: str | None,
    *,
    fasttext: str | None,
    bad_lines: BadLines,
    num_resamples: int,
    seed: int,
) -> MisspellingEvaluation:
    """Scores embedders on a list of misspellings.

    Args:
        models: Run folders or model folders.
        path: The list, see `read_misspellings`.
        vocabulary: File of words, most frequent first; default: the texts of the first model.
        fasttext: Model of fastText to compare with, if any.
        bad_lines: What to do about bad lines.
        num_resamples: Resamples of the bootstrap of the intervals.
        seed: Seed of the resamples.

    Raises:
        CharagramError: A model or a file cannot be used; the message says why.
    """
    misspellings = read_misspellings(path, on_bad_line=bad_lines)
    words = list(first_forms(read_words(vocabulary, models[0], "--vocabulary")))
    if not words:
        raise ConfigError("There are no words in the vocabulary.")
    queries = MisspellingQueries.of(misspellings, words)
    if not len(queries):
        raise DataError(
            path, f"none of the right forms is among the {len(words):,} words of the vocabulary"
        )
    fasttext_embed = _fasttext_embed(fasttext) if fasttext else None
    result = MisspellingEvaluation(queries, len(words), list(models))

    def score(ranks: Indices) -> RecallScore:
        return score_ranks(ranks, num_resamples=num_resamples, seed=seed)

    for model in models:
        ranks = model_ranks(TextEmbedder.load(model, folded=True), words, queries)
        result.by_model.append({name: score(of_method) for name, of_method in ranks.items()})
    try:
        extra_module("rapidfuzz", "spelling")
    except ConfigError as error:
        result.notes.append(f"No edit distance: {error}")
    else:
        for name in _EDIT_DISTANCES:
            ranks_by_edits = _ranks(queries, _closeness(queries.wrong, words, name))
            result.others[f"{name} distance"] = score(ranks_by_edits)
    if fasttext_embed:
        blocks = cosine_blocks(fasttext_embed(queries.wrong), fasttext_embed(words))
        result.others["fastText vectors"] = score(_ranks(queries, blocks))
    return result


def model_ranks(
    embedder: TextEmbedder, words: Sequence[str], queries: MisspellingQueries
) -> dict[str, Indices]:
    """Returns the ranks of the right forms by vectors alone and after correction.

    A right form that is not among the candidates of correction has the rank of the last word.

    Args:
        embedder: The model.
        words: The vocabulary, most frequent first.
        queries: What is asked.
    """
    corrector = SpellingCorrector(embedder, words)
    wrong, right = (unit_rows(embedder.encode(side)) for side in (queries.wrong, corrector.keys))
    by_vectors = _ranks(queries, cosine_blocks(wrong, right))
    corrected: list[int] = []
    for start, cosines in cosine_blocks(corrector.embed(queries.wrong), corrector.vectors):
        for number, row in enumerate(cosines, start=start):
            candidates = nearest(row, NUM_CANDIDATES, int(queries.own[number]))
            features = candidate_features(queries.wrong[number], candidates, row, corrector.keys)
            answers = candidates[ordered(features)[0]]
            hits = np.flatnonzero(np.isin(answers, queries.right[number]))
            corrected.append(int(hits[0]) if len(hits) else len(corrector.keys) - 1)
    return {VECTORS: by_vectors, CORRECTIONS: np.array(corrected, np.intp)}


def cosine_blocks(queries: NDArray[np.float32], words: NDArray[np.float32]) -> Blocks:
    """Yields the first query of a block and the cosines of the block, `(num_rows, num_words)`.

    Args:
        queries: Unit-length vectors `(num_queries, dim)`.
        words: Unit-length vectors `(num_words, dim)`.
    """
    for start, stop in _bounds(len(queries), len(words)):
        yield start, queries[start:stop] @ words.T


def _closeness(wrong: Sequence[str], words: Sequence[str], name: str) -> Blocks:
    """Yields blocks as `cosine_blocks`, of 255 less the edit distance; 0 for 255 edits or more."""
    process = extra_module("rapidfuzz.process", "spelling")
    scorer = getattr(extra_module("rapidfuzz.distance", "spelling"), name).distance
    wrong, words = ([word[:MAX_CHARS] for word in texts] for texts in (wrong, words))
    for start, stop in _bounds(len(wrong), len(words)):
        distances = process.cdist(
            wrong[start:stop], words, scorer=scorer, dtype=np.uint8, workers=-1,
            score_cutoff=_FARTHEST - 1,
        )  # fmt: skip
        yield start, _FARTHEST - distances


def _bounds(num_queries: int, num_words: int) -> Iterator[tuple[int, int]]:
    size = max(1, _MAX_CELLS // num_words)
    for start in range(0, num_queries, size):
        yield start, min(start + size, num_queries)


def _ranks(queries: MisspellingQueries, blocks: Blocks) -> Indices:
    return np.concatenate([queries.ranks(scores, start) for start, scores in blocks])


def _fasttext_embed(path: str) -> Callable[[Sequence[str]], NDArray[np.float32]]:
    """Returns what embeds words with a model of fastText, to unit length."""
    model = load_fasttext(path)
    return lambda words: unit_rows(np.stack([model.get_word_vector(word) for word in words]))

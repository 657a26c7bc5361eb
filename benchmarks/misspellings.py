"""Prints the recall of the right form of misspellings among words, at 1, 10 and 50.

    python benchmarks/misspellings.py LIST [--model english] [--vocabulary WORDS]

Methods are vectors alone, `charagram search --spelling`, and the edit distance, where swapping two
letters is one edit. Of equal answers, the more frequent word comes first. Case is ignored, and a
misspelling never answers itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import common
import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA

from tf_charagram.data.readers.misspellings import Misspelling, read_misspellings
from tf_charagram.models._answers.vectors import nearest
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.search._pairs.spelling import (
    MAX_CHARS,
    NUM_CANDIDATES,
    SpellingCorrector,
    candidate_features,
    first_forms,
    ordered,
    read_words,
)

#: Numbers of first answers that recall is computed at.
RECALL_AT = (1, 10, 50)
# Queries that are compared with all words at a time.
_BLOCK = 100

#: First query of a block, and its scores `(num_rows, num_words)`; larger is better.
Blocks = Iterator[tuple[int, NDArray[Any]]]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class MisspellingQueries:
    """Misspellings whose right forms are searched in a vocabulary.

    A wrong form is one query; any of its right forms counts.

    Attributes:
        wrong: Distinct lowercase wrong forms.
        right: Positions of the right forms of each in the vocabulary, increasing.
        own: Position of each wrong form in the vocabulary, -1 if absent; `(num_queries,)`.
        num_left_out: Wrong forms with no other form in the vocabulary.
    """

    wrong: list[str]
    right: list[Indices]
    own: Indices
    num_left_out: int

    def __len__(self) -> int:
        return len(self.wrong)

    @classmethod
    def of(
        cls, misspellings: Sequence[Misspelling], vocabulary: Sequence[str]
    ) -> MisspellingQueries:
        """Builds queries from wrong forms and distinct lowercase words."""
        positions = {word: position for position, word in enumerate(vocabulary)}
        # Positions of the right forms of each wrong form, if any is known.
        right_rows: dict[str, set[int]] = {}
        for wrong, forms in misspellings:
            wrong = wrong.lower()
            rows = right_rows.setdefault(wrong, set())
            for form in map(str.lower, forms):
                if form in positions and form != wrong:
                    rows.add(positions[form])
        found = {wrong: np.array(sorted(rows)) for wrong, rows in right_rows.items() if rows}
        own = np.array([positions.get(wrong, -1) for wrong in found])
        return cls(list(found), list(found.values()), own, len(right_rows) - len(found))

    def ranks(self, blocks: Blocks) -> Indices:
        """Counts the answers before the first right one; ties keep the vocabulary's order."""
        ranks = []
        for start, scores in blocks:
            for query, row in enumerate(scores, start):
                right = self.right[query]
                # `argmax` takes the first of equal scores: the most frequent right form.
                best = right[np.argmax(row[right])]
                is_before = row > row[best]
                is_before[:best] |= row[:best] == row[best]
                own = self.own[query]
                if own >= 0:
                    # A wrong form that is a word itself is no answer.
                    is_before[own] = False
                ranks.append(np.count_nonzero(is_before))
        return np.array(ranks)


def recalls(ranks: Indices) -> dict[str, float]:
    """Returns `recall_at_1` and so on, x 100, from the number of answers before the right one."""
    return {f"recall_at_{k}": 100.0 * float(np.mean(ranks < k)) for k in RECALL_AT}


def cosine_blocks(queries: NDArray[np.float32], words: NDArray[np.float32]) -> Blocks:
    """Yields the cosines of queries and words, from vectors of unit length."""
    for start in range(0, len(queries), _BLOCK):
        yield start, queries[start : start + _BLOCK] @ words.T


def edit_blocks(wrong: Sequence[str], words: Sequence[str]) -> Blocks:
    """Yields 255 minus the edit distance, at most 255."""
    queries = [word[:MAX_CHARS] for word in wrong]
    answers = [word[:MAX_CHARS] for word in words]
    for start in range(0, len(queries), _BLOCK):
        rows = queries[start : start + _BLOCK]
        distances = process.cdist(
            rows, answers, scorer=OSA.distance, dtype=np.uint8, score_cutoff=254
        )
        yield start, 255 - distances


def corrected_ranks(corrector: SpellingCorrector, queries: MisspellingQueries) -> Indices:
    """Returns the ranks after correction; the last rank if the right form is no candidate."""
    ranks = []
    for start, cosines in cosine_blocks(corrector.embed(queries.wrong), corrector.vectors):
        for query, row in enumerate(cosines, start):
            candidates = nearest(row, NUM_CANDIDATES, int(queries.own[query]))
            features = candidate_features(queries.wrong[query], candidates, row, corrector.keys)
            order, _ = ordered(features)
            hits = np.flatnonzero(np.isin(candidates[order], queries.right[query]))
            ranks.append(hits[0] if len(hits) else len(corrector.keys) - 1)
    return np.array(ranks)


def main() -> None:
    """Runs the benchmark."""
    parser = common.make_parser(__doc__, rounds=None)
    parser.add_argument("misspellings")
    parser.add_argument("--model", default="english")
    parser.add_argument("--vocabulary", help="words, most frequent first; by default, the model's")
    arguments = parser.parse_args()
    words = list(first_forms(read_words(arguments.vocabulary, arguments.model, "--vocabulary")))
    queries = MisspellingQueries.of(read_misspellings(arguments.misspellings), words)
    embedder = TextEmbedder.load(arguments.model, folded=True)
    as_written = TextEmbedder.load(arguments.model, folded=True, correct_spelling=False)
    vectors = [embedder.encode(texts, normalize=True) for texts in (queries.wrong, words)]
    by_method = {
        "vectors": queries.ranks(cosine_blocks(*vectors)),
        "--spelling": corrected_ranks(SpellingCorrector(as_written, words), queries),
        "edit distance": queries.ranks(edit_blocks(queries.wrong, words)),
    }
    print(f"{len(queries):,} misspellings, {queries.num_left_out:,} left out, {len(words):,} words")
    result: dict = {}
    for method, ranks in by_method.items():
        found = recalls(ranks)
        result[method] = {name: common.Sample([value], "%") for name, value in found.items()}
        print("  ".join(f"{value:6.2f}" for value in found.values()), f" {method}")
    common.finish("misspellings", result, arguments)


if __name__ == "__main__":
    main()

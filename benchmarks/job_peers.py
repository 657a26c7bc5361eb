"""The ways that `jobs.py` compares: this package, other packages, and the cosines of their vectors.

Nothing here imports a package before its peer is made: each runs under an interpreter that has it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from packages import PACKAGES
from scipy.sparse import issparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

#: Returns the k best rows for each query, `(num_queries, k)`.
Search = Callable[[list[str], int], np.ndarray]
#: Returns the scores of pairs of left and right texts.
Score = Callable[[list[str], list[str]], np.ndarray]
#: Returns a matrix of vectors, dense or sparse.
Encode = Callable[[list[str]], Any]
#: Label (1 or 0), left text, right text.
Pairs = list[list[str]]


class Peer(NamedTuple):
    """One way to do the jobs; the parts that it lacks are `None`.

    Attributes:
        index: Returns the search in a list.
        compare: Returns the scores of pairs, for all texts and the labelled pairs.
        fit: Returns the function that embeds texts such as those given.
    """

    index: Callable[[list[str]], Search] | None = None
    compare: Callable[[list[str], Pairs], Score] | None = None
    fit: Callable[[list[str]], Encode] | None = None


# This package.


def search(model: str) -> Peer:
    """Returns `TextIndex` and `TextScorer` with their defaults."""
    from tf_charagram.models.embedder import TextEmbedder
    from tf_charagram.search import TextIndex, TextScorer

    embedder = TextEmbedder.load(model, folded=True)

    def index(texts: list[str]) -> Search:
        built = TextIndex(texts, embedder)
        return lambda queries, k: np.array(
            [
                [hit.row for hit in hits] + [-1] * (k - len(hits))
                for hits in built.search(queries, k)
            ]
        )

    return Peer(index, lambda texts, labelled: TextScorer(texts, embedder).score)


def search_labels(model: str) -> Peer:
    """Returns a `TextScorer` that learns from labelled pairs."""
    from tf_charagram.search import TextScorer

    def compare(texts: list[str], labelled: Pairs) -> Score:
        scorer = TextScorer(texts, model)
        labels, left, right = zip(*labelled, strict=True)
        scorer.learn(left, right, map(int, labels))
        return scorer.score

    return Peer(compare=compare)


# Peers with vectors.


def package(name: str) -> Callable[[str], Peer]:
    """Returns a maker of a model of `packages.py`."""

    def make(model: str) -> Peer:
        encode = PACKAGES[name](model, "sentences")
        return by_cosine(lambda texts: encode)

    return make


def unisim(model: str) -> Peer:
    """Returns RETSim, whose weights are in the package."""
    from unisim import TextSim

    encode = TextSim().embed
    return by_cosine(lambda texts: encode)


def tfidf(**settings: Any) -> Callable[[str], Peer]:
    """Returns a maker of tf-idf, fitted on the texts that are searched."""
    return lambda model: by_cosine(
        lambda texts: TfidfVectorizer(sublinear_tf=True, **settings).fit(texts).transform
    )


def by_cosine(fit: Callable[[list[str]], Encode]) -> Peer:
    """Returns the exact cosines of vectors."""

    def index(texts: list[str]) -> Search:
        encode = fit(texts)
        known = normalize(encode(texts))

        def find(queries: list[str], k: int) -> np.ndarray:
            cosines = normalize(encode(queries)) @ known.T
            return best(cosines.toarray() if issparse(cosines) else cosines, k)

        return find

    def compare(texts: list[str], labelled: Pairs) -> Score:
        encode = fit(texts)

        def score(left: list[str], right: list[str]) -> np.ndarray:
            one, other = normalize(encode(left)), normalize(encode(right))
            products = one.multiply(other) if issparse(one) else one * other
            return np.asarray(products.sum(axis=1)).ravel()

        return score

    return Peer(index, compare, fit)


# Peers that only score.


def bm25(model: str) -> Peer:
    """Returns BM25 of words with the defaults of bm25s."""
    import bm25s

    def words(texts: list[str]) -> list[list[str]]:
        return bm25s.tokenize(texts, return_ids=False, show_progress=False)

    def ranker(texts: list[str]) -> bm25s.BM25:
        made = bm25s.BM25()
        made.index(words(texts), show_progress=False)
        return made

    def index(texts: list[str]) -> Search:
        made = ranker(texts)
        return lambda queries, k: made.retrieve(words(queries), k=k, show_progress=False)[0]

    def compare(texts: list[str], labelled: Pairs) -> Score:
        made, rows = ranker(texts), {text: row for row, text in enumerate(texts)}
        return lambda left, right: np.array(
            [
                made.get_scores(query)[rows[text]]
                for query, text in zip(words(left), right, strict=True)
            ]
        )

    return Peer(index, compare)


def rapidfuzz(model: str) -> Peer:
    """Returns `token_set_ratio` of lowercase text without punctuation."""
    from rapidfuzz import fuzz, process, utils

    def plain(texts: list[str]) -> list[str]:
        return [utils.default_process(text) for text in texts]

    def index(texts: list[str]) -> Search:
        known = plain(texts)
        return lambda queries, k: best(
            process.cdist(plain(queries), known, scorer=fuzz.token_set_ratio), k
        )

    def score(left: list[str], right: list[str]) -> np.ndarray:
        return np.array([*map(fuzz.token_set_ratio, plain(left), plain(right))])

    return Peer(index, lambda texts, labelled: score)


def best(scores: np.ndarray, k: int) -> np.ndarray:
    """Returns the columns of the `k` largest numbers of each row, largest first."""
    rows = np.sort(np.argpartition(-scores, k - 1, axis=1)[:, :k], axis=1)
    order = np.argsort(-np.take_along_axis(scores, rows, axis=1), axis=1, kind="stable")
    return np.take_along_axis(rows, order, axis=1)


PEERS: dict[str, Callable[[str], Peer]] = {
    "search": search, "search-labels": search_labels, "english": package("charagram"),
    "tfidf-chars": tfidf(analyzer="char_wb", ngram_range=(2, 4)), "tfidf-words": tfidf(),
    "BM25": bm25, "rapidfuzz": rapidfuzz, "MiniLM": package("sentence-transformers"),
    "model2vec": package("model2vec"), "unisim": unisim,
}  # fmt: skip
OURS = ("search", "search-labels", "english")

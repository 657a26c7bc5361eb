"""Fits the weights of spelling correction, and prints recall of the right form for several.

    python benchmarks/spelling.py [--model runs/mine] [--misspellings LIST] [--vocabulary WORDS]

Without a list each word of the vocabulary gets a random typing error.

The errors of a right form are all on one side: a form is held out of training where
`zlib.crc32(form.lower().encode()) % 10 == 0`, and of those, weights are fitted where
`% 20 == 0` and measured where `% 20 == 10`. So a model that was trained on the rest of the list
neither fits nor measures on its training data. `--model` may be given several times.

Weights are those of a conditional logit model: the right form among its candidates, by maximum
likelihood. `WEIGHTS` are those of `search/_pairs/spelling.py`; those fitted with all features
are to become its constants. Recall is at 1, 10 and 50.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import common
import numpy as np
from misspellings import MisspellingQueries, cosine_blocks, recalls
from scipy.optimize import minimize

from tf_charagram.data.readers.misspellings import Misspelling, read_misspellings
from tf_charagram.data.typos import add_typos
from tf_charagram.models._answers.vectors import nearest
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.search._pairs.spelling import (
    NUM_CANDIDATES,
    WEIGHTS,
    CorrectionWeights,
    SpellingCorrector,
    candidate_features,
    read_words,
)

#: Sets of features that are tried; the others weigh nothing.
TRIED = (
    ("cosine",),
    ("cosine", "distance"),
    ("distance", "log_rank"),
    ("cosine", "distance", "log_rank"),
    CorrectionWeights._fields,
)
FITTED, MEASURED = 0, 10
_RIDGE = 1e-4


@dataclass(frozen=True)
class Candidates:
    """The candidates of queries.

    Attributes:
        features: `(num_queries, num_candidates, num_features)`.
        right: `(num_queries,)`, the index of the right form; -1 where it is no candidate.
    """

    features: np.ndarray
    right: np.ndarray

    def ranks(self, weights: np.ndarray) -> np.ndarray:
        """Returns the rank of the right form, a large number if it is not a candidate."""
        scores = self.features @ weights
        right_scores = np.take_along_axis(scores, np.maximum(self.right, 0)[:, np.newaxis], 1)
        return np.where(self.right >= 0, (scores > right_scores).sum(axis=1), scores.size)


def side(misspelling: Misspelling) -> int:
    """Returns 0 to 19 by a right form; held out of training are 0 and 10."""
    return zlib.crc32(misspelling.right[0].lower().encode()) % 20


def made_up(words: list[str]) -> list[Misspelling]:
    """Returns words with a random typing error."""
    random = np.random.default_rng(0)
    return [Misspelling(add_typos(word, 1, random), (word,)) for word in words]


def candidates_of(
    corrector: SpellingCorrector, misspellings: list[Misspelling], num_candidates: int
) -> Candidates:
    """Returns the candidates of all misspellings whose right form is in the vocabulary."""
    queries = MisspellingQueries.of(misspellings, corrector.keys)
    features, right = [], []
    for start, cosines in cosine_blocks(corrector.embed(queries.wrong), corrector.vectors):
        for number, row in enumerate(cosines, start=start):
            positions = nearest(row, num_candidates, int(queries.own[number]))
            wrong = queries.wrong[number]
            features.append(candidate_features(wrong, positions, row, corrector.keys))
            hits = np.flatnonzero(np.isin(positions, queries.right[number]))
            right.append(int(hits[0]) if len(hits) else -1)
    return Candidates(np.stack(features), np.array(right))


def fit(candidates: Candidates, names: tuple[str, ...]) -> CorrectionWeights:
    """Fits the weights of some features by maximum likelihood; the others are 0."""
    columns = [CorrectionWeights._fields.index(name) for name in names]
    is_there = candidates.right >= 0
    features = candidates.features[is_there][:, :, columns]
    rows, right = np.arange(len(features)), candidates.right[is_there]
    scale = features.std(axis=(0, 1))

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        scores = features @ (weights / scale)
        scores -= scores.max(axis=1, keepdims=True)
        probabilities = np.exp(scores)
        totals = probabilities.sum(axis=1)
        value = (np.log(totals) - scores[rows, right]).mean() + _RIDGE * weights @ weights
        expected = np.einsum("qc,qcf->qf", probabilities / totals[:, np.newaxis], features)
        gradient = (expected - features[rows, right]).mean(axis=0) / scale
        return value, gradient + 2 * _RIDGE * weights

    fitted = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B").x / scale
    fitted = fitted.round(3).tolist()
    return CorrectionWeights(
        **{name: 0.0 for name in CorrectionWeights._fields} | dict(zip(names, fitted, strict=True))
    )


def main() -> None:
    """Runs the benchmark."""
    parser = common.make_parser(__doc__, rounds=None)
    parser.add_argument("--model", action="append", help="`english` by default")
    parser.add_argument("--misspellings")
    parser.add_argument("--vocabulary")
    parser.add_argument("--made-up", type=int, default=20_000, help="words that get an error")
    parser.add_argument("--candidates", type=int, default=NUM_CANDIDATES)
    arguments = parser.parse_args()
    models = arguments.model or ["english"]
    words = read_words(arguments.vocabulary, models[0])
    if arguments.misspellings is None:
        misspellings = made_up(words[: arguments.made_up])
    else:
        misspellings = read_misspellings(arguments.misspellings)
    parts = [[m for m in misspellings if side(m) == number] for number in (FITTED, MEASURED)]
    result: dict = {"is_made_up": arguments.misspellings is None}
    for model in models:
        result[model] = {}
        embedder = TextEmbedder.load(model, folded=True, correct_spelling=False)
        corrector = SpellingCorrector(embedder, words)
        fitted, measured = (candidates_of(corrector, p, arguments.candidates) for p in parts)
        tried = {", ".join(names): fit(fitted, names) for names in TRIED} | {"WEIGHTS": WEIGHTS}
        print(f"{model}: fitted on {len(fitted.right):,}, measured on {len(measured.right):,}")
        for name, weights in tried.items():
            found = recalls(measured.ranks(np.array(weights)))
            result[model][name] = {
                metric: common.Sample([recall], "%") for metric, recall in found.items()
            }
            cells = "  ".join(f"{recall:6.2f}" for recall in found.values())
            print(f"{cells}  {name}  {list(weights)}", flush=True)
        result[model]["weights"] = tried[", ".join(CorrectionWeights._fields)]._asdict()
    common.finish("spelling", result, arguments)


if __name__ == "__main__":
    main()

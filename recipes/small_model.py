r"""Distils a model of n-grams into fewer n-grams and dimensions, by least squares.

    python recipes/small_model.py english data/some-lines.txt runs/small \
        --max-ngrams 12000 --dim 128

A model is a linear function of the counts of n-grams, so the best rows for some lines are the
solution of one system of equations: nothing is trained. Lines count equally, whatever the length of
their vectors. A third of them is there again with typos, and has the vectors of the lines without.
The dimensions are the principal components of the vectors of the lines. The dictionary keeps its
most frequent words; the others are accepted as they are written.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from tf_charagram.cli._flags.flags import MODEL_HELP, Parser
from tf_charagram.cli.commands import run_command
from tf_charagram.data._tables.lines import read_lines
from tf_charagram.data.typos import add_typos

_BATCH = 10_000
_MAX_TYPOS = 3


def with_frequent_words(dictionary: Any, max_words: int) -> Any:
    """Returns a dictionary with its most frequent words; others are accepted as written."""
    from tf_charagram._common.weights import STEPS_PER_WEIGHT
    from tf_charagram.text._spelling.dictionary import Dictionary
    from tf_charagram.text._spelling.word_filter import WordFilter

    log_counts = dictionary.log_counts.tolist()
    counts = dict(zip(dictionary.words, np.exp2(log_counts).round().tolist(), strict=True))
    kept = {word: int(counts[word]) for word in dictionary.words[:max_words]}
    accepted = WordFilter.from_words(dictionary.words[max_words:])
    smaller = Dictionary(kept, accepted, dictionary.sureness)
    if dictionary.weight_steps is None:
        return smaller
    *known, other = (dictionary.weight_steps / STEPS_PER_WEIGHT).tolist()
    return smaller.with_weights(dict(zip(dictionary.words, known, strict=True)), other)


def counts_of(vectorizer: Any, texts: Sequence[str]) -> Any:
    """Returns the weighted counts of the n-grams of texts, a sparse matrix, a row per text."""
    from scipy import sparse

    from tf_charagram.text._algorithm.tensors import string_tensor

    parts = []
    for start in range(0, len(texts), _BATCH):
        batch = vectorizer.reader(string_tensor(texts[start : start + _BATCH]))
        ids, weights = vectorizer.ngram_ids.weighted(batch)
        values = np.ones(len(ids.values), np.float32) if weights is None else weights.numpy()
        shape = (len(ids.splits) - 1, vectorizer.num_rows)
        parts.append(sparse.csr_matrix((values, ids.values.numpy(), ids.splits.numpy()), shape))
    return sparse.vstack(parts).tocsr()


def least_squares(counts: Any, vectors: np.ndarray, ridge: float) -> np.ndarray:
    """Returns rows whose sums by counts are nearest to vectors, float32 `(num_rows, dim)`.

    Args:
        counts: Sparse matrix `(num_texts, num_rows)`.
        vectors: `(num_texts, dim)`.
        ridge: Penalty on the squares of rows, as a share of the mean square of counts.
    """
    from scipy import linalg

    products = (counts.T @ counts).toarray()
    diagonal = np.diag_indices(len(products))
    products[diagonal] += ridge * products[diagonal].mean()
    return linalg.solve(
        products, counts.T @ vectors, assume_a="pos", overwrite_a=True, overwrite_b=True
    )


def principal_components(vectors: np.ndarray, dim: int) -> np.ndarray:
    """Returns the directions in which vectors are longest, float32 `(width, dim)`."""
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    return directions[:, : -dim - 1 : -1].astype(np.float32)


def small_model(
    model: Any, lines: Sequence[str], max_ngrams: int, dim: int, max_words: int, ridge: float
) -> Any:
    """Returns a model with fewer n-grams, dimensions and words."""
    from scipy import sparse

    from tf_charagram.export._compression.shrinking import pruned, remade

    random = np.random.default_rng(0)
    dictionary = with_frequent_words(model.vectorizer.dictionary, max_words)
    clean = [*lines, *dictionary.words]
    again = clean[::3]
    mistyped = [add_typos(text, int(random.integers(1, _MAX_TYPOS + 1)), random) for text in again]
    vectors = model.encode(clean, normalize=True)
    components = principal_components(vectors, dim)
    lengths = np.linalg.norm(model.encode(clean), axis=1)
    vectorizer, encoder = pruned(model.vectorizer, model.encoder, max_ngrams, 0.5)
    vectorizer = vectorizer.with_parts(vectorizer.vocabulary, dictionary)
    counts = counts_of(vectorizer, [*clean, *mistyped])
    lengths = np.append(lengths, lengths[::3])
    vectors = np.concatenate([vectors, vectors[::3]])
    has_vector = lengths > 0
    scales = sparse.diags(1 / lengths[has_vector].astype(np.float32))
    num_known = vectorizer.num_rows - vectorizer.unknown_rows
    counts = (scales @ counts[has_vector])[:, :num_known]
    rows = least_squares(counts, vectors[has_vector] @ components, ridge)
    unknown = encoder.ngram_table.numpy()[num_known:] @ components
    table = np.concatenate([rows, unknown]).astype(np.float32)
    encoder = remade(encoder, [table, np.zeros(dim, np.float32)], dim=dim)
    return model.from_parts(vectorizer, encoder, task=model.task)


def make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="python recipes/small_model.py", description=__doc__)
    parser.add_argument("model", help=MODEL_HELP)
    parser.add_argument("lines", help="texts, one per line")
    parser.add_argument("out", help="model folder to write")
    parser.add_argument("--max-ngrams", type=int, required=True, help="keep this many")
    parser.add_argument("--dim", type=int, required=True, help="width")
    parser.add_argument("--max-words", type=int, default=15_000, help="keep this many [15000]")
    parser.add_argument("--ridge", type=float, default=0.001, help="penalty of long rows [0.001]")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Runs the script; returns its exit status."""
    values = make_parser().parse_args(arguments)
    from tf_charagram.models.embedder import TextEmbedder

    model = TextEmbedder.load(values.model)
    lines = [line for _, line in read_lines(values.lines)]
    small = small_model(model, lines, values.max_ngrams, values.dim, values.max_words, values.ridge)
    small.save(values.out)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(run, arguments)


if __name__ == "__main__":
    sys.exit(main())

"""Stores a model in four bits, with rows rounded so that their errors cancel in texts.

    python recipes/rounding.py runs/mine models/tiny --texts texts.txt

Rounding to nearest minimizes the error of each row, but the errors of rows that occur together,
such as the n-grams of a word, add up in a text. Here rows are rounded one after the other, given
the error that the others leave in the texts, as GPTQ (Frantar et al. 2023) does for columns.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

import keras
import numpy as np
from scipy import sparse

from tf_charagram.cli._flags.flags import MODEL_HELP, Parser
from tf_charagram.cli.commands import run_command
from tf_charagram.data._tables.lines import read_lines
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError
from tf_charagram.models._storage.stored_tables import INTEGER_DTYPES, whole_numbers
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text._algorithm.batches import bounded_batches
from tf_charagram.text._algorithm.tensors import string_tensor

# Limits of a batch of texts.
_BATCH_TEXTS, _BATCH_CHARS = 4096, 2**20


class Rounding(NamedTuple):
    """A rounded table and its error.

    Attributes:
        table: float32 `(num_rows, dim)`; survives storing in its type unchanged.
        error: Root mean square of the relative changes of the texts' sums.
        nearest_error: The same for rounding to nearest.
    """

    table: np.ndarray
    error: float
    nearest_error: float


def round_for_texts(embedder: TextEmbedder, path: str, table_dtype: str = "int4") -> None:
    """Rounds the table of an embedder so that texts like those of a file change little."""
    texts = [line for _, line in read_lines(path)]
    rounding = rounded_for_texts(*embedder.parts, texts, table_dtype)
    embedder.encoder.ngram_table.assign(rounding.table)
    sys.stdout.write(
        f"{table_dtype}: sums of {len(texts):,} texts are off by {100 * rounding.error:.1f} %, "
        f"rounded to the nearest by {100 * rounding.nearest_error:.1f} %\n"
    )


def rounded_for_texts(
    vectorizer: keras.layers.Layer,
    encoder: keras.layers.Layer,
    texts: Sequence[str],
    table_dtype: str = "int4",
) -> Rounding:
    """Rounds the table of a `charagram` encoder for typical texts.

    Args:
        vectorizer: Vectorizer of the encoder; texts are read as written, without correction.
        encoder: A `charagram` encoder.
        texts: Some tens of thousands; 220,000 take 3 minutes and 2 GB.
        table_dtype: `"int8"` or `"int4"`.

    Raises:
        ConfigError: The encoder or the type is another, the table is not finite, or no text has a
            known n-gram.
    """
    if not isinstance(encoder, Charagram):
        raise ConfigError(
            f"Only the table of `charagram` can be rounded for texts. Received: {encoder.name}"
        )
    counts = count_ids(vectorizer, texts)
    return rounded_for_sums(encoder.ngram_table.numpy(), counts, table_dtype)


def count_ids(vectorizer: keras.layers.Layer, texts: Sequence[str]) -> sparse.csr_matrix:
    """Counts the ids of texts as written: float32 `(num_texts, num_rows)`."""
    as_written = vectorizer.as_written()
    ids, ends = [np.zeros(0, np.int32)], [np.zeros(1, np.int64)]
    for batch in bounded_batches(texts, _BATCH_TEXTS, _BATCH_CHARS):
        ragged = as_written(string_tensor(batch))
        ids.append(ragged.values.numpy())
        ends.append(ragged.row_splits.numpy()[1:] + ends[-1][-1])
    columns = np.concatenate(ids)
    ones = np.ones(len(columns), np.float32)
    shape = (len(texts), vectorizer.num_rows)
    counts = sparse.csr_matrix((ones, columns, np.concatenate(ends)), shape)
    counts.sum_duplicates()
    return counts


def rounded_for_sums(
    table: np.ndarray,
    counts: sparse.csr_matrix,
    table_dtype: str = "int4",
    num_sweeps: int = 3,
    strength: float = 30.0,
) -> Rounding:
    """Rounds a table so that weighted sums of its rows change little.

    Minimizes the mean squared relative change of the sums, plus the change of each row as if it
    were the only one of `strength` more texts of mean norm. Coordinate descent: row by row, the
    most frequent first, sets all numbers of a row to the best ones given the other rows. Scales
    are those of `stored_table`, so the largest number of a row is kept.

    Args:
        table: float32 `(num_rows, dim)`.
        counts: float32 `(num_texts, num_rows)`, weights of the rows in each sum.
        table_dtype: `"int8"` or `"int4"`.
        num_sweeps: Passes over all rows.
        strength: Weight that keeps rows, above all rare ones, close to their original values.

    Raises:
        ConfigError: As `rounded_for_texts`.
    """
    if table_dtype not in INTEGER_DTYPES:
        raise ConfigError(
            f"`table_dtype` must be one of {', '.join(INTEGER_DTYPES)}. Received: {table_dtype}"
        )
    nearest, scales = whole_numbers(table, table_dtype)
    numbers = nearest.astype(np.float32)
    norms = np.linalg.norm(counts @ table, axis=1)
    is_read = norms > 0
    if not is_read.any():
        raise ConfigError("No text has an n-gram that the model knows.")
    shares = sparse.diags(1 / norms[is_read]) @ counts[is_read]
    shares = shares.astype(np.float32).tocsc()
    changes = np.ascontiguousarray(shares @ (table - numbers * scales))
    nearest_error = _root_mean_square(changes)
    prior = strength * float(np.mean(norms[is_read] ** -2.0))
    order = [row for row in _by_weight(shares) if numbers[row].any()]
    for _ in range(num_sweeps):
        for row in order:
            column = slice(*shares.indptr[row : row + 2])
            texts, share = shares.indices[column], shares.data[column]
            before = numbers[row].copy()
            pull = share @ changes[texts] + prior * (table[row] - before * scales[row])
            weight = share @ share + prior
            _move(numbers[row], pull / (weight * scales[row]))
            moved = (numbers[row] - before) * scales[row]
            changes[texts] -= share[:, None] * moved
    return Rounding(numbers * scales, _root_mean_square(changes), nearest_error)


def _move(numbers: np.ndarray, steps: np.ndarray) -> None:
    """Moves the numbers of a row to whole numbers; the largest stays, so the scale does too."""
    largest = np.abs(numbers).argmax()
    value = numbers[largest]
    np.clip(np.rint(numbers + steps), -abs(value), abs(value), out=numbers)
    numbers[largest] = value


def _by_weight(shares: sparse.csc_matrix) -> list[int]:
    """Returns the rows that occur in texts, largest squared shares first."""
    weights = np.asarray(shares.multiply(shares).sum(axis=0)).ravel()
    return [row for row in np.argsort(-weights, kind="stable").tolist() if weights[row] > 0]


def _root_mean_square(changes: np.ndarray) -> float:
    """Returns the root mean square of the norms of the rows."""
    return float(np.sqrt(np.mean(np.sum(changes * changes, axis=1))))


def make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="python recipes/rounding.py", description=__doc__)
    parser.add_argument("model", help=MODEL_HELP)
    parser.add_argument("out", help="model folder to write")
    parser.add_argument("--texts", required=True, help="file of typical texts, one per line")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Runs the script; returns its exit status."""
    values = make_parser().parse_args(arguments)
    embedder = TextEmbedder.load(values.model)
    round_for_texts(embedder, values.texts)
    embedder.save(values.out, table_dtype="int4")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(run, arguments)


if __name__ == "__main__":
    sys.exit(main())

"""Rounds the rows of a table so that their errors cancel in the texts they are summed for.

Rounded to the nearest, a row is off by as little as it can be; a text is off by the sum of the
errors of its rows, and those of rows that occur together, such as all the n-grams of a word, add
up. Here the numbers of a row are rounded one row after the other, given the error that the other
rows leave in the texts (as the columns of a matrix are in GPTQ, Frantar et al. 2023).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import keras
import numpy as np
from scipy import sparse

from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError, check_positive
from tf_charagram.models.weights import INTEGER_DTYPES, whole_numbers
from tf_charagram.text.batches import bounded_batches
from tf_charagram.text.tensors import string_tensor

# Texts turned into ids at a time, and most characters of these.
_BATCH_TEXTS, _BATCH_CHARS = 4096, 2**20


class Rounding(NamedTuple):
    """A rounded table, and how much that changed the texts it was rounded for.

    Attributes:
        table: float32 `(num_rows, dim)`; stored in its type, it is restored to the bit.
        error: Root mean square of the changes of the sums, each divided by the norm of its sum.
        nearest_error: The same for a table with each number rounded to the nearest.
    """

    table: np.ndarray
    error: float
    nearest_error: float


def rounded_for_texts(
    vectorizer: keras.layers.Layer,
    encoder: keras.layers.Layer,
    texts: Sequence[str],
    table_dtype: str = "int4",
    num_sweeps: int = 3,
) -> Rounding:
    """Rounds the table of a sum of n-grams for texts like those it will read.

    Args:
        vectorizer: What the encoder reads; known words are not made of misspelled ones.
        encoder: `charagram`.
        texts: Some tens of thousands; 220,000 take 3 minutes and 2 GB.
        table_dtype: `"int8"` or `"int4"`.
        num_sweeps: How often each row is rounded anew.

    Raises:
        ConfigError: The encoder is another, there is no such type, an argument is out of range, the
            table has numbers that are not finite, or no text has an n-gram.
    """
    if not isinstance(encoder, Charagram):
        raise ConfigError(
            "Only the table of `charagram` can be rounded for texts, whose rows are summed as they "
            f"are. Received: {encoder.name}"
        )
    counts = count_ids(vectorizer, texts)
    return rounded_for_sums(encoder.ngram_table.numpy(), counts, table_dtype, num_sweeps)


def count_ids(vectorizer: keras.layers.Layer, texts: Sequence[str]) -> sparse.csr_matrix:
    """Counts the ids of texts, as they are written: float32 `(num_texts, num_rows)`."""
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

    What is made small is the mean over texts of the squared change of a sum, divided by the squared
    norm of the sum; plus that of every row by itself, as if `strength` texts of mean norm had no
    other. Row by row, from the most frequent one, all numbers of a row are set to the best ones,
    the other rows being what they are. Scales are those of `stored_table`, and so the largest
    number of a row is not changed.

    Args:
        table: float32 `(num_rows, dim)`.
        counts: float32 `(num_texts, num_rows)`, what each row is multiplied by in a sum.
        table_dtype: `"int8"` or `"int4"`.
        num_sweeps: How often each row is rounded anew.
        strength: What keeps rows near to what they were, rare ones most.

    Raises:
        ConfigError: As `rounded_for_texts`.
    """
    check_positive(num_sweeps=num_sweeps)
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
    """Moves the numbers of a row by steps, to whole numbers no larger than the largest.

    That one stays, and so the scale of the row is what it was.
    """
    largest = np.abs(numbers).argmax()
    value = numbers[largest]
    np.clip(np.rint(numbers + steps), -abs(value), abs(value), out=numbers)
    numbers[largest] = value


def _by_weight(shares: sparse.csc_matrix) -> list[int]:
    """Returns the rows that texts have, those with the largest squared shares first."""
    weights = np.asarray(shares.multiply(shares).sum(axis=0)).ravel()
    return [row for row in np.argsort(-weights, kind="stable").tolist() if weights[row] > 0]


def _root_mean_square(changes: np.ndarray) -> float:
    """Returns the root mean square of the norms of the rows."""
    return float(np.sqrt(np.mean(np.sum(changes * changes, axis=1))))

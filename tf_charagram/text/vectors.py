"""Operations on the flat vectors of a batch that TensorFlow lacks or does slowly."""

from __future__ import annotations

import tensorflow as tf


def column(values: tf.Tensor) -> tf.Tensor:
    """Turns a vector `(n,)` into a column `(n, 1)`."""
    return values[:, tf.newaxis]


def selected(values: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Selects the values where a mask is true.

    Args:
        values: `(n, ...)`.
        mask: bool `(n,)`.
    """
    return tf.gather(values, flatnonzero(mask))


def after_zero(values: tf.Tensor) -> tf.Tensor:
    """Puts a 0 before a vector of integers, `(n + 1,)`."""
    return tf.concat([[0], values], axis=0)


def interleaved(first: tf.Tensor, second: tf.Tensor) -> tf.Tensor:
    """Takes values of two vectors `(n,)` by turns, `(2n,)`."""
    pairs = tf.stack([first, second], axis=1)
    return tf.reshape(pairs, [-1])


def ragged(values: tf.Tensor, splits: tf.Tensor) -> tf.RaggedTensor:
    """Splits a vector into rows, without the checks of row splits that TensorFlow adds."""
    return tf.RaggedTensor.from_row_splits(values, splits, validate=False)


def between(values: tf.Tensor, starts: tf.Tensor, ends: tf.Tensor) -> tf.RaggedTensor:
    """Cuts parts out of a vector: row `i` is `values[starts[i] : ends[i]]`, int64 row splits."""
    positions = tf.ragged.range(starts, ends, row_splits_dtype=tf.int64)
    return positions.with_values(tf.gather(values, positions.values))


def flatnonzero(mask: tf.Tensor) -> tf.Tensor:
    """Returns the positions of the true values of a vector, ascending, int64 `(num_true,)`."""
    return tf.where(mask)[:, 0]


def masked(values: tf.Tensor, keep: tf.Tensor, positions: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Drops values, and maps positions among them to positions among the kept ones.

    Args:
        values: `(num_values,)`.
        keep: The values to keep, bool `(num_values,)`.
        positions: Ascending positions in `values`, int32 `(num_positions,)`.

    Returns:
        The kept values, and the number of kept values before each position, int32
        `(num_positions,)`.
    """
    kept = flatnonzero(keep)
    return tf.gather(values, kept), num_before(kept, positions)


def num_before(places: tf.Tensor, positions: tf.Tensor) -> tf.Tensor:
    """Counts the places before each position, int32 `(num_positions,)`.

    A cumulative sum over all values of a batch would take ten times as long as this search.

    Args:
        places: Ascending, int64 `(num_places,)`.
        positions: Integers `(num_positions,)`.
    """
    return tf.searchsorted(places, tf.cast(positions, tf.int64))


def without_few(
    values: tf.Tensor, drop: tf.Tensor, positions: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Drops values, and maps positions among them to positions among the kept ones.

    Takes half the time of `masked` if less than a fiftieth of the values is dropped.

    Args:
        values: `(num_values,)`.
        drop: The values to drop, bool `(num_values,)`.
        positions: Ascending positions in `values`, int32 `(num_positions,)`.

    Returns:
        The kept values, and the number of kept values before each position, int32
        `(num_positions,)`.
    """
    dropped = flatnonzero(drop)
    edges = interleaved(dropped, dropped + 1)
    size = tf.size(values, tf.int64)
    splits = tf.concat([[0], edges, [size]], axis=0)
    runs = ragged(values, splits)
    # Every other run holds the values between two dropped ones.
    num_runs = tf.size(splits) - 1
    between_dropped = tf.range(0, num_runs, 2)
    kept = tf.gather(runs, between_dropped)
    num_dropped = num_before(dropped, positions)
    return kept.values, positions - num_dropped

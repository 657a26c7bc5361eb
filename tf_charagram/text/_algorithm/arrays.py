"""The operations on flat arrays that reading a text needs, in NumPy.

`graph` beside this file has the same ones in TensorFlow. An algorithm gets one of the two modules
as `ops` and never asks which. Positions are int64. Results are new arrays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, cast
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from tf_charagram.text._algorithm.batches import decoded, to_bytes
from tf_charagram.text._algorithm.code_points import SPACES
from tf_charagram.text._algorithm.key_table import KeyTable as Table

__all__ = ["Table"]

Array: TypeAlias = NDArray[Any]

_SPACES = re.compile(SPACES.encode())

concat = np.concatenate
constant = np.asarray
maximum = np.maximum
minimum = np.minimum
positions_of_true = np.flatnonzero
range_of = np.arange
repeat = np.repeat
reshape = np.reshape
searchsorted = np.searchsorted
stack = np.stack
text_batch = list
where = np.where
with_axis = np.expand_dims


def size(values: Array) -> np.int64:
    """Returns the number of values, int64."""
    return np.int64(values.size)


def cast_to(values: Array, dtype: Any) -> Array:
    """Converts values to another type."""
    return values.astype(dtype, copy=False)


def int64(values: Array) -> Array:
    """Converts values to int64."""
    return values.astype(np.int64, copy=False)


def uint64(values: Array) -> Array:
    """Converts values to uint64, modulo 2^64."""
    return values.astype(np.uint64)


def like(values: Array, other: Array) -> Array:
    """Converts values to the type of others."""
    return np.asarray(values).astype(other.dtype, copy=False)


def bits_of(values: Array) -> Array:
    """Reads the bits of int64 values as uint64."""
    return values.view(np.uint64)


def shift_left(values: Array, bits: Any) -> Array:
    """Shifts integers."""
    return values << bits


def shift_right(values: Array, bits: Any) -> Array:
    """Shifts integers."""
    return values >> bits


def take(values: Array, index: Array) -> Array:
    """Selects values, or rows, by their positions."""
    return values[index]


def take_clipped(values: Array, index: Array) -> Array:
    """Selects values by their positions; the last value stands for all positions past it."""
    return values.take(index, mode="clip")


def take_each(values: Array, index: Array) -> Array:
    """Selects one value of each row, `(num_rows,)`."""
    return values[np.arange(len(values)), index]


def take_at(values: Array, *index: Array) -> Array:
    """Selects values of a table by their positions on each axis."""
    return values[index]


def selected(values: Array, mask: Array) -> Array:
    """Selects the values, or rows, where a mask is true."""
    return values[mask]


def masked(values: Array, mask: Array) -> Array:
    """Replaces values by 0 where a mask is false."""
    return np.where(mask, values, values.dtype.type(0))


def put(values: Array, index: Array, others: Array) -> Array:
    """Replaces the values, or rows, at some positions."""
    changed = values.copy()
    changed[index] = others
    return changed


def max_at(values: Array, index: Array, others: Array) -> Array:
    """Raises values to others; several may be for the same position."""
    raised = values.copy()
    # Unlike an assignment, this takes the largest of several for one position.
    np.maximum.at(raised, index, others)
    return raised


def flattened(values: Array) -> Array:
    """Lists the values of all axes in one vector."""
    return values.reshape(-1)


def full_like(values: Array, value: Any, dtype: Any) -> Array:
    """Returns an array of the same shape, with one value."""
    return np.full(values.shape, value, dtype)


def padded(values: Array, before: int, after: int, value: Any = 0) -> Array:
    """Puts a value before and after the last axis; `np.pad` takes ten times as long."""
    *shape, width = values.shape
    end = before + width
    result = np.full((*shape, end + after), value, values.dtype)
    result[..., before:end] = values
    return result


def sum_of(values: Array, axis: int, keepdims: bool = False) -> Array:
    """Adds up values of an axis; integers keep their type."""
    return values.sum(axis=axis, keepdims=keepdims, dtype=values.dtype)


def max_of(values: Array, axis: int) -> Array:
    """Returns the largest values of an axis."""
    return values.max(axis=axis)


def place_of_max(values: Array, axis: int) -> Array:
    """Returns the positions of the largest values of an axis, int64."""
    return values.argmax(axis=axis)


def all_of(mask: Array, axis: int | None = None) -> Any:
    """Returns whether all values of an axis are true."""
    return mask.all(axis=axis)


def any_of(mask: Array, axis: int | None = None) -> Any:
    """Returns whether any value of an axis is true."""
    return mask.any(axis=axis)


def num_nonzero(values: Array, axis: int) -> Array:
    """Counts the values of an axis that are not 0, int64."""
    return np.count_nonzero(values, axis=axis)


def splits_of(lengths: Array) -> Array:
    """Adds up lengths, `(n,)`: the begin of each part, and the end of the last, `(n + 1,)`."""
    splits = np.zeros(len(lengths) + 1, lengths.dtype)
    lengths.cumsum(out=splits[1:])
    return splits


def sums_before(values: Array) -> Array:
    """Adds up the values of a row before each position."""
    return np.cumsum(values, axis=1) - values


def places_of_true(mask: Array) -> Sequence[Array]:
    """Returns the positions of true values on each axis, int64 `(num_true,)`."""
    return np.nonzero(mask)


def positions(starts: Array, ends: Array) -> Array:
    """Lists the positions from each start to before each end, one after the other."""
    lengths = ends - starts
    # Counts on from the start of each run.
    num_before = lengths.cumsum() - lengths
    offsets = (starts - num_before).repeat(lengths)
    return offsets + np.arange(len(offsets))


def countdown(firsts: Array, lasts: Array) -> Array:
    """Counts down from each first number to before each last one, one after the other."""
    lengths = firsts - lasts
    splits = splits_of(lengths)
    # Counting up over all runs, taken from a number for each run, counts down in the run.
    tops = np.repeat(lasts + splits[1:], lengths)
    return tops - np.arange(splits[-1])


def kept(values: Array, mask: Array, positions: Array) -> tuple[Array, Array]:
    """Keeps values where a mask is true; maps positions to positions among these values.

    Args:
        values: `(num_values,)`.
        mask: bool `(num_values,)`.
        positions: Ascending positions in `values`, `(num_positions,)`.
    """
    places = np.flatnonzero(mask)
    return values[places], np.searchsorted(places, positions)


def dropped(values: Array, places: Array, positions: Array) -> tuple[Array, Array]:
    """Drops a few values; maps positions to positions among the others.

    Args:
        values: `(num_values,)`.
        places: Ascending positions of the dropped values, `(num_dropped,)`.
        positions: Ascending positions in `values`, `(num_positions,)`.
    """
    if not len(places):
        return values, positions
    return np.delete(values, places), positions - np.searchsorted(places, positions)


def merged(places: Sequence[Array], values: Sequence[Array]) -> Array:
    """Puts vectors into one; for a position that repeats, the last value counts.

    Args:
        places: Positions of the values; the first vector has all positions.
        values: Vectors as long as their `places`.
    """
    first, *rest = values
    result = first.copy()
    for where_put, others in zip(places[1:], rest, strict=True):
        result[where_put] = others
    return result


def means_of_equal(keys: Array, values: Array) -> tuple[Array, Array]:
    """Returns distinct keys, and the mean of the values of each.

    Args:
        keys: Ascending, `(num_values,)`.
        values: float32 `(num_values,)`.
    """
    distinct, index, counts = np.unique(keys, return_inverse=True, return_counts=True)
    means = np.bincount(index, values, len(distinct)) / counts
    return distinct, means.astype(np.float32)


def clip(values: Array, low: int, high: int) -> Array:
    """Limits values to a range."""
    return np.clip(values, low, high)


def cond(condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """Calls one of two functions, whose results have the same types."""
    return then() if condition else otherwise()


def text_list(texts: list[str]) -> list[str]:
    """Converts the result of `encode` to a list."""
    return texts


def shortened(texts: Sequence[str | bytes], max_bytes: int) -> Sequence[str | bytes]:
    """Cuts texts after so many bytes of UTF-8, once their runs of ASCII spaces are collapsed."""
    # A character has up to four bytes.
    if 4 * max(map(len, texts), default=0) <= max_bytes:
        return texts
    cut = []
    for text in texts:
        encoded = to_bytes(text)
        if len(encoded) > max_bytes:
            text = _SPACES.sub(b" ", encoded)[:max_bytes]
        cut.append(text)
    return cut


def decode(texts: Sequence[str | bytes]) -> tuple[Array, Array]:
    """Decodes texts to code points, with a space before each text and after the last.

    Args:
        texts: The texts `(batch,)`. Broken UTF-8 and lone surrogates become U+FFFD.

    Returns:
        Code points, int32 `(num_symbols,)`, and the positions of those spaces `(batch + 1,)`.
    """
    try:
        return _joined(texts)  # type: ignore[arg-type]
    except (TypeError, UnicodeEncodeError):  # Bytes, or a lone surrogate.
        return _joined([decoded(to_bytes(text)) for text in texts])


def _joined(strings: Sequence[str]) -> tuple[Array, Array]:
    # A space before each text, and one at the end; without texts, only that.
    spaced = " ".join(["", *strings, ""]) if strings else " "
    codes = np.frombuffer(spaced.encode("utf-32-le"), np.int32)
    lengths = np.fromiter(map(len, strings), np.int64, len(strings))
    return codes, splits_of(lengths + 1)


def encode(codes: Array, starts: Array, ends: Array) -> list[str]:
    """Cuts texts out of code points."""
    chars = codes.astype("<u4").tobytes().decode("utf-32-le")
    places = zip(starts.tolist(), ends.tolist(), strict=True)
    return [chars[start:end] for start, end in places]


def in_unicode_form(texts: Sequence[str], form: str) -> list[str]:
    """Normalizes texts to a form such as `"NFKC"`, by the version of Unicode of Python."""
    return [normalize(cast(Literal["NFC"], form), text) for text in texts]

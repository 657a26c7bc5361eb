"""The operations of `arrays` in TensorFlow: eagerly, or as part of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import tensorflow as tf

from tf_charagram._common.flat import ranges, repeated
from tf_charagram._common.lazy import tensorflow_text
from tf_charagram.text._algorithm.code_points import FIRST_BEYOND_ASCII, SPACE, SPACES
from tf_charagram.text._algorithm.tensors import LookupTable as Table
from tf_charagram.text._algorithm.tensors import tensor_of

__all__ = ["Table"]

Array: TypeAlias = tf.Tensor

all_of = tf.reduce_all
any_of = tf.reduce_any
cast_to = tf.cast
clip = tf.clip_by_value
cond = tf.cond
# A constant within each function would be saved with each.
constant = tf.constant
max_of = tf.reduce_max
maximum = tf.maximum
minimum = tf.minimum
num_nonzero = tf.math.count_nonzero
place_of_max = tf.argmax
range_of = tf.range
reshape = tf.reshape
shift_left = tf.bitwise.left_shift
shift_right = tf.bitwise.right_shift
stack = tf.stack
sum_of = tf.reduce_sum
take = tf.gather
text_batch = tensor_of
where = tf.where
with_axis = tf.expand_dims


def concat(values: Sequence[Array], axis: int = 0) -> Array:
    return tf.concat(values, axis)


def size(values: Array) -> Array:
    return tf.size(values, tf.int64)


def int64(values: Array) -> Array:
    return tf.cast(values, tf.int64)


def uint64(values: Array) -> Array:
    return tf.cast(values, tf.uint64)


def like(values: Array, other: Array) -> Array:
    return tf.cast(values, other.dtype)


def bits_of(values: Array) -> Array:
    return tf.bitcast(values, tf.uint64)


def take_clipped(values: Array, index: Array) -> Array:
    return tf.gather(values, tf.minimum(index, values.shape[0] - 1))


def take_each(values: Array, index: Array) -> Array:
    return tf.gather(values, index, batch_dims=1)


def take_at(values: Array, *index: Array) -> Array:
    return tf.gather_nd(values, tf.stack(index, axis=1))


def positions_of_true(mask: Array) -> Array:
    return tf.squeeze(tf.where(mask), 1)


def places_of_true(mask: Array) -> Sequence[Array]:
    return tf.unstack(tf.where(mask), num=len(mask.shape), axis=1)


def selected(values: Array, mask: Array) -> Array:
    return tf.gather(values, positions_of_true(mask))


def masked(values: Array, mask: Array) -> Array:
    return tf.where(mask, values, tf.zeros([], values.dtype))


def put(values: Array, index: Array, others: Array) -> Array:
    return tf.tensor_scatter_nd_update(values, tf.expand_dims(index, 1), others)


def max_at(values: Array, index: Array, others: Array) -> Array:
    return tf.tensor_scatter_nd_max(values, tf.expand_dims(index, 1), others)


def flattened(values: Array) -> Array:
    return tf.reshape(values, [-1])


def full_like(values: Array, value: Any, dtype: Any) -> Array:
    return tf.fill(tf.shape(values), tf.constant(value, dtype))


def padded(values: Array, before: int, after: int, value: Any = 0) -> Array:
    other_axes = len(values.shape) - 1
    widths = [[0, 0]] * other_axes + [[before, after]]
    return tf.pad(values, widths, constant_values=value)


def repeat(values: Array, counts: Array) -> Array:
    """Repeats each value, as often as one number or its own says; then values are of 32 bits."""
    if isinstance(counts, int):
        columns = tf.tile(tf.expand_dims(values, 1), [1, counts])
        return flattened(columns)
    return repeated(values, counts)


def searchsorted(
    sequence: Array, values: Array, side: str = "left", out_type: Any = tf.int32
) -> Array:
    # `tf.searchsorted` adds ten operations for sequences of several axes.
    bound = tf.raw_ops.UpperBound if side == "right" else tf.raw_ops.LowerBound
    one_row = tf.reshape(values, [1, -1])
    places = bound(sorted_inputs=tf.expand_dims(sequence, 0), values=one_row, out_type=out_type)
    return tf.reshape(places, tf.shape(values))


def splits_of(lengths: Array) -> Array:
    return tf.pad(tf.cumsum(lengths), [[1, 0]])


def sums_before(values: Array) -> Array:
    return tf.cumsum(values, axis=1, exclusive=True)


def positions(starts: Array, ends: Array) -> Array:
    return ranges(starts, ends)


def countdown(firsts: Array, lasts: Array) -> Array:
    return ranges(firsts, lasts, -1)


def kept(values: Array, mask: Array, positions: Array) -> tuple[Array, Array]:
    places = positions_of_true(mask)
    # A cumulative sum over all values of a batch would take ten times as long as this search.
    num_before = searchsorted(places, int64(positions), out_type=positions.dtype)
    return tf.gather(values, places), num_before


def dropped(values: Array, places: Array, positions: Array) -> tuple[Array, Array]:
    # Copies the runs between dropped values: half the time of `kept` if these are few.
    num_values = tf.size(values, tf.int64)
    firsts = tf.concat([[0], places + 1], axis=0)
    lasts = tf.concat([places, [num_values]], axis=0)
    # Runs that are kept, and the dropped values between them, by turns.
    edges = tf.stack([firsts, lasts], axis=1)
    splits = flattened(edges)
    runs = tf.RaggedTensor.from_row_splits(values, splits, validate=False)
    every_other = tf.range(0, tf.size(splits) - 1, 2)
    num_dropped = searchsorted(places, int64(positions), out_type=positions.dtype)
    return tf.gather(runs, every_other).values, positions - num_dropped


def merged(places: Sequence[Array], values: Sequence[Array]) -> Array:
    # Scattered updates take twice as long.
    return tf.dynamic_stitch([tf.cast(each, tf.int32) for each in places], values)


def means_of_equal(keys: Array, values: Array) -> tuple[Array, Array]:
    distinct, index = tf.unique(keys)
    return distinct, tf.math.segment_mean(values, index)


def shortened(texts: Array, max_bytes: int) -> Array:
    lengths = int64(tf.strings.length(texts))
    num_more = 2 * max_bytes

    def needs_more(num_read: Array, collapsed: Array) -> Array:
        is_short = int64(tf.strings.length(collapsed)) < max_bytes
        return tf.reduce_any(is_short & (num_read < lengths))

    def read_more(num_read: Array, collapsed: Array) -> tuple[Array, Array]:
        starts = tf.minimum(num_read, lengths)
        parts = tf.strings.substr(texts, starts, full_like(starts, num_more, tf.int64))
        collapsed = tf.strings.regex_replace(collapsed + parts, SPACES, " ")
        return num_read + num_more, collapsed

    def cut() -> Array:
        # In parts, because collapsing all of 36 MB takes a second and 150 MB.
        nothing = tf.constant(0, tf.int64), tf.fill(tf.shape(texts), "")
        _, collapsed = tf.while_loop(needs_more, read_more, nothing)
        return tf.strings.substr(collapsed, tf.constant(0, tf.int64), int64(max_bytes))

    return tf.cond(tf.reduce_any(lengths > max_bytes), cut, lambda: texts)


def decode(texts: Array) -> tuple[Array, Array]:
    # ASCII is its own code, and reading bytes takes a tenth of the time of decoding.
    joined = tf.strings.reduce_join(texts, separator=" ")
    inner = tf.io.decode_raw(joined, tf.uint8)
    inner = tf.cast(inner, tf.int32)
    # Without texts, only the last space.
    num_first = tf.minimum(tf.size(texts), 1)
    first_space = tf.fill([num_first], SPACE)
    codes = tf.concat([first_space, inner, [SPACE]], axis=0)
    lengths = tf.strings.length(texts) + 1
    boundaries = tf.concat([[0], tf.cumsum(lengths)], axis=0)
    return tf.cond(
        tf.reduce_max(codes) < FIRST_BEYOND_ASCII,
        lambda: (codes, boundaries),
        lambda: _decode_beyond_ascii(texts, codes, boundaries),
    )


def _decode_beyond_ascii(texts: Array, codes: Array, boundaries: Array) -> tuple[Array, Array]:
    """Decodes the texts that are not ASCII; `codes` holds the bytes of all texts."""
    places = tf.cast(positions_of_true(codes >= FIRST_BEYOND_ASCII), tf.int32)
    row_of = searchsorted(boundaries, places, side="right") - 1
    rows, _ = tf.unique(row_of)
    decoded = tf.raw_ops.UnicodeDecode(
        input=tf.strings.join([" ", tf.gather(texts, rows)]),
        input_encoding="UTF-8",
        errors="replace",
        replacement_char=0xFFFD,
        replace_control_characters=False,
        Tsplits=tf.int32,
    )
    # Rows: the texts as bytes, the last space, the decoded texts.
    decoded_splits = tf.size(codes) + decoded.row_splits
    every = tf.RaggedTensor.from_row_splits(
        tf.concat([codes, decoded.char_values], axis=0),
        tf.concat([boundaries, decoded_splits], axis=0),
        validate=False,
    )
    # The decoded texts replace their bytes.
    num_rows = tf.size(boundaries)
    decoded_rows = num_rows + tf.range(tf.size(rows))
    order = put(tf.range(num_rows), rows, decoded_rows)
    result = tf.gather(every, order)
    return result.values, result.row_splits[:-1]


def encode(codes: Array, starts: Array, ends: Array) -> Array:
    edges = flattened(tf.stack([starts, ends], axis=1))
    num_codes = tf.size(codes)
    splits = tf.concat([[0], edges, [num_codes]], axis=0)
    rows = tf.RaggedTensor.from_row_splits(codes, splits, validate=False)
    # Every other row is a text; the rows between hold spaces and truncated parts.
    return tf.strings.unicode_encode(rows, "UTF-8")[1::2]


def text_list(texts: Array) -> list[str]:
    return [text.decode() for text in texts.numpy().tolist()]


def in_unicode_form(texts: Array, form: str) -> Array:
    return tensorflow_text().normalize_utf8(texts, form)

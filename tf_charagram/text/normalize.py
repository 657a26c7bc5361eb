"""Normalizes strings to code points, with integer operations only.

Texts are lowercased, white space is collapsed, and a space is added before and after each text
(Charagram, section 4.1.2), so that n-grams also capture the starts and ends of words.

Everything runs on one flat vector of code points for the whole batch. Each text is decoded with a
space before it; after concatenation, the space before text `r + 1` is also the space after text
`r`, and collapsing runs of spaces over the whole vector normalizes all texts at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from tf_charagram.text.code_points import FIRST_BEYOND_ASCII, SPACE
from tf_charagram.text.vectors import (
    after_zero,
    between,
    column,
    flatnonzero,
    interleaved,
    num_before,
    ragged,
    without_few,
)

# Maps the two results of `decode`, code points and boundaries, to changed ones.
_CodesFunction = Callable[[tf.Tensor, tf.Tensor], tuple[tf.Tensor, tf.Tensor]]


class FlatTexts(NamedTuple):
    """A batch of normalized texts in one vector.

    Text `r` is `symbols[starts[r] : ends[r] + 1]`, including a space at both ends. Adjacent texts
    may share the space between them. A text that normalizes to nothing has `starts[r] == ends[r]`.

    Attributes:
        symbols: Integer symbols of all texts, `(num_symbols,)`.
        starts: Position of the space before each text, int32 `(batch,)`, non-decreasing.
        ends: Position of the space after each text, int32 `(batch,)`.
    """

    symbols: tf.Tensor
    starts: tf.Tensor
    ends: tf.Tensor


class Readings(NamedTuple):
    """A batch as it is read, and the texts of which some word is read as another one, as written.

    Attributes:
        read: The batch as it is read.
        written: The changed texts as they are written.
        changed: Their rows, ascending, int64 `(num_changed,)`.
        shares: The share of the reading in the vector of each, float32 `(num_changed,)`.
    """

    read: FlatTexts
    written: FlatTexts
    changed: tf.Tensor
    shares: tf.Tensor


def decode(
    texts: tf.Tensor, unicode_form: str | None = None, fold: _CodesFunction | None = None
) -> tuple[tf.Tensor, tf.Tensor]:
    """Decodes UTF-8 texts to code points, with a space before each text and after the last.

    Args:
        texts: String tensor `(batch,)`. Bytes that are not UTF-8 become U+FFFD.
        unicode_form: Normalization form such as `"NFKC"`, applied by tensorflow-text, or `None`.
        fold: Changes the result of texts that are not all ASCII, or `None`.

    Returns:
        Code points, int32 `(num_symbols,)`, and the positions of those spaces, int32
        `(batch + 1,)`.
    """
    if unicode_form is not None:
        texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8", errors="replace")
        texts = tensorflow_text().normalize_utf8(texts, unicode_form)
    # ASCII is its own code, and reading bytes takes a tenth of the time of decoding.
    joined = tf.strings.reduce_join(texts, separator=" ")
    inner = tf.io.decode_raw(joined, tf.uint8)
    inner = tf.cast(inner, tf.int32)
    # Without texts, only the last space.
    num_first = tf.minimum(tf.size(texts), 1)
    first_space = tf.fill([num_first], SPACE)
    codes = tf.concat([first_space, inner, [SPACE]], axis=0)
    lengths = tf.strings.length(texts) + 1
    boundaries = after_zero(tf.cumsum(lengths))
    return tf.cond(
        tf.reduce_max(codes) < FIRST_BEYOND_ASCII,
        lambda: (codes, boundaries),
        lambda: _decode_beyond_ascii(texts, codes, boundaries, fold),
    )


def _decode_beyond_ascii(
    texts: tf.Tensor, codes: tf.Tensor, boundaries: tf.Tensor, fold: _CodesFunction | None
) -> tuple[tf.Tensor, tf.Tensor]:
    """Decodes the texts that are not ASCII; `codes` holds the bytes of all texts."""
    positions = flatnonzero(codes >= FIRST_BEYOND_ASCII)
    positions = tf.cast(positions, tf.int32)
    row_of = tf.searchsorted(boundaries, positions, side="right") - 1
    rows, _ = tf.unique(row_of)
    beyond = tf.gather(texts, rows)
    decoded = tf.raw_ops.UnicodeDecode(
        input=tf.strings.join([" ", beyond]),
        input_encoding="UTF-8",
        errors="replace",
        replacement_char=0xFFFD,
        replace_control_characters=False,
        Tsplits=tf.int32,
    )
    # Rows: the texts as bytes, the last space, the decoded texts.
    values = tf.concat([codes, decoded.char_values], axis=0)
    decoded_splits = tf.size(codes) + decoded.row_splits
    splits = tf.concat([boundaries, decoded_splits], axis=0)
    every = ragged(values, splits)
    # The decoded texts replace their bytes.
    num_rows = tf.size(boundaries)
    decoded_rows = num_rows + tf.range(tf.size(rows))
    order = tf.range(num_rows)
    order = tf.tensor_scatter_nd_update(order, column(rows), decoded_rows)
    result = tf.gather(every, order)
    codes = result.values
    boundaries = result.row_splits[:-1]
    if fold is None:
        return codes, boundaries
    return fold(codes, boundaries)


def collapse(
    symbols: tf.Tensor, boundaries: tf.Tensor, space: int, max_chars: int | None = None
) -> FlatTexts:
    """Collapses runs of spaces and truncates every text after `max_chars` symbols, if given.

    Args:
        symbols: Symbols with a space before each text and one at the end, `(num_symbols,)`.
        boundaries: Positions of those spaces, int32 `(batch + 1,)`.
        space: The symbol of white space.
        max_chars: Maximum length of a text without the spaces around it.
    """
    is_space = symbols == space
    after_space = tf.concat([[False], is_space[:-1]], axis=0)
    is_repeated = is_space & after_space
    symbols, boundaries = tf.cond(
        tf.reduce_any(is_repeated),
        lambda: _dropped(symbols, is_repeated, boundaries),
        lambda: (symbols, boundaries),
    )
    starts = boundaries[:-1]
    ends = boundaries[1:]
    if max_chars is None:
        return FlatTexts(symbols, starts, ends)
    # The position of the space after the last character that is kept.
    max_length = min(max_chars + 1, tf.int32.max)
    # In this order no sum exceeds int32.
    lengths = tf.minimum(ends - starts, max_length)
    ends = starts + lengths
    # A text that is cut after a space ends at that space.
    places = tf.maximum(ends - 1, 0)
    last = tf.gather(symbols, places)
    is_cut_at_space = (ends > starts + 1) & (last == space)
    ends -= tf.cast(is_cut_at_space, tf.int32)
    space_symbol = tf.constant(space, symbols.dtype)
    spaces = tf.fill(tf.shape(ends), space_symbol)
    symbols = tf.tensor_scatter_nd_update(symbols, column(ends), spaces)
    return FlatTexts(symbols, starts, ends)


def _dropped(
    symbols: tf.Tensor, drop: tf.Tensor, boundaries: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Drops spaces; a dropped boundary gets the position of the last kept space before it."""
    symbols, num_kept = without_few(symbols, drop, boundaries + 1)
    return symbols, num_kept - 1


def replaced(texts: FlatTexts, parts: tf.Tensor, others: tf.RaggedTensor) -> FlatTexts:
    """Replaces parts of a batch.

    Args:
        texts: The batch.
        parts: Their starts and ends in its symbols, ascending, int64 `(num_parts, 2)`.
        others: The symbols of the replacements, int32 `(num_parts, None)`.
    """
    starts, ends = tf.unstack(parts, axis=1)
    size = tf.size(texts.symbols, tf.int64)
    # Pieces: by turns the symbols before and in each part, the rest, then the replacements.
    splits = [
        [0],
        tf.reshape(parts, [-1]),
        [size],
        size + others.row_splits[1:],
    ]
    pieces = ragged(
        tf.concat([texts.symbols, others.values], axis=0),
        tf.concat(splits, axis=0),
    )
    # Before each part, its replacement, and at the end the rest.
    num_parts = tf.size(starts)
    rest = 2 * num_parts
    index = tf.range(num_parts)
    before = 2 * index
    replacements = rest + 1 + index
    order = interleaved(before, replacements)
    order = tf.concat([order, [rest]], axis=0)
    symbols = tf.gather(pieces, order).values
    # A position moves by the growth of all parts that start before it.
    growths = others.row_lengths() - (ends - starts)
    growth = after_zero(tf.cumsum(growths))
    growth = tf.cast(growth, tf.int32)

    def moved(positions: tf.Tensor) -> tf.Tensor:
        num_parts_before = num_before(starts, positions)
        return positions + tf.gather(growth, num_parts_before)

    return FlatTexts(symbols, moved(texts.starts), moved(texts.ends))


def certain(texts: FlatTexts) -> Readings:
    """Returns the readings of a batch in which no text has two vectors."""
    symbols, starts, ends = texts
    nothing = FlatTexts(symbols[:0], starts[:0], ends[:0])
    return Readings(texts, nothing, tf.zeros(0, tf.int64), tf.zeros(0))


def some_texts(texts: FlatTexts, rows: tf.Tensor) -> FlatTexts:
    """Selects texts of a batch.

    Args:
        texts: The batch.
        rows: Their rows, int64 `(num_rows,)`.
    """
    starts = tf.gather(texts.starts, rows)
    # With the space after it.
    ends = tf.gather(texts.ends, rows) + 1
    cut = between(texts.symbols, starts, ends)
    splits = tf.cast(cut.row_splits, tf.int32)
    return FlatTexts(cut.values, splits[:-1], splits[1:] - 1)


def stacked(first: FlatTexts, second: FlatTexts) -> FlatTexts:
    """Puts the texts of two batches into one."""
    size = tf.size(first.symbols)
    return FlatTexts(
        tf.concat([first.symbols, second.symbols], axis=0),
        tf.concat([first.starts, second.starts + size], axis=0),
        tf.concat([first.ends, second.ends + size], axis=0),
    )


def tensorflow_text() -> Any:
    """Imports tensorflow-text, which takes time, and which only words and `unicode_form` need."""
    import tensorflow_text

    return tensorflow_text

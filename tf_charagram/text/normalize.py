"""Normalizes strings to code points, with integer operations only.

Texts are lowercased, white space is collapsed, and a space is added before and after each text
(Charagram, section 4.1.2), so that n-grams also capture the starts and ends of words.

Everything runs on one flat vector of code points for the whole batch. Each text is decoded with a
space before it; after concatenation, the space before text `r + 1` is also the space after text
`r`, and collapsing runs of spaces over the whole vector normalizes all texts at once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

#: Code points with the Unicode property White_Space.
WHITE_SPACE = (
    *range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B),
    0x2028, 0x2029, 0x202F, 0x205F, 0x3000,
)  # fmt: skip
SPACE = 0x20
FIRST_BEYOND_ASCII = 0x80
#: Maps the two results of `decode`, code points and boundaries, to changed ones.
CodesFunction = Callable[[tf.Tensor, tf.Tensor], tuple[tf.Tensor, tf.Tensor]]
# The only character whose lowercase form has two code points.
_DOTTED_I = 0x130


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


@functools.cache
def normalized_code_points(lowercase: bool = True) -> np.ndarray:
    """Returns a table from code points to normalized ones, int32 `(table_size,)`.

    White space becomes U+0020. Lowercasing maps one code point to one: U+0130, the only character
    whose lowercase form has two, is unchanged, so lengths never change. Code points past the end
    of the table are unchanged.
    """
    table = np.arange(0x1E944, dtype=np.int32)
    if lowercase:
        # One string takes a tenth of the time of one per character. A letter follows the capital
        # sigma, so it does not become a final one.
        codes = table.copy()
        codes[_DOTTED_I] = SPACE
        chars = codes.tobytes().decode("utf-32-le", "surrogatepass")
        lowered = chars.lower().encode("utf-32-le", "surrogatepass")
        table = np.frombuffer(lowered, np.int32).copy()
        table[_DOTTED_I] = _DOTTED_I
    table[list(WHITE_SPACE)] = SPACE
    table.setflags(write=False)
    return table


def decode(
    texts: tf.Tensor, unicode_form: str | None = None, fold: CodesFunction | None = None
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
    joined = tf.io.decode_raw(tf.strings.reduce_join(texts, separator=" "), tf.uint8)
    first_space = tf.fill([tf.minimum(tf.size(texts), 1)], SPACE)
    codes = tf.concat([first_space, tf.cast(joined, tf.int32), [SPACE]], axis=0)
    boundaries = tf.concat([[0], tf.cumsum(tf.strings.length(texts) + 1)], axis=0)
    return tf.cond(
        tf.reduce_max(codes) < FIRST_BEYOND_ASCII,
        lambda: (codes, boundaries),
        lambda: _decode_beyond_ascii(texts, codes, boundaries, fold),
    )


def _decode_beyond_ascii(
    texts: tf.Tensor, codes: tf.Tensor, boundaries: tf.Tensor, fold: CodesFunction | None
) -> tuple[tf.Tensor, tf.Tensor]:
    """Decodes the texts that are not ASCII; `codes` holds the bytes of all texts."""
    positions = flatnonzero(codes >= FIRST_BEYOND_ASCII)
    rows = tf.searchsorted(boundaries, tf.cast(positions, tf.int32), side="right") - 1
    rows, _ = tf.unique(rows)
    decoded = tf.raw_ops.UnicodeDecode(
        input=tf.strings.join([" ", tf.gather(texts, rows)]),
        input_encoding="UTF-8",
        errors="replace",
        replacement_char=0xFFFD,
        replace_control_characters=False,
        Tsplits=tf.int32,
    )
    # Rows: the texts as bytes, the last space, the decoded texts.
    every = ragged(
        tf.concat([codes, decoded.char_values], axis=0),
        tf.concat([boundaries, tf.size(codes) + decoded.row_splits], axis=0),
    )
    num_rows = tf.size(boundaries)
    decoded_rows = num_rows + tf.range(tf.size(rows))
    order = tf.tensor_scatter_nd_update(tf.range(num_rows), rows[:, tf.newaxis], decoded_rows)
    result = tf.gather(every, order)
    codes = result.values
    boundaries = result.row_splits[:-1]
    return (codes, boundaries) if fold is None else fold(codes, boundaries)


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
    # In this order no sum exceeds int32.
    ends = starts + tf.minimum(ends - starts, min(max_chars + 1, tf.int32.max))
    # A text that is cut after a space ends at that space.
    last = tf.gather(symbols, tf.maximum(ends - 1, 0))
    is_cut_at_space = (ends > starts + 1) & (last == space)
    ends -= tf.cast(is_cut_at_space, tf.int32)
    spaces = tf.fill(tf.shape(ends), tf.constant(space, symbols.dtype))
    symbols = tf.tensor_scatter_nd_update(symbols, ends[:, tf.newaxis], spaces)
    return FlatTexts(symbols, starts, ends)


def _dropped(
    symbols: tf.Tensor, drop: tf.Tensor, boundaries: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Drops spaces; a dropped boundary gets the position of the last kept space before it."""
    symbols, num_before = without_few(symbols, drop, boundaries + 1)
    return symbols, num_before - 1


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
    # Every other row holds the values between two dropped ones.
    edges = tf.reshape(tf.stack([dropped, dropped + 1], axis=1), [-1])
    splits = tf.concat([[0], edges, tf.shape(values, tf.int64)], axis=0)
    kept = tf.gather(ragged(values, splits), tf.range(0, tf.size(splits) - 1, 2))
    num_dropped = tf.searchsorted(dropped, tf.cast(positions, tf.int64))
    return kept.values, positions - num_dropped


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
    # A cumulative sum over all values takes ten times as long as searching.
    num_before = tf.searchsorted(kept, tf.cast(positions, tf.int64))
    return tf.gather(values, kept), num_before


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
    index = tf.range(tf.size(starts))
    rest = 2 * tf.size(starts)
    order = tf.reshape(tf.stack([2 * index, rest + 1 + index], axis=1), [-1])
    order = tf.concat([order, [rest]], axis=0)
    symbols = tf.gather(pieces, order).values
    # A position moves by the growth of all parts that start before it.
    growth = tf.cumsum(others.row_lengths() - (ends - starts))
    growth = tf.cast(tf.concat([[0], growth], axis=0), tf.int32)

    def moved(positions: tf.Tensor) -> tf.Tensor:
        num_before = tf.searchsorted(starts, tf.cast(positions, tf.int64))
        return positions + tf.gather(growth, num_before)

    return FlatTexts(symbols, moved(texts.starts), moved(texts.ends))


def tensorflow_text() -> Any:
    """Imports tensorflow-text, which takes time, and which only words and `unicode_form` need."""
    import tensorflow_text

    return tensorflow_text

"""Strings to normalized code points, with integer operations only.

A text is lower-cased, its white space collapsed, and one space put before and after it
(Charagram, section 4.1.2), so that the starts and ends of words are n-grams too.

All of it runs on one flat vector of code points for the whole batch. Each text is decoded with one
space in front; in the concatenation the space in front of text `r + 1` is then also the space after
text `r`, and collapsing every run of spaces over the whole vector normalizes all texts at once.
"""

from __future__ import annotations

import functools
import sys
from typing import NamedTuple

import numpy as np
import tensorflow as tf

#: Code points with the Unicode property White_Space.
WHITE_SPACE = (
    *range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B),
    0x2028, 0x2029, 0x202F, 0x205F, 0x3000,
)  # fmt: skip
SPACE = 0x20
_FIRST_BEYOND_ASCII = 0x80
# The only character whose lower-case form has two code points.
_DOTTED_I = 0x130


class FlatTexts(NamedTuple):
    """A batch of normalized texts in one vector.

    Text `r` occupies `symbols[starts[r] : ends[r] + 1]`, with one space at each of the two ends.
    Neighbouring texts may share the space between them. A text that normalizes to nothing has
    `starts[r] == ends[r]`.

    Attributes:
        symbols: Integer symbols of all texts, `(num_symbols,)`.
        starts: Position of the space before each text, int32 `(batch,)`, not decreasing.
        ends: Position of the space after each text, int32 `(batch,)`.
    """

    symbols: tf.Tensor
    starts: tf.Tensor
    ends: tf.Tensor


@functools.cache
def normalized_code_points(lowercase: bool = True) -> np.ndarray:
    """Returns the code point each code point is normalized to, int32 `(table_size,)`.

    White space becomes U+0020. Lower-casing is one code point to one: a character whose lower-case
    form has two (only U+0130) stays as it is, so lengths never change. Code points past the end of
    the table stay as they are.
    """
    table = np.arange(0x1E944, dtype=np.int32)
    if lowercase:
        # All as one string, in a tenth of the time of a string each. The one sigma is followed by a
        # letter, so it does not end a word.
        codes = np.where(table == _DOTTED_I, SPACE, table).astype("<u4").tobytes()
        lowered = codes.decode("utf-32-le", "surrogatepass").lower()
        lowered_codes = np.frombuffer(lowered.encode("utf-32-le", "surrogatepass"), "<u4")
        table = np.where(table == _DOTTED_I, table, lowered_codes.astype(np.int32))
    table[list(WHITE_SPACE)] = SPACE
    table.setflags(write=False)
    return table


def decode(texts: tf.Tensor, unicode_form: str | None = None) -> tuple[tf.Tensor, tf.Tensor]:
    """Decodes UTF-8 texts to code points, with a space before each text and one at the very end.

    Args:
        texts: String tensor `(batch,)`. Bytes that are not UTF-8 become U+FFFD.
        unicode_form: `None`, or a normalization form such as `"NFKC"`, applied by tensorflow-text.

    Returns:
        Code points, int32 `(num_symbols,)`, and the position of the space before each text followed
        by that of the last space, int32 `(batch + 1,)`.
    """
    if unicode_form is not None:
        texts = _tensorflow_text().normalize_utf8(
            tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8", errors="replace"), unicode_form
        )
    # ASCII is its own code, and reading bytes takes a tenth of the time of decoding.
    joined = tf.io.decode_raw(tf.strings.reduce_join(texts, separator=" "), tf.uint8)
    first_space = tf.fill([tf.minimum(tf.size(texts), 1)], SPACE)
    codes = tf.concat([first_space, tf.cast(joined, tf.int32), [SPACE]], axis=0)
    boundaries = tf.concat([[0], tf.cumsum(tf.strings.length(texts) + 1)], axis=0)
    return tf.cond(
        tf.reduce_max(codes) < _FIRST_BEYOND_ASCII,
        lambda: (codes, boundaries),
        lambda: _decode_beyond_ascii(texts, codes, boundaries),
    )


def _decode_beyond_ascii(
    texts: tf.Tensor, codes: tf.Tensor, boundaries: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Decodes those texts that are not ASCII; of the others the codes are known, and all bytes."""
    positions = tf.where(codes >= _FIRST_BEYOND_ASCII)[:, 0]
    rows = tf.searchsorted(boundaries, tf.cast(positions, tf.int32), side="right") - 1
    rows, _ = tf.unique(rows)
    decoded = tf.raw_ops.UnicodeDecode(
        input=tf.strings.join([" ", tf.gather(texts, rows)]), input_encoding="UTF-8",
        errors="replace", replacement_char=0xFFFD, replace_control_characters=False,
        Tsplits=tf.int32,
    )  # fmt: skip
    # Behind the texts come the last space, which is as long as a text, and what was decoded.
    num_texts, num_decoded = tf.size(texts), tf.size(rows)
    splits = tf.concat([boundaries, tf.size(codes) + decoded.row_splits], axis=0)
    every = tf.RaggedTensor.from_row_splits(
        tf.concat([codes, decoded.char_values], axis=0), splits, validate=False
    )
    replaced = tf.tensor_scatter_nd_update(
        tf.range(num_texts + 1), rows[:, tf.newaxis], num_texts + 1 + tf.range(num_decoded)
    )
    result = tf.gather(every, replaced)
    return result.values, result.row_splits[:-1]


def collapse(
    symbols: tf.Tensor, boundaries: tf.Tensor, space: int, max_chars: int | None = None
) -> FlatTexts:
    """Collapses runs of spaces and truncates every text after `max_chars` symbols, if given.

    Args:
        symbols: Symbols with a space before each text and one at the end, `(num_symbols,)`.
        boundaries: Positions of those spaces, int32 `(batch + 1,)`.
        space: The symbol that stands for white space.
        max_chars: Longest text that is kept, without the two spaces around it.
    """
    is_space = tf.equal(symbols, tf.constant(space, symbols.dtype))
    after_space = tf.concat([[False], is_space[:-1]], axis=0)
    keep = tf.logical_not(tf.logical_and(is_space, after_space))
    symbols, boundaries = tf.cond(
        tf.reduce_all(keep),
        lambda: (symbols, boundaries),
        # A space that is dropped gets the position of the one before it that stays.
        lambda: _dropped(symbols, keep, boundaries),
    )
    starts, ends = boundaries[:-1], boundaries[1:]
    if max_chars is None:
        return FlatTexts(symbols, starts, ends)
    # In this order no sum exceeds int32.
    ends = starts + tf.minimum(ends - starts, min(max_chars + 1, tf.int32.max))
    before = tf.gather(symbols, tf.maximum(ends - 1, 0))
    cut_at_space = tf.logical_and(ends > starts + 1, tf.equal(before, space))
    ends -= tf.cast(cut_at_space, tf.int32)
    spaces = tf.fill(tf.shape(ends), tf.constant(space, symbols.dtype))
    return FlatTexts(
        tf.tensor_scatter_nd_update(symbols, ends[:, tf.newaxis], spaces), starts, ends
    )


def _dropped(
    symbols: tf.Tensor, keep: tf.Tensor, boundaries: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    symbols, num_before = without_few(symbols, tf.logical_not(keep), boundaries + 1)
    return symbols, num_before - 1


def without_few(
    values: tf.Tensor, drop: tf.Tensor, positions: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Does what `masked` does, in half of the time if what is dropped is less than a fiftieth.

    Args:
        values: `(num_values,)`.
        drop: Which of them go, bool `(num_values,)`.
        positions: As for `masked`, and so are the results.
    """
    dropped = tf.where(drop)[:, 0]
    # What is between them stays: every other one of these rows.
    edges = tf.reshape(tf.stack([dropped, dropped + 1], axis=1), [-1])
    splits = tf.concat([[0], edges, tf.shape(values, tf.int64)], axis=0)
    rows = tf.RaggedTensor.from_row_splits(values, splits, validate=False)
    kept = tf.gather(rows, tf.range(0, tf.size(splits) - 1, 2))
    return kept.values, positions - tf.searchsorted(dropped, tf.cast(positions, tf.int64))


def masked(values: tf.Tensor, keep: tf.Tensor, positions: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Drops values, and maps positions among them to positions among the rest.

    Args:
        values: `(num_values,)`.
        keep: Which of them stay, bool `(num_values,)`.
        positions: Ascending positions in `values`, int32 `(num_positions,)`.

    Returns:
        The values that stay, and for each position how many stay before it, int32
        `(num_positions,)`.
    """
    kept = tf.where(keep)[:, 0]
    # A search for each position: a cumulative sum over all values takes ten times as long.
    num_before = tf.searchsorted(kept, tf.cast(positions, tf.int64))
    return tf.gather(values, kept), num_before


def _tensorflow_text():  # type: ignore[no-untyped-def]
    if sys.platform == "win32":
        raise ImportError("`unicode_form` needs tensorflow-text, which has no Windows build.")
    import tensorflow_text

    return tensorflow_text

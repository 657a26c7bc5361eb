"""A batch of texts in one vector of code points or symbols."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, cast
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from tf_charagram.text.batches import decoded, to_bytes
from tf_charagram.text.code_points import SPACE

Ints = NDArray[np.int64]


class Batch(NamedTuple):
    """A batch of normalized texts.

    Text `r` is `symbols[starts[r] : ends[r] + 1]`, including a space at both ends. Adjacent texts
    may share the space between them. A text that normalizes to nothing has `starts[r] == ends[r]`.

    Attributes:
        symbols: Symbols of all texts, int64 `(num_symbols,)`.
        starts: Position of the space before each text, int64 `(batch,)`, non-decreasing.
        ends: Position of the space after each text, int64 `(batch,)`.
    """

    symbols: Ints
    starts: Ints
    ends: Ints


class Readings(NamedTuple):
    """A batch as it is read, and the texts of which some word is read as another one, as written.

    Attributes:
        read: The batch as it is read.
        written: The changed texts as they are written.
        changed: Their rows, ascending, int64 `(num_changed,)`.
        shares: The share of the reading in the vector of each, float32 `(num_changed,)`.
    """

    read: Batch
    written: Batch
    changed: Ints
    shares: NDArray[np.float32]


class Runs(NamedTuple):
    """Rows of different lengths in one vector: row `i` is `values[splits[i] : splits[i + 1]]`."""

    values: Ints
    splits: Ints


def decode(texts: Sequence[str | bytes], unicode_form: str | None) -> tuple[Ints, Ints]:
    """Decodes texts to code points, with a space before each text and after the last.

    Args:
        texts: The texts. Broken UTF-8 and lone surrogates become U+FFFD.
        unicode_form: Unicode normalization form such as `"NFKC"`, or `None`.

    Returns:
        Code points, int64 `(num_symbols,)`, and the positions of those spaces, int64
        `(batch + 1,)`.
    """
    strings = [decoded(text) for text in texts]
    try:
        return _joined(strings, unicode_form)
    except UnicodeEncodeError:  # A lone surrogate.
        strings = [decoded(to_bytes(text)) for text in texts]
        return _joined(strings, unicode_form)


def _joined(strings: list[str], unicode_form: str | None) -> tuple[Ints, Ints]:
    if unicode_form is not None:
        form = cast(Literal["NFC"], unicode_form)
        strings = [normalize(form, text) for text in strings]
    # A space before each text, and one at the end.
    spaced = " ".join(["", *strings, ""])
    encoded = spaced.encode("utf-32-le")
    codes = np.frombuffer(encoded, np.int32)
    lengths = [len(text) + 1 for text in strings]
    ends = np.cumsum(lengths, dtype=np.int64)
    if not strings:
        codes = np.array([SPACE])
    return codes.astype(np.int64), after_zero(ends)


def collapse(symbols: Ints, boundaries: Ints, space: int, max_chars: int | None) -> Batch:
    """Collapses runs of spaces and truncates every text after `max_chars` symbols, if given.

    Args:
        symbols: Symbols with a space before each text and one at the end, `(num_symbols,)`.
        boundaries: Positions of those spaces, `(batch + 1,)`.
        space: The symbol of white space.
        max_chars: Maximum length of a text without the spaces around it.
    """
    is_space = symbols == space
    is_repeated = is_space[1:] & is_space[:-1]
    dropped = np.flatnonzero(is_repeated) + 1
    symbols = np.delete(symbols, dropped)
    # A dropped boundary gets the position of the last kept space before it.
    num_dropped = np.searchsorted(dropped, boundaries + 1)
    boundaries = boundaries - num_dropped
    starts = boundaries[:-1]
    ends = boundaries[1:]
    if max_chars is None:
        return Batch(symbols, starts, ends)
    # The position of the space after the last character that is kept.
    last_ends = starts + max_chars + 1
    ends = np.minimum(ends, last_ends)
    # A text that is cut after a space ends at that space.
    last_places = np.maximum(ends - 1, 0)
    is_cut_at_space = symbols[last_places] == space
    is_cut_at_space &= ends > starts + 1
    ends = ends - is_cut_at_space
    symbols[ends] = space
    return Batch(symbols, starts, ends)


def replaced(batch: Batch, starts: Ints, ends: Ints, others: Runs) -> Batch:
    """Replaces parts of a batch.

    Args:
        batch: The batch.
        starts: Where the parts start in its symbols, ascending, `(num_parts,)`.
        ends: Where they end.
        others: The symbols of the replacements.
    """
    size = len(batch.symbols)
    every = np.concatenate([batch.symbols, others.values])
    kept_starts = after_zero(ends)
    kept_ends = np.append(starts, size)
    other_splits = size + others.splits
    # Before each part, its replacement, and at the end the rest.
    firsts = interleaved(kept_starts[:-1], other_splits[:-1])
    firsts = np.append(firsts, kept_starts[-1])
    lasts = interleaved(kept_ends[:-1], other_splits[1:])
    lasts = np.append(lasts, size)
    places = positions(firsts, lasts)
    # A position moves by the growth of all parts that start before it.
    growths = np.diff(others.splits) - (ends - starts)
    growth = after_zero(np.cumsum(growths))

    def moved(edges: Ints) -> Ints:
        num_parts_before = np.searchsorted(starts, edges)
        return edges + growth[num_parts_before]

    return Batch(every[places], moved(batch.starts), moved(batch.ends))


def certain(batch: Batch) -> Readings:
    """Returns the readings of a batch in which no text has two vectors."""
    nothing = np.zeros(0, np.int64)
    return Readings(batch, some_texts(batch, nothing), nothing, np.zeros(0, np.float32))


def some_texts(batch: Batch, rows: Ints) -> Batch:
    """Selects texts of a batch."""
    starts = batch.starts[rows]
    # With the space after it.
    ends = batch.ends[rows] + 1
    symbols = batch.symbols[positions(starts, ends)]
    splits = after_zero(np.cumsum(ends - starts))
    return Batch(symbols, splits[:-1], splits[1:] - 1)


def stacked(first: Batch, second: Batch) -> Batch:
    """Puts the texts of two batches into one."""
    size = len(first.symbols)
    return Batch(
        np.append(first.symbols, second.symbols),
        np.append(first.starts, second.starts + size),
        np.append(first.ends, second.ends + size),
    )


def positions(starts: Ints, ends: Ints) -> Ints:
    """Lists the positions from each start to before each end, one after the other."""
    lengths = ends - starts
    # Counts on from the start of each run.
    num_before = np.cumsum(lengths) - lengths
    offsets = np.repeat(starts - num_before, lengths)
    return offsets + np.arange(len(offsets))


def rows_of(runs: Runs, rows: Ints) -> Runs:
    """Selects rows."""
    starts = runs.splits[rows]
    ends = runs.splits[rows + 1]
    places = positions(starts, ends)
    lengths = ends - starts
    splits = after_zero(np.cumsum(lengths))
    return Runs(runs.values[places], splits)


def after_zero(values: Ints) -> Ints:
    """Puts a 0 before a vector, `(n + 1,)`."""
    return np.append(np.int64(0), values)


def interleaved(first: Ints, second: Ints) -> Ints:
    """Takes values of two vectors `(n,)` by turns, `(2n,)`."""
    pairs = np.stack([first, second], axis=1)
    return pairs.ravel()

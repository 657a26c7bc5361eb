"""A batch of texts in one vector of code points or symbols.

Texts are lowercased, white space is collapsed, and a space is added before and after each text
(Charagram, section 4.1.2), so that n-grams also capture the starts and ends of words.

Each text is decoded with a space before it; after concatenation, the space before text `r + 1` is
also the space after text `r`, and collapsing runs of spaces over the whole vector normalizes all
texts at once.

All algorithms on texts are written once: they get their operations as `ops`, which is the module
`tf_charagram.text._algorithm.arrays` (NumPy) or `tf_charagram.text._algorithm.graph` (TensorFlow).
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

from tf_charagram.text._algorithm.code_points import FIRST_BEYOND_ASCII
from tf_charagram.text._algorithm.unicode import unicode_ranges

#: The `Array` of a module of operations.
Array: TypeAlias = Any
#: A module of operations.
Ops: TypeAlias = ModuleType

# A character with its marks: at most 16 code points of four bytes.
_MAX_CHAR_BYTES = 64
# No version of Unicode assigns this code point.
_NONCHARACTER = 0xFDD0


class OnExecutor:
    """Base of objects that compute by the operations of an executor.

    Pickle cannot keep a module, so it keeps its name.
    """

    _ops: Ops

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_ops": self._ops.__name__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _ops=import_module(state["_ops"]))


class Batch(NamedTuple):
    """A batch of normalized texts in one vector.

    Text `r` is `symbols[starts[r] : ends[r] + 1]`, including a space at both ends. Adjacent texts
    may share the space between them. A text that normalizes to nothing has `starts[r] == ends[r]`.

    Attributes:
        symbols: Symbols of all texts, int32 `(num_symbols,)`.
        starts: Position of the space before each text, `(batch,)`, non-decreasing; int64, or int32
            in TensorFlow.
        ends: Position of the space after each text, `(batch,)`.
        weights: How much the n-grams count that start at each symbol, in the steps of
            `Dictionary.weight_steps`, int32 `(num_symbols,)`; `None` if all count 1.
    """

    symbols: Array
    starts: Array
    ends: Array
    weights: Array | None = None


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
    changed: Array
    shares: Array


class Rows(NamedTuple):
    """Rows of different lengths in one vector: row `i` is `values[splits[i] : splits[i + 1]]`."""

    values: Array
    splits: Array


def shortened(ops: Ops, texts: Any, max_chars: int | None) -> Any:
    """Cuts texts whose end is surely past `max_chars`: decoding 36 MB would take 3 GB.

    Args:
        ops: Operations.
        texts: UTF-8 texts `(batch,)`.
        max_chars: Number of characters of a normalized text that count; `None` for no limit.
    """
    return texts if max_chars is None else ops.shortened(texts, _MAX_CHAR_BYTES * max_chars)


def decode(ops: Ops, texts: Any, unicode_form: str | None = None) -> tuple[Array, Array]:
    """Decodes texts to code points, with a space before each text and after the last.

    Args:
        ops: Operations.
        texts: UTF-8 texts `(batch,)`. What is not UTF-8 becomes U+FFFD.
        unicode_form: Unicode normalization form such as `"NFKC"`, of Unicode 14; or `None`.

    Returns:
        Code points, int32 `(num_symbols,)`, and the positions of those spaces `(batch + 1,)`.
    """
    codes, boundaries = ops.decode(texts)
    if unicode_form is None:
        return codes, boundaries
    return ops.cond(
        ops.any_of(codes >= FIRST_BEYOND_ASCII),
        lambda: _normalized(ops, codes, boundaries, unicode_form),
        lambda: (codes, boundaries),
    )


def _normalized(
    ops: Ops, codes: Array, boundaries: Array, unicode_form: str
) -> tuple[Array, Array]:
    """Normalizes decoded texts; characters that Unicode 14 lacks stay as they are."""
    # Python and tensorflow-text have different versions of Unicode, which normalize equally what
    # both know. The other characters are hidden from them behind one that no version changes.
    unassigned = ops.constant(unicode_ranges()["unassigned"])
    is_unassigned = is_in_ranges(ops, codes, unassigned)
    places = ops.positions_of_true(is_unassigned)
    hidden = ops.take(codes, places)
    screens = ops.full_like(hidden, _NONCHARACTER, hidden.dtype)
    visible = ops.put(codes, places, screens)
    # Without the space before each text.
    starts = boundaries[:-1] + 1
    texts = ops.encode(visible, starts, boundaries[1:])
    normalized = ops.in_unicode_form(texts, unicode_form)
    codes, boundaries = ops.decode(normalized)
    places = ops.positions_of_true(codes == _NONCHARACTER)
    return ops.put(codes, places, hidden), boundaries


def is_in_ranges(ops: Ops, values: Array, edges: Array) -> Array:
    """Returns whether values are in ranges.

    Args:
        ops: Operations.
        values: `(num_values,)`.
        edges: Where ranges start and end, by turns, ascending.
    """
    # Inside is after an odd number of edges.
    num_edges = ops.searchsorted(edges, ops.like(values, edges), side="right")
    return num_edges % 2 == 1


def collapse(
    ops: Ops, symbols: Array, boundaries: Array, space: int, max_chars: int | None = None
) -> Batch:
    """Collapses runs of spaces and truncates every text after `max_chars` symbols, if given.

    Args:
        ops: Operations.
        symbols: Symbols with a space before each text and one at the end, int32 `(num_symbols,)`.
        boundaries: Positions of those spaces, `(batch + 1,)`.
        space: The symbol of white space.
        max_chars: Maximum length of a text without the spaces around it.
    """
    is_space = symbols == space
    is_repeated = is_space[1:] & is_space[:-1]

    def collapsed() -> tuple[Array, Array]:
        places = ops.positions_of_true(is_repeated) + 1
        # A dropped boundary gets the position of the last kept space before it.
        kept, num_kept = ops.dropped(symbols, places, boundaries + 1)
        return kept, num_kept - 1

    symbols, boundaries = ops.cond(
        ops.any_of(is_repeated), collapsed, lambda symbols=symbols: (symbols, boundaries)
    )
    starts = boundaries[:-1]
    ends = boundaries[1:]
    if max_chars is None:
        return Batch(symbols, starts, ends)
    # The space after the last character counts. In this order no sum exceeds int32.
    max_length = min(max_chars + 1, 2**31 - 1)
    lengths = ops.minimum(ends - starts, max_length)
    ends = starts + lengths
    # A text that is cut after a space ends at that space.
    last_places = ops.maximum(ends - 1, 0)
    last = ops.take(symbols, last_places)
    is_cut_at_space = (ends > starts + 1) & (last == space)
    ends = ends - ops.like(is_cut_at_space, ends)
    spaces = ops.full_like(ends, space, symbols.dtype)
    batch = Batch(ops.put(symbols, ends, spaces), starts, ends)
    # Otherwise 640,000 symbols of a long text would be corrected, and 10,000 of them used.
    rows = ops.range_of(ops.size(starts))
    return ops.cond(
        ops.any_of(ends < boundaries[1:]), lambda: some_texts(ops, batch, rows), lambda: batch
    )


def replaced(
    ops: Ops,
    batch: Batch,
    starts: Array,
    ends: Array,
    others: Array,
    lengths: Array,
    other_weights: Array | None = None,
) -> Batch:
    """Replaces parts of a batch.

    Args:
        ops: Operations.
        batch: The batch.
        starts: Where the parts start in its symbols, ascending, int64 `(num_parts,)`.
        ends: Where they end.
        others: The symbols of all replacements.
        lengths: The number of symbols of each replacement, int64 `(num_parts,)`.
        other_weights: The weights of `others`, if the batch has weights.
    """
    size = ops.reshape(ops.size(batch.symbols), [1])
    other_splits = size + ops.splits_of(lengths)
    # Before each part, its replacement, and at the end the rest.
    kept_starts = ops.padded(ends, 1, 0)
    firsts = interleaved(ops, kept_starts[:-1], other_splits[:-1])
    lasts = interleaved(ops, starts, other_splits[1:])
    firsts = ops.concat([firsts, kept_starts[-1:]])
    lasts = ops.concat([lasts, size])
    others = ops.like(others, batch.symbols)
    every = ops.concat([batch.symbols, others])
    # A position moves by the growth of all parts that start before it.
    growth = lengths - (ends - starts)
    growth_before = ops.splits_of(growth)

    def moved(edges: Array) -> Array:
        num_parts_before = ops.searchsorted(starts, ops.int64(edges))
        moves = ops.take(growth_before, num_parts_before)
        return edges + ops.like(moves, edges)

    places = ops.positions(firsts, lasts)
    weights = None
    if batch.weights is not None:
        every_weight = ops.concat([batch.weights, other_weights])
        weights = ops.take(every_weight, places)
    return Batch(
        ops.take(every, places),
        moved(batch.starts),
        moved(batch.ends),
        weights,
    )


def certain(ops: Ops, batch: Batch) -> Readings:
    """Returns the readings of a batch in which no text has two vectors."""
    none = batch.starts[:0]
    no_weights = None if batch.weights is None else batch.weights[:0]
    nothing = Batch(batch.symbols[:0], none, none, no_weights)
    no_shares = ops.cast_to(none, "float32")
    return Readings(batch, nothing, ops.int64(none), no_shares)


def some_texts(ops: Ops, batch: Batch, rows: Array) -> Batch:
    """Selects texts of a batch by their rows, `(num_rows,)`."""
    starts = ops.take(batch.starts, rows)
    # With the space after it.
    ends = ops.take(batch.ends, rows) + 1
    splits = ops.splits_of(ends - starts)
    places = ops.positions(starts, ends)
    weights = None
    if batch.weights is not None:
        weights = ops.take(batch.weights, places)
    symbols = ops.take(batch.symbols, places)
    return Batch(symbols, splits[:-1], splits[1:] - 1, weights)


def stacked(ops: Ops, first: Batch, second: Batch) -> Batch:
    """Puts the texts of two batches into one."""
    size = ops.like(ops.size(first.symbols), first.starts)
    weights = None
    if first.weights is not None:
        weights = ops.concat([first.weights, second.weights])
    return Batch(
        ops.concat([first.symbols, second.symbols]),
        ops.concat([first.starts, second.starts + size]),
        ops.concat([first.ends, second.ends + size]),
        weights,
    )


def rows_of(ops: Ops, table: Rows, rows: Array) -> tuple[Array, Array]:
    """Selects rows of a table, several for each part.

    Args:
        ops: Operations.
        table: The table.
        rows: int64 `(num_parts, rows_per_part)`.

    Returns:
        The values of all rows, and the number of values of each part, `(num_parts,)`.
    """
    firsts = ops.take(table.splits, rows)
    lasts = ops.take(table.splits, rows + 1)
    lengths = ops.sum_of(lasts - firsts, axis=1)
    places = ops.positions(
        ops.flattened(firsts),
        ops.flattened(lasts),
    )
    return ops.take(table.values, places), lengths


def interleaved(ops: Ops, first: Array, second: Array) -> Array:
    """Takes values of two vectors `(n,)` by turns, `(2n,)`."""
    pairs = ops.stack([first, second], axis=1)
    return ops.flattened(pairs)


def all_selected(ops: Ops, mask: Array, *values: Array) -> list[Array]:
    """Selects the values, or rows, of several arrays where a mask is true."""
    # Not `selected`, which would look for the true values once for each array.
    places = ops.positions_of_true(mask)
    return [ops.take(each, places) for each in values]


def rows_in(ops: Ops, table: Array, values: Array) -> tuple[Array, Array]:
    """Looks values up in an ascending table that ends with a value none of them has.

    Returns:
        The row of each value, and whether the table has it.
    """
    rows = ops.searchsorted(table, values)
    return rows, ops.take(table, rows) == values


def num_between(ops: Ops, mask: Array, starts: Array, ends: Array) -> Array:
    """Counts the true values of a mask from each start to before each end."""
    places = ops.like(ops.positions_of_true(mask), starts)
    return ops.searchsorted(places, ends) - ops.searchsorted(places, starts)

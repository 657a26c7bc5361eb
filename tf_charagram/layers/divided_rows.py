"""Which rows of a table belong to which of its parts, and how they move between the two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import tensorflow as tf

from tf_charagram.errors import ConfigError
from tf_charagram.layers.placement import read_in_place
from tf_charagram.optimizers.exchange import ALONE, Exchange

# Rows that are moved at once: at 300 numbers each, 20 MB.
_PIECE = 16_384


@dataclass(frozen=True)
class DividedRows:
    """A division of rows: row r belongs to part `r % num_parts`, as its row `r // num_parts`.

    Attributes:
        num_rows: Rows in all.
        num_parts: Parts in all.
        first_part: The first part that this process holds.
        num_held: How many parts it holds.
        exchange: The processes that hold the others.

    Raises:
        ConfigError: There are more parts than rows, or the parts held are not among them.
    """

    num_rows: int
    num_parts: int
    first_part: int
    num_held: int
    exchange: Exchange = ALONE

    def __post_init__(self) -> None:
        """Checks that every part has a row and that those held exist."""
        if not 1 <= self.num_parts <= self.num_rows:
            raise ConfigError(
                f"`num_parts` must be from 1 to the number of rows, {self.num_rows:,}. "
                f"Received: num_parts={self.num_parts}"
            )
        if self.num_held < 1 or not 0 <= self.first_part <= self.num_parts - self.num_held:
            raise ConfigError(
                f"The parts held must be among 0 ... {self.num_parts - 1}, at least one. "
                f"Received: first_part={self.first_part} and {self.num_held} devices"
            )

    @property
    def held(self) -> range:
        """The numbers of the parts that this process holds."""
        return range(self.first_part, self.first_part + self.num_held)

    def height(self, part: int) -> int:
        """Returns the number of rows of a part."""
        return len(range(part, self.num_rows, self.num_parts))

    def places(self, part: int, rows: tf.Tensor) -> tf.Tensor:
        """Returns which rows of the whole some rows of a part are, int64."""
        return tf.cast(rows, tf.int64) * self.num_parts + part

    def assemble(self, parts: Sequence[tf.Variable], whole: tf.Variable) -> None:
        """Writes the rows of all parts into the whole table, a piece at a time.

        Args:
            parts: One variable `(height, ...)` for each part held.
            whole: `(num_rows, ...)`; rows of parts that nobody holds stay as they are.
        """
        for part, rows, places in self._pieces(parts):
            whole.scatter_update(tf.IndexedSlices(tf.gather(part, rows), places))
        read_in_place(whole)
        self.exchange.add_up(whole, self._held_rows)

    def _held_rows(self, numbers: tf.Tensor, rows: slice) -> tf.Tensor:
        """Returns some rows of a whole table with zeros for those of parts that are not held."""
        parts = tf.range(rows.start, rows.stop) % self.num_parts - self.first_part
        is_held = tf.logical_and(parts >= 0, parts < self.num_held)
        return tf.where(tf.reshape(is_held, [-1, *[1] * (numbers.shape.rank - 1)]), numbers, 0)

    def cut(self, whole: tf.Variable, parts: Sequence[tf.Variable]) -> None:
        """Writes the rows of the whole table into the parts held; arguments as for `assemble`."""
        for part, rows, places in self._pieces(parts):
            part.scatter_update(tf.IndexedSlices(tf.gather(whole, places), rows))

    def _pieces(
        self, parts: Sequence[tf.Variable]
    ) -> Iterator[tuple[tf.Variable, tf.Tensor, tf.Tensor]]:
        """Yields a part, some of its rows, and the rows of the whole table that these are."""
        for number, part in zip(self.held, parts, strict=True):
            height = self.height(number)
            for start in range(0, height, _PIECE):
                rows = tf.range(start, min(start + _PIECE, height), dtype=tf.int64)
                yield part, rows, self.places(number, rows)

"""What a checkpoint holds, the same however tables are cut: whole tables, and whole moments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import keras
import tensorflow as tf

from tf_charagram.layers.cut_table import CutTable
from tf_charagram.layers.divided_rows import DividedRows


class _Cut(NamedTuple):
    """A variable that exists in parts, and the whole, which has no rows unless it is needed."""

    rows: DividedRows
    parts: list[tf.Variable]
    whole: tf.Variable

    @classmethod
    def of(cls, rows: DividedRows, parts: list[tf.Variable]) -> _Cut:
        # On the host, where the whole has room.
        with tf.device("CPU:0"):
            empty = tf.zeros([0, *parts[0].shape[1:]], parts[0].dtype)
            shape = [None, *parts[0].shape[1:]]
            return cls(rows, parts, tf.Variable(empty, shape=shape, trainable=False))

    def allocate(self) -> None:
        with tf.device("CPU:0"):
            shape = [self.rows.num_rows, *self.whole.shape[1:]]
            self.whole.assign(tf.zeros(shape, self.whole.dtype))

    def assemble(self) -> None:
        self.allocate()
        self.rows.assemble(self.parts, self.whole)

    def cut(self) -> None:
        self.rows.cut(self.whole, self.parts)

    def release(self) -> None:
        with tf.device("CPU:0"):
            self.whole.assign(tf.zeros([0, *self.whole.shape[1:]], self.whole.dtype))


class WholeState:
    """Has what exists in parts whole while a checkpoint is written or read.

    Args:
        tables: The cut tables of a model.
        siblings: For each of them, what has the shapes of its parts: the moments of an optimizer,
            the values that a penalty pulls to.
    """

    def __init__(
        self, tables: Sequence[CutTable], siblings: Sequence[Sequence[list[tf.Variable]]]
    ) -> None:
        self._tables = tables
        self._cuts = [
            _Cut.of(table.rows, parts)
            for table, groups in zip(tables, siblings, strict=True)
            for parts in groups
        ]

    def of(self, variables: Sequence[tf.Variable]) -> list[tf.Variable]:
        """Returns variables as they are where no table is cut: a whole for all of its parts.

        Args:
            variables: In their order, the parts of one beside each other or not.
        """
        first = {part.ref(): cut.whole for cut in self._cuts for part in cut.parts[:1]}
        others = {part.ref() for cut in self._cuts for part in cut.parts[1:]}
        return [first.get(v.ref(), v) for v in variables if v.ref() not in others]

    @contextmanager
    def assembled(self) -> Iterator[None]:
        """Has tables, moments and targets whole, on the host, within its block."""
        for table in self._tables:
            table.assemble()
        try:
            for cut in self._cuts:
                cut.assemble()
            yield
        finally:
            self.release()

    def cut(self) -> None:
        """Takes over what a checkpoint was read into."""
        for table in self._tables:
            table.cut()
        for cut in self._cuts:
            cut.cut()
        self.release()

    def allocate(self) -> None:
        """Makes room for what is whole, to be read into."""
        for cut in self._cuts:
            cut.allocate()

    def release(self) -> None:
        """Gives back the memory of what is whole, besides the tables."""
        for cut in self._cuts:
            cut.release()


def slots_of(
    optimizer: keras.optimizers.Optimizer, variables: Sequence[keras.Variable]
) -> list[list[tf.Variable]]:
    """Returns what an optimizer keeps beside some of the variables it was built with.

    Args:
        optimizer: Any Keras optimizer: it has a list with a variable for each that it trains for
            every kind of moment.
        variables: Some of those that it trains.

    Returns:
        For every kind of moment, the variables of that kind, in the order of `variables`.
    """
    positions = [optimizer._get_variable_index(variable.value) for variable in variables]
    own = {id(variable) for variable in optimizer.variables}
    shapes = [variable.shape for variable in optimizer._trainable_variables]
    kinds = [
        kind
        for kind in vars(optimizer).values()
        if isinstance(kind, list)
        and all(id(slot) in own for slot in kind)
        and [slot.shape for slot in kind] == shapes
    ]
    return [[kind[position].value for position in positions] for kind in kinds]

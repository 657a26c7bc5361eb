"""The base of the layers that look ids up in a table."""

from __future__ import annotations

from typing import Any

import keras

from tf_charagram.layers.base import ConfiguredLayer, check_sizes


class EmbeddingTable(ConfiguredLayer):
    """Holds a table of embeddings, one row per id.

    Subclasses read only the rows that a batch names, each once, so that the gradient of the table
    is a `tf.IndexedSlices` in which every row occurs once: what the optimizers of
    `tf_charagram.optimizers` expect.

    Args:
        num_rows: Height of the table.
        dim: Width of the table.
        initializer: Keras initializer of the table.

    Raises:
        ConfigError: `num_rows` or `dim` is below 1.
    """

    def __init__(
        self,
        *,
        num_rows: int,
        dim: int,
        initializer: str | keras.initializers.Initializer = "uniform",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_sizes(num_rows=num_rows, dim=dim)
        self.num_rows = num_rows
        self.dim = dim
        self.initializer = keras.initializers.get(initializer)
        self.table = self.add_weight(
            shape=(num_rows, dim), initializer=self.initializer, dtype="float32", name="table"
        )
        self.built = True


def embedding_tables(layer: keras.layers.Layer) -> list[keras.Variable]:
    """Returns the tables that a layer, such as an encoder, looks its ids up in."""
    parts = vars(layer).values()
    return [part.table for part in parts if isinstance(part, EmbeddingTable)]

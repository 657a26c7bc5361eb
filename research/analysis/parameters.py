"""Parameters of a model, and those used by a text (Charagram, section 4.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from research.analysis.table import Table
from tf_charagram.errors import ConfigError
from tf_charagram.layers.embedding_table import embedding_tables
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text._algorithm.tensors import string_tensor


def active_parameters(embedders: Mapping[str, TextEmbedder], texts: Sequence[str]) -> Table:
    """Counts the parameters of models, and those used by a text.

    A text uses the table rows of its ids and all other parameters.

    Args:
        embedders: Name -> embedder.
        texts: The texts.

    Returns:
        One row per model: all parameters, the mean number used by a text, by a text of 90 to 110
        characters (the paper's example has 100), and the share used in percent.

    Raises:
        ConfigError: There is no text.
    """
    if not texts:
        raise ConfigError("Counting parameters needs at least 1 text. Received: none")
    chars = np.array([len(text) for text in texts])
    hundred = (chars >= 90) & (chars <= 110)
    rows = []
    for name, embedder in embedders.items():
        in_all = sum(int(np.prod(weight.shape)) for weight in embedder.encoder.weights)
        tables = embedding_tables(embedder.encoder)
        width = sum(int(table.shape[1]) for table in tables)
        dense = in_all - sum(int(np.prod(table.shape)) for table in tables)
        used = dense + width * _distinct_ids(embedder, texts)
        of_hundred = round(float(used[hundred].mean())) if hundred.any() else None
        share = 100 * float(used.mean()) / in_all
        rows.append((name, in_all, round(float(used.mean())), of_hundred, share))
    columns = ("model", "parameters", "used by a text", "by one of 100 characters", "used, %")
    return Table("Parameters in all and in use", columns, tuple(rows))


def _distinct_ids(embedder: TextEmbedder, texts: Sequence[str]) -> np.ndarray:
    """Returns the number of distinct ids of each text, `(num_texts,)`."""
    rows = embedder.vectorizer(string_tensor(texts)).to_list()
    return np.array([len(set(row)) for row in rows], np.float64)

"""A Keras callback that scores a model on a set while it is trained."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import keras

from tf_charagram.data._tables.scored import ScoredPairs
from tf_charagram.data.download import SOURCES, fetch
from tf_charagram.data.sets import evaluation_sets
from tf_charagram.errors import ConfigError, check_name
from tf_charagram.evaluation._scores.scores import mean_members, score_names, score_sets
from tf_charagram.models.embedder import TextEmbedder


class ScoreOnSet(keras.callbacks.Callback):
    """Scores a model after each epoch of `fit`, and adds `val_NAME` to the logs.

    The score is the correlation of cosines with human scores, times 100; NaN if all pairs get the
    same cosine. The model is a `TunedModel`, a `ParaphraseModel` made by `from_embedder`, or any
    Keras model with a `TextEmbedder` among its layers.

    Args:
        name: The path of a file; or `"starter"`; or a public set or the mean of a year, such as
            `"SL999"`, `"WS353"` or `"STS2016"`, which is downloaded if necessary. With `eval_data`,
            any set or mean that `charagram evaluate` shows.
        eval_data: Folder or file with the set `name`.

    Attributes:
        name: Name of the set.

    Raises:
        ConfigError: There is no such set.
        DataError: A file cannot be read or downloaded.
    """

    def __init__(self, name: str | Path, eval_data: str | Path | None = None) -> None:
        super().__init__()
        if eval_data is not None:
            sets = evaluation_sets(eval_data)
        elif Path(name).is_file():
            sets = evaluation_sets(name)
            name = sets[0].name
        else:
            sets = _public_sets(str(name))
        self.name = str(name)
        names = score_names(sets)
        check_name("set", self.name, names)
        # A mean needs all its sets.
        members = mean_members(sets).get(self.name, [self.name])
        self._sets = [pairs for pairs in sets if pairs.name in members]

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Adds the score to the logs."""
        if logs is not None:
            logs[f"val_{self.name}"] = self.score(_embedder_in(self.model))

    def score(self, embedder: TextEmbedder) -> float:
        """Scores an embedder on the set."""
        scores = score_sets(lambda texts: embedder.encode(texts, normalize=True), self._sets)
        by_name = {score.name: score for score in scores}
        value = by_name[self.name].value
        return math.nan if value is None else value


def _public_sets(name: str) -> list[ScoredPairs]:
    """Returns the sets of a public name, after downloading them, or the shipped set."""
    if name in SOURCES:
        path = fetch(name)
        if SOURCES[name].kind == "sts":
            return evaluation_sets(path)
    # The shipped set, and all word sets that were downloaded.
    return evaluation_sets(None)


def _embedder_in(model: keras.Model) -> TextEmbedder:
    """Returns the embedder that a Keras model trains or contains.

    Raises:
        ConfigError: The model has no embedder.
    """
    embedder = getattr(model, "embedder", None)
    if embedder is not None:
        return embedder
    # A ParaphraseModel has the parts of its embedder.
    if getattr(model, "vectorizer", None) is not None:
        return TextEmbedder(model.vectorizer, model.encoder)
    for layer in model._flatten_layers():
        if isinstance(layer, TextEmbedder):
            return layer
    raise ConfigError(
        "ScoreOnSet needs a model with a TextEmbedder, or a ParaphraseModel made by "
        f"`from_embedder`. Received: {type(model).__name__}"
    )

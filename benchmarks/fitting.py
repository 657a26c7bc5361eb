"""Models that benchmarks train: ids in memory, some steps of them."""

from __future__ import annotations

from pathlib import Path

import keras

from tf_charagram.data.pipeline.corpus import Example
from tf_charagram.data.pipeline.store import PairStore
from tf_charagram.data.pipeline.stream import Stream
from tf_charagram.data.readers.pairs import Pair
from tf_charagram.text.tensors import ids_function
from tf_charagram.training.step_model import StepModel


def store_of(pairs: list[Pair], vectorizer: keras.layers.Layer) -> PairStore:
    """Returns the ids of pairs, in memory."""
    store = PairStore(len(pairs), len(pairs), Path())
    store.fill((Example(*pair, pair) for pair in pairs), ids_function(vectorizer))
    return store


def train(model: StepModel, stream: Stream, num_steps: int) -> None:
    """Trains a model for `num_steps` more steps."""
    for segment in stream.segments(int(model.step.numpy()), num_steps):
        model.train_on(stream, segment)

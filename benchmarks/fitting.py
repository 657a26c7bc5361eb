"""Models that benchmarks train: the ids of pairs, some steps of them."""

from __future__ import annotations

import functools
from pathlib import Path
from tempfile import TemporaryDirectory

import keras

from tf_charagram.data.readers.pairs import Pair
from tf_charagram.tasks.paraphrase._corpus.corpus import Example
from tf_charagram.tasks.paraphrase._corpus.pair_stream import Pairs, write_pairs
from tf_charagram.text._algorithm.tensors import ids_function
from tf_charagram.training._loop.steps import RunSegment, choose_steps
from tf_charagram.training._loop.stream import Stream
from tf_charagram.training.step_model import StepModel


def ids_of(pairs: list[Pair], vectorizer: keras.layers.Layer) -> Pairs:
    """Returns the ids of pairs."""
    examples = (Example(*pair, pair) for pair in pairs)
    with TemporaryDirectory() as folder:
        return write_pairs(examples, ids_function(vectorizer), Path(folder))


def train(model: StepModel, stream: Stream, num_steps: int) -> None:
    """Trains a model for `num_steps` more steps."""
    run(model, stream, num_steps, _steps_of(model, stream))


def run(model: StepModel, stream: Stream, num_steps: int, run_segment: RunSegment) -> None:
    """Trains a model for `num_steps` more steps in a chosen way."""
    for segment in stream.segments(int(model.step.numpy()), num_steps):
        run_segment(segment, ())


# A program of XLA is compiled once for each stream.
_steps_of = functools.cache(choose_steps)

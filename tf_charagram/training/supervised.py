"""The tasks `similarity`, `entailment` and `sentiment`: from labelled texts to a run folder."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.config import SupervisedConfig
from tf_charagram.data.pipeline.example_stream import ExampleStream
from tf_charagram.data.pipeline.stream import gather_ragged
from tf_charagram.models.answering import AnsweringModel, distinct
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.trainers.supervised import SupervisedModel
from tf_charagram.training.building import encoder_for, ids_function, make_vectorizer
from tf_charagram.training.features import cached_vectors
from tf_charagram.training.inputs import data_names, named_sets
from tf_charagram.training.labelled import LabelledRun
from tf_charagram.training.loop import STEPS_PER_EXECUTION
from tf_charagram.training.schedule import step_options
from tf_charagram.training.supervised_tasks import SUPERVISED, SupervisedTask
from tf_charagram.training.transfer import grow_from
from tf_charagram.training.word_vectors import load_pretrained

# Texts that tell the size of the vectors before training.
_NUM_ADAPTED = 1_000


class SupervisedRun(LabelledRun):
    """One training run on labelled texts or pairs of texts; see `LabelledRun`.

    With `freeze`, each distinct text is embedded once, and batches hold the vectors.
    """

    config: SupervisedConfig
    product: AnsweringModel

    def read(self) -> Sequence[Any]:
        """Reads the examples; returns the sets to score on."""
        config = self.config
        self.task: SupervisedTask = SUPERVISED[config.task](config, self.bad_lines)
        names = data_names(config)
        self.examples = [self.task.read(name, "train", name) for name in names]
        sets = [
            self.task.read(place, split, name)
            for name, place, split in named_sets(config.eval_data, names)
        ]
        self.task.begin(self.examples, sets)
        sides = [self.task.sides(one) for one in self.examples]
        self.sides = [list(chain(*side)) for side in zip(*sides, strict=True)]
        return sets

    def build(self) -> AnsweringModel:
        """Builds the model."""
        vectorizer, encoder = self._encoder()
        return self.task.model_class(vectorizer, encoder, self.task.head(encoder.dim))

    def _encoder(self) -> tuple[keras.layers.Layer, keras.layers.Layer]:
        """Returns a vectorizer and its encoder: new, from another run, or that run's, frozen."""
        config = self.config
        if config.freeze:
            embedder = TextEmbedder.load(str(config.init))
            return embedder.vectorizer, embedder.encoder
        vectorizer = make_vectorizer(config, chain(*self.sides))
        if config.init is None:
            encoder = encoder_for(config, vectorizer)
            load_pretrained(config, vectorizer, encoder, self.bad_lines)
            return vectorizer, encoder
        return grow_from(config.init, vectorizer, lambda grown: encoder_for(config, grown))

    def make_stream(self) -> ExampleStream:
        """Returns the batches: ids or vectors of the texts, lefts first, and targets."""
        targets = tf.constant(np.concatenate([self.task.targets(one) for one in self.examples]))
        lengths = None
        if self.config.freeze:
            matrix, places = cached_vectors(self.product.embedder, chain(*self.sides))
            vectors = tf.constant(matrix)
            take = lambda rows: tf.gather(vectors, rows)  # noqa: E731
            self._sample = vectors[:_NUM_ADAPTED]
        else:
            texts, places = distinct(chain(*self.sides))
            ids = ids_function(self.product.vectorizer)(texts)
            take = lambda rows: gather_ragged(ids, rows)  # noqa: E731
            self._sample = ids[:_NUM_ADAPTED]
            if getattr(self.product.encoder, "is_padded", False):
                lengths = ids.row_lengths().numpy()[places].reshape(len(self.sides), -1).max(0)
        rows = tf.constant(places.reshape(len(self.sides), -1))

        def batch(chosen: tf.Tensor) -> tuple[Any, tf.Tensor]:
            wanted = tf.reshape(tf.gather(rows, chosen, axis=1), [-1])
            return take(wanted), tf.gather(targets, chosen)

        return ExampleStream(
            len(self.sides[0]), batch, batch_size=int(self.config.batch_size or 0),
            unit="texts" if len(self.sides) == 1 else "pairs", seed=self.config.seed,
            lengths=lengths,
        )  # fmt: skip

    def make_model(self, optimizer: keras.optimizers.Optimizer) -> SupervisedModel:
        """Returns the compiled model that trains encoder and head, or the head."""
        config = self.config
        encoder = None if config.freeze else self.product.encoder
        model = SupervisedModel(encoder, self.product.head)
        model.compile(
            optimizer,
            class_weights=self.task.class_weights(self.examples),
            l2_head=config.l2_head,
            pull_back=config.pull_back,
            **step_options(config),
            steps_per_execution=STEPS_PER_EXECUTION,
        )
        model.adapt(self._sample)
        return model

    def describe(self) -> str:
        """Says in a line what is trained on."""
        rows = self.product.vectorizer.num_rows
        return f"{len(self.sides[0]):,} {self.stream.unit}, {rows:,} rows"

"""The base of models that score or label texts or pairs of texts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, ClassVar, NamedTuple

import keras
import numpy as np
import tensorflow as tf
from keras.layers import Layer
from numpy.typing import NDArray

from tf_charagram.errors import ConfigError, check_positive
from tf_charagram.models.base import TEXTS, TextModel
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text._algorithm.arguments import distinct
from tf_charagram.text._algorithm.tensors import check_shape


class Classified(NamedTuple):
    """A label and its probability."""

    label: str
    score: float


class AnsweringModel(TextModel):
    """The base of models whose head takes one vector per text.

    Args:
        vectorizer: Keras layer from strings `(batch,)` to ragged ids.
        encoder: Keras layer from ragged ids to float32 `(batch, dim)`.
        head: Keras layer from vectors to answers, a `head_class` of the same `dim`.

    Attributes:
        served_inputs: Input signature of the SavedModel: `TEXTS` or `TEXT_PAIRS`.

    Call arguments:
        texts: Strings `(batch,)`; for pairs, a list of two such tensors.
        training: Whether the encoder is being trained.

    Returns:
        Scores, float32 `(batch,)`, or probabilities, float32 `(batch, num_labels)`.

    Raises:
        ConfigError: The parts do not fit together: the vectorizer has no vocabulary or more ids
            than the encoder has rows, the head is of another class, or its width differs.
    """

    served_inputs: ClassVar[list[tf.TensorSpec]] = TEXTS
    score_title = "accuracy, %"

    def __init__(self, vectorizer: Layer, encoder: Layer, head: Layer, **kwargs: Any) -> None:
        super().__init__(vectorizer, encoder, head, **kwargs)
        if head.dim != encoder.dim:
            raise ConfigError(
                f"`dim` of the head ({head.dim}) does not match the width of the encoder "
                f"({encoder.dim})."
            )
        self.embedder = TextEmbedder(vectorizer, encoder)
        self._answers = tf.function(
            self.answers,
            input_signature=[tf.TensorSpec([None, encoder.dim], tf.float32)],
            autograph=False,
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order of the answers, of a model with a head of labels."""
        return self.head.labels

    @property
    def answer_shape(self) -> tuple[int, ...]:
        """Shape of a single answer, by default `(num_labels,)`."""
        return (len(self.labels),)

    def call(self, texts: Any, training: bool = False) -> tf.Tensor:
        """Returns the answers for texts or pairs."""
        sides = texts if isinstance(texts, list | tuple) else [texts]
        return self.answers(self.embedder.call(tf.concat(sides, axis=0), training))

    def compute_output_spec(self, texts: Any, **kwargs: Any) -> keras.KerasTensor:
        """Returns symbolic answers."""
        del kwargs
        sides = texts if isinstance(texts, list | tuple) else [texts]
        for side in sides:
            check_shape(side)
        return keras.KerasTensor((sides[0].shape[0], *self.answer_shape), "float32")

    def answers(self, vectors: tf.Tensor) -> tf.Tensor:
        """Returns the answers for vectors, float32, one row per text or pair.

        By default, these are probabilities of the labels of the head.
        """
        return tf.nn.softmax(self.head(vectors))

    def outputs(self, answers: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns the outputs of the SavedModel, by name.

        By default, `label`, strings `(n,)`, and `scores`, float32 `(n, num_labels)`.
        """
        best = tf.argmax(answers, axis=1)
        labels = tf.constant(list(self.labels))
        return {"label": tf.gather(labels, best), "scores": answers}

    def answers_to(self, *sides: Sequence[str | bytes], batch_size: int) -> NDArray[np.float32]:
        """Returns the answers for texts or pairs; encodes each distinct text once.

        Args:
            *sides: Texts; or left texts and right texts.
            batch_size: Texts or pairs per batch.

        Raises:
            ConfigError: `batch_size` is not a positive integer.
        """
        check_positive(batch_size=batch_size)
        texts, row_indices = distinct(chain(*sides))
        vectors = self.embedder.encode(texts, batch_size=batch_size)
        rows = row_indices.reshape(len(sides), -1)
        # An empty list is one empty batch.
        num_examples = max(rows.shape[1], 1)
        answers = []
        for start in range(0, num_examples, batch_size):
            batch_rows = rows[:, start : start + batch_size]
            # The head expects all lefts, then all rights.
            batch_vectors = vectors[batch_rows.ravel()]
            answers.append(self._answers(batch_vectors))
        return np.concatenate(answers)

    def signatures(self) -> dict[str, Any]:
        """Returns the signatures of the SavedModel.

        * `serving_default`: from `texts`, or `texts_a` and `texts_b`, to `outputs`
        * `read_as`: the texts with misspelled words corrected, if the model has a dictionary
        """
        embed = self.embedder.served_call()

        @tf.function(input_signature=self.served_inputs, autograph=False)
        def answer(*sides: tf.Tensor) -> dict[str, tf.Tensor]:
            tf.debugging.assert_equal(
                tf.size(sides[0]), tf.size(sides[-1]), "`texts_a` and `texts_b` differ in length."
            )
            # One forward pass over both sides.
            vectors = embed(tf.concat(sides, axis=0))
            return self.outputs(self.answers(vectors))

        return {"serving_default": answer, **self.reading_signature()}


def most_probable(labels: Sequence[str], probabilities: NDArray[np.float32]) -> list[Classified]:
    """Returns the most probable label of each row of `(num_examples, num_labels)`."""
    best = np.argmax(probabilities, axis=1)
    found = []
    for row, index in zip(probabilities, best, strict=True):
        found.append(Classified(labels[index], float(row[index])))
    return found

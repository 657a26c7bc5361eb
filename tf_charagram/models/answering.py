"""What models that answer about texts, or pairs of texts, have in common."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple, Self, TypeVar

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from tf_charagram.errors import ConfigError
from tf_charagram.models.base import HeadedModel
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.serialization.prefix_sums import fold

T = TypeVar("T", bound=Hashable)

_TEXTS = tf.TensorSpec([None], tf.string, name="texts")
_TEXTS_A = tf.TensorSpec([None], tf.string, name="texts_a")
_TEXTS_B = tf.TensorSpec([None], tf.string, name="texts_b")


class Classified(NamedTuple):
    """The label of a text or of a pair, and its probability."""

    label: str
    score: float


class AnsweringModel(HeadedModel):
    """Base of the models whose head sees one vector for each text.

    Args:
        vectorizer: Keras layer from strings `(batch,)` to ragged ids.
        encoder: Keras layer from ragged ids to float32 `(batch, dim)`.
        head: Keras layer from vectors to logits.
    """

    def __init__(
        self,
        vectorizer: keras.layers.Layer,
        encoder: keras.layers.Layer,
        head: keras.layers.Layer,
        **kwargs: Any,
    ) -> None:
        super().__init__(vectorizer, encoder, head, **kwargs)
        self.embedder = TextEmbedder(vectorizer, encoder)
        self._answers = tf.function(
            self.answers, input_signature=[tf.TensorSpec([None, encoder.dim], tf.float32)]
        )

    def answers(self, vectors: tf.Tensor) -> tf.Tensor:
        """Returns the answers about vectors, float32 with a row for each text or pair."""
        return tf.nn.softmax(self.head(vectors))

    def answers_to(self, *sides: Sequence[str | bytes], batch_size: int) -> NDArray[np.float32]:
        """Returns the answers about texts, or about pairs; each distinct text is encoded once.

        Args:
            *sides: The texts; or the left ones and the right ones, equally many.
            batch_size: Texts encoded at a time, and answers computed at a time.

        Raises:
            ConfigError: `batch_size` is below 1.
        """
        texts, places = distinct(chain(*sides))
        vectors = self.embedder.encode(texts, batch_size=batch_size)
        rows = places.reshape(len(sides), -1)
        answers = []
        # No texts are one batch of none.
        for start in range(0, max(rows.shape[1], 1), batch_size):
            batch = rows[:, start : start + batch_size].ravel()
            answers.append(self._answers(vectors[batch]).numpy())
        return np.concatenate(answers)

    def as_served(self) -> Self:
        """Returns the same function with folded n-grams, see `serialization.prefix_sums`."""
        return type(self)(*fold(self.vectorizer, self.encoder), self.head)

    def text_function(self, name_answers: Any) -> tf.types.experimental.PolymorphicFunction:
        """Returns the signature of a model of texts.

        Args:
            name_answers: Function from `answers` to a dictionary of outputs.
        """

        @tf.function(input_signature=[_TEXTS])
        def answer(texts: tf.Tensor) -> dict[str, tf.Tensor]:
            return name_answers(self.answers(self.embedder.call(texts)))

        return answer

    def pair_function(self, name_answers: Any) -> tf.types.experimental.PolymorphicFunction:
        """Returns the signature of a model of pairs; arguments as `text_function`."""

        @tf.function(input_signature=[_TEXTS_A, _TEXTS_B])
        def answer(texts_a: tf.Tensor, texts_b: tf.Tensor) -> dict[str, tf.Tensor]:
            tf.debugging.assert_equal(
                tf.size(texts_a), tf.size(texts_b), "`texts_a` and `texts_b` differ in length."
            )
            vectors = self.embedder.call(tf.concat([texts_a, texts_b], axis=0))
            return name_answers(self.answers(vectors))

        return answer


def distinct(texts: Iterable[T]) -> tuple[list[T], NDArray[np.int64]]:
    """Returns each text once, in the order of first occurrence, and the place of every text.

    Example:
        >>> known, places = distinct(["a", "b", "a"])
        >>> known, places.tolist()
        (['a', 'b'], [0, 1, 0])
    """
    known: dict[T, int] = {}
    places = [known.setdefault(text, len(known)) for text in texts]
    return list(known), np.array(places, np.int64)


def checked_texts(name: str, texts: Sequence[str | bytes]) -> list[str | bytes]:
    """Returns texts as a list.

    Raises:
        ConfigError: They are a single string.
    """
    if isinstance(texts, str | bytes):
        raise ConfigError(f"`{name}` must be a list of texts. Received a single string.")
    return list(texts)


def checked_pairs(
    left: Sequence[str | bytes], right: Sequence[str | bytes]
) -> tuple[list[str | bytes], list[str | bytes]]:
    """Returns both sides of pairs as lists.

    Raises:
        ConfigError: One is a single string, or they differ in length.
    """
    left, right = checked_texts("left", left), checked_texts("right", right)
    if len(left) != len(right):
        raise ConfigError(
            f"Number of left texts ({len(left)}) does not match number of right texts "
            f"({len(right)})."
        )
    return left, right


def classified(labels: Sequence[str], probabilities: np.ndarray) -> list[Classified]:
    """Returns the most probable label of each row, the first of equally probable ones.

    Args:
        labels: Of the columns.
        probabilities: `(n, num_labels)`.
    """
    best = np.argmax(probabilities, axis=1)
    return [
        Classified(labels[i], float(row[i])) for i, row in zip(best, probabilities, strict=True)
    ]


def label_outputs(labels: Sequence[str], probabilities: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns what a served model answers: `label`, strings `(n,)`, and `scores`.

    Args:
        labels: Of the columns.
        probabilities: float32 `(n, num_labels)`, which become `scores`.
    """
    best = tf.argmax(probabilities, axis=1)
    return {"label": tf.gather(tf.constant(list(labels)), best), "scores": probabilities}

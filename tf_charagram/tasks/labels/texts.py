"""Models of single texts: a label, such as whether a review is positive."""

from __future__ import annotations

from collections.abc import Sequence

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from tf_charagram.losses import cross_entropy
from tf_charagram.models.answering import Classified, LabellingModel
from tf_charagram.tasks.labels.heads import LabelHead
from tf_charagram.text.tensors import texts_of


@keras.saving.register_keras_serializable(package="tf_charagram")
class TextHead(LabelHead):
    """Computes logits for vectors: Wp sigmoid(W h + b) + bp, one per label (Universal, 4.4).

    Args:
        dim: Width of the vectors.
        labels: The labels, at least 2, all different.
        **kwargs: `hidden_dim`, `seed`, name and dtype of the layer.

    Call arguments:
        vectors: float32 `(batch, dim)`.

    Returns:
        float32 `(batch, num_labels)`.
    """

    feature_names = ("vector",)
    loss = staticmethod(cross_entropy)

    def compute_output_shape(self, vectors_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
        """Returns the shape of the logits, which `keras.layers.TimeDistributed` asks for."""
        return (*vectors_shape[:-1], len(self.labels))

    def features(self, vectors: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """Returns the vectors themselves."""
        return (vectors,)


@keras.saving.register_keras_serializable(package="tf_charagram")
class TextClassifier(LabellingModel):
    """Labels texts, for example by sentiment: a vectorizer, an encoder and a head.

    Args:
        vectorizer: Keras layer from strings `(batch,)` to ragged ids.
        encoder: Keras layer from ragged ids to float32 `(batch, dim)`.
        head: A `TextHead` for vectors of width `dim`.

    Example:
        >>> from tf_charagram.encoders.charagram import Charagram
        >>> from tf_charagram.text.vectorizer import NgramVectorizer
        >>> vectorizer = NgramVectorizer.from_texts(["good", "bad"])
        >>> encoder = Charagram(num_rows=vectorizer.num_rows, dim=8)
        >>> head = TextHead(dim=8, labels=["negative", "positive"])
        >>> len(TextClassifier(vectorizer, encoder, head).classify(["good", "too bad", ""]))
        3
    """

    kind = "text_classifier"
    purpose = "Labels texts"
    score_title = "accuracy, %"
    head_class = TextHead

    def probabilities(self, texts: Sequence[str], *, batch_size: int = 1000) -> NDArray[np.float32]:
        """Returns the probability of each label, float32 `(num_texts, num_labels)`.

        Args:
            texts: Any texts, also empty texts and broken UTF-8.
            batch_size: Texts encoded at a time.

        Raises:
            ConfigError: `texts` is a single string or contains something else than strings, or
                `batch_size` is not an integer above 0.
        """
        return self.answers_to(list(texts_of(texts, "texts")), batch_size=batch_size)

    def classify(self, texts: Sequence[str], *, batch_size: int = 1000) -> list[Classified]:
        """Returns the most probable label of each text, with its probability.

        Args:
            texts: Any texts.
            batch_size: Texts encoded at a time.
        """
        return self.most_probable(self.probabilities(texts, batch_size=batch_size))

"""Models of pairs of texts, their heads, and the loss of relatedness (Tai et al. 2015)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from tf_charagram.errors import ConfigError, check_integers
from tf_charagram.losses import cross_entropy
from tf_charagram.models.answering import AnsweringModel, Classified, LabellingModel
from tf_charagram.models.base import TEXT_PAIRS
from tf_charagram.tasks.labels.heads import LabelHead, SigmoidHead
from tf_charagram.text.tensors import paired_texts


class PairHead(SigmoidHead):
    """Computes logits for pairs of vectors: Wp hs + bp, with hs = sigmoid(W* h* + W+ h+ + b).

    h* = left * right and h+ = |left - right| do not depend on the order of the two vectors (Tai et
    al. 2015; Universal, section 4.4).

    Args:
        dim: Width of the vectors.
        num_outputs: Number of logits, at least 2.
        hidden_dim: Width of hs.
        seed: Seed of the initial weights.
        **kwargs: Name and dtype of the layer.

    Call arguments:
        vectors: The vectors of B pairs, lefts first, then rights, float32 `(2B, dim)`.

    Returns:
        float32 `(B, num_outputs)`.

    Raises:
        ConfigError: An argument is out of range.
    """

    feature_names = ("product", "distance")

    def features(self, vectors: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """Returns h* and h+, float32 `(B, dim)` each."""
        left, right = tf.split(vectors, 2)
        return left * right, tf.abs(left - right)


@keras.saving.register_keras_serializable(package="tf_charagram")
class PairScoreHead(PairHead):
    """A `PairHead` for scores from 1 to K: one logit per whole score.

    Args:
        dim: Width of the vectors.
        num_classes: K, at least 2.
        **kwargs: `hidden_dim`, `seed`, name and dtype of the layer.

    Raises:
        ConfigError: An argument is out of range.
    """

    def __init__(self, *, dim: int, num_classes: int = 5, **kwargs: Any) -> None:
        check_integers(num_classes=num_classes)
        if num_classes < 2:
            raise ConfigError(
                f"`num_classes` must be at least 2. Received: num_classes={num_classes}"
            )
        super().__init__(dim=dim, num_outputs=num_classes, **kwargs)
        self.num_classes = num_classes

    def loss(self, logits: tf.Tensor, targets: tf.Tensor, class_weights: None) -> tf.Tensor:
        """Computes the divergence of the logits from the scores, float32 `(B,)`."""
        del class_weights
        return relatedness_loss(logits, spread_scores(targets, self.num_classes))


@keras.saving.register_keras_serializable(package="tf_charagram")
class PairLabelHead(LabelHead, PairHead):
    """A `PairHead` for labels: one logit per label.

    Args:
        dim: Width of the vectors.
        labels: The labels, at least 2, all different.
        **kwargs: `hidden_dim`, `seed`, name and dtype of the layer.
    """

    loss = staticmethod(cross_entropy)


@keras.saving.register_keras_serializable(package="tf_charagram")
class PairScorer(AnsweringModel):
    """Scores how related two texts are, from 1 to K: a vectorizer, an encoder and a head.

    Args:
        vectorizer: Keras layer from strings `(batch,)` to ragged ids.
        encoder: Keras layer from ragged ids to float32 `(batch, dim)`.
        head: A `PairScoreHead` for vectors of width `dim`.

    Example:
        >>> from tf_charagram.encoders.charagram import Charagram
        >>> from tf_charagram.text.vectorizer import NgramVectorizer
        >>> vectorizer = NgramVectorizer.from_texts(["a cat", "a dog"])
        >>> encoder = Charagram(num_rows=vectorizer.num_rows, dim=8)
        >>> scorer = PairScorer(vectorizer, encoder, PairScoreHead(dim=8, num_classes=5))
        >>> scorer.score(["a cat", "a dog"], ["some cats", "a man"]).shape
        (2,)
    """

    kind = "pair_scorer"
    purpose = "Scores how related two texts are"
    score_title = "Pearson's r x 100"
    head_class = PairScoreHead
    served_inputs = TEXT_PAIRS

    @property
    def answer_shape(self) -> tuple[int, ...]:
        """The shape of a scalar."""
        return ()

    def answers(self, vectors: tf.Tensor) -> tf.Tensor:
        """Returns the scores of pairs, float32 `(B,)`, from their vectors, lefts first."""
        return expected_score(self.head(vectors))

    def outputs(self, answers: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns `score`, float32 `(n,)`."""
        return {"score": answers}

    def score(
        self, left: Sequence[str], right: Sequence[str], *, batch_size: int = 1000
    ) -> NDArray[np.float32]:
        """Returns the scores of corresponding texts, float32 `(num_pairs,)`, from 1 to K.

        Args:
            left: Any texts, also empty texts and broken UTF-8.
            right: As many texts.
            batch_size: Texts encoded at a time.

        Raises:
            ConfigError: The lists differ in length, one of them is a single string or contains
                something else than strings, or `batch_size` is not an integer above 0.
        """
        return self.answers_to(*paired_texts(left, right), batch_size=batch_size)


@keras.saving.register_keras_serializable(package="tf_charagram")
class PairClassifier(LabellingModel):
    """Labels pairs of texts, for example as entailment: a vectorizer, an encoder and a head.

    Args:
        vectorizer: Keras layer from strings `(batch,)` to ragged ids.
        encoder: Keras layer from ragged ids to float32 `(batch, dim)`.
        head: A `PairLabelHead` for vectors of width `dim`.
    """

    kind = "pair_classifier"
    purpose = "Labels pairs of texts"
    score_title = "accuracy, %"
    head_class = PairLabelHead
    served_inputs = TEXT_PAIRS

    def probabilities(
        self, left: Sequence[str], right: Sequence[str], *, batch_size: int = 1000
    ) -> NDArray[np.float32]:
        """Returns the probability of each label, float32 `(num_pairs, num_labels)`.

        Args:
            left: Any texts, such as premises.
            right: As many texts, such as hypotheses.
            batch_size: Texts encoded at a time.

        Raises:
            ConfigError: The lists differ in length, one of them is a single string or contains
                something else than strings, or `batch_size` is not an integer above 0.
        """
        return self.answers_to(*paired_texts(left, right), batch_size=batch_size)

    def classify(
        self, left: Sequence[str], right: Sequence[str], *, batch_size: int = 1000
    ) -> list[Classified]:
        """Returns the most probable label of each pair, with its probability.

        Args:
            left: Any texts, such as premises.
            right: As many texts, such as hypotheses.
            batch_size: Texts encoded at a time.
        """
        return self.most_probable(self.probabilities(left, right, batch_size=batch_size))


def spread_scores(scores: Any, num_classes: int) -> tf.Tensor:
    """Spreads each score over its two neighbouring integers, so that their mean is the score.

    Universal, section 4.4: `p_i = y - floor(y)` at `i = floor(y) + 1`, `floor(y) - y + 1` at
    `i = floor(y)`, else 0; which is `max(0, 1 - |y - i|)`.

    Args:
        scores: y, numbers in 1..K, `(batch,)`.
        num_classes: K.

    Returns:
        float32 `(batch, K)`; each row adds up to 1.

    Example:
        >>> spread_scores([3.25, 5.0], 5).numpy().tolist()
        [[0.0, 0.0, 0.75, 0.25, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0]]
    """
    scores = tf.cast(tf.convert_to_tensor(scores), tf.float32)
    return tf.nn.relu(1.0 - tf.abs(scores[:, tf.newaxis] - _classes(num_classes)))


def relatedness_loss(logits: tf.Tensor, targets: tf.Tensor) -> tf.Tensor:
    """Computes the mean over the pairs of `KL(target || softmax(logits))`, with `0 log 0 = 0`.

    Args:
        logits: float32 `(batch, K)`.
        targets: float32 `(batch, K)`, each row a distribution.

    Returns:
        Scalar; 0 for an empty batch.

    Example:
        The score 1.5 is `(0.5, 0.5)`. Logits `(log 3, 0)` are `(0.75, 0.25)`, and the loss
        `0.5 log(0.5 / 0.75) + 0.5 log(0.5 / 0.25) = -0.2027 + 0.3466 = 0.1438`.

        >>> loss = relatedness_loss(tf.math.log([[3.0, 1.0]]), spread_scores([1.5], 2))
        >>> round(float(loss), 4)
        0.1438
    """
    # Terms of the divergence, over which the last line sums; `xlogy(0, 0)` is 0.
    divergences = tf.math.xlogy(targets, targets) - targets * tf.nn.log_softmax(logits)
    num_pairs = tf.maximum(tf.shape(logits)[0], 1)
    return tf.reduce_sum(divergences) / tf.cast(num_pairs, divergences.dtype)


def expected_score(logits: tf.Tensor) -> tf.Tensor:
    """Computes the predicted score, `[1..K] . softmax(logits)`, float32 `(batch,)` in 1..K.

    Args:
        logits: float32 `(batch, K)`.

    Example:
        >>> expected_score(tf.constant([[0.0, 0.0, 0.0]])).numpy().tolist()
        [2.0]
    """
    return tf.reduce_sum(tf.nn.softmax(logits) * _classes(logits.shape[-1]), axis=1)


def _classes(num_classes: int) -> tf.Tensor:
    return tf.range(1.0, num_classes + 1.0)

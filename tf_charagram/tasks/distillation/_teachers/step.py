"""Training steps of a student: the losses against its teacher, and the margin loss of pairs."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_charagram.losses.cosine import normalize_rows, paired_cosine
from tf_charagram.losses.margin import margin_loss
from tf_charagram.losses.negatives import NegativeSampler
from tf_charagram.training.step_model import StepModel

# Below this, cosines vary by rounding only: they differ by 1e-6.
_MIN_SQUARES = 1e-12


class DistillModel(StepModel):
    """Trains an encoder to produce the vectors of a teacher.

    `fit` takes the batches of a `DistillStream`. The loss is the cosine distance of each line to
    its vector, plus a weighted sum: the divergence of the similarities in the batch, the
    correlation of the cosines of neighboring lines, and the margin loss of the pairs. One forward
    pass over all texts serves all of them.

    Args:
        encoder: Keras layer from ragged ids to `(batch, dim)`.
    """

    def __init__(self, encoder: keras.layers.Layer, **kwargs: Any) -> None:
        super().__init__([encoder], **kwargs)
        self.encoder = encoder

    def compile(
        self,
        optimizer: keras.optimizers.Optimizer,
        *,
        similarity_weight: float = 0.3,
        temperature: float = 0.07,
        neighbors_weight: float = 0.0,
        pairs_weight: float = 1.0,
        margin: float = 0.4,
        negatives: NegativeSampler | None = None,
        **kwargs: Any,
    ) -> None:
        """Configures training.

        Args:
            optimizer: For row-sparse updates, one of `tf_charagram.optimizers`.
            similarity_weight: Weight of `similarity_loss`.
            temperature: Temperature of `similarity_loss`.
            neighbors_weight: Weight of `correlation_loss`.
            pairs_weight: Weight of `margin_loss`.
            margin: m of `margin_loss`.
            negatives: Chooses the negatives of pairs. Default: the most similar texts.
            **kwargs: Penalties, clipping and other options of `StepModel.compile`.

        Raises:
            ConfigError: An argument is out of range.
        """
        super().compile(optimizer, **kwargs)
        self.similarity_weight = similarity_weight
        self.temperature = temperature
        self.neighbors_weight = neighbors_weight
        self.pairs_weight = pairs_weight
        self.margin = margin
        self.negatives = negatives or NegativeSampler("max")

    def loss_of(self, *batch: Any, training: bool) -> tf.Tensor:
        """Returns the loss of a batch of a `DistillStream`, without penalties."""
        ids, vectors, neighbors, cosines, keys = batch
        embeddings = self.vectors_of(ids, training)
        num_lines = tf.shape(vectors)[0]
        lines = embeddings[:num_lines]
        pairs = embeddings[num_lines:]
        loss = cosine_loss(lines, vectors)
        # The weights are Python numbers: a loss with the weight 0 is not in the graph.
        if self.similarity_weight:
            loss += self.similarity_weight * similarity_loss(lines, vectors, self.temperature)
        if self.neighbors_weight:
            loss += self.neighbors_weight * correlation_loss(lines, cosines, neighbors)
        if self.pairs_weight:
            normalized = normalize_rows(tf.stop_gradient(pairs))
            chosen, exists = self.negatives(normalized, keys, self.step)
            loss += self.pairs_weight * margin_loss(pairs, chosen, exists, self.margin)
        return loss


def cosine_loss(student: tf.Tensor, teacher: tf.Tensor) -> tf.Tensor:
    """Computes the mean of `1 - cosine` of corresponding vectors, float32 `(batch, dim)` each.

    Returns:
        Scalar in `[0, 2]`; 0 for an empty batch. A zero vector has cosine 0.
    """
    return _mean(1.0 - paired_cosine(student, teacher))


def similarity_loss(student: tf.Tensor, teacher: tf.Tensor, temperature: float) -> tf.Tensor:
    """Computes the divergence of the student's similarities in a batch from the teacher's.

    Row i of the targets is the softmax of the cosines of teacher vector i with all teacher vectors,
    divided by the temperature. Row i of the predictions is the same with student vector i in place
    of teacher vector i. The loss is the mean Kullback-Leibler divergence of the rows.

    Args:
        student: float32 `(batch, dim)`.
        teacher: float32 `(batch, dim)`.
        temperature: The smaller it is, the more the nearest vectors count.

    Returns:
        Scalar, at least 0 up to rounding; 0 for an empty batch.
    """
    teacher = normalize_rows(teacher)
    targets = tf.matmul(teacher, teacher, transpose_b=True) / temperature
    logits = tf.matmul(normalize_rows(student), teacher, transpose_b=True) / temperature
    # KL(p || q) = sum p (log p - log q)
    log_ratios = tf.nn.log_softmax(targets) - tf.nn.log_softmax(logits)
    divergences = tf.reduce_sum(tf.nn.softmax(targets) * log_ratios, axis=1)
    return _mean(divergences)


def correlation_loss(student: tf.Tensor, cosines: tf.Tensor, pairs: tf.Tensor) -> tf.Tensor:
    """Computes 1 minus the Pearson correlation of the student's and the teacher's cosines.

    Args:
        student: float32 `(batch, dim)`.
        cosines: Cosines of the teacher, float32 `(num_pairs,)`.
        pairs: The two rows of each pair, int32 `(num_pairs, 2)`.

    Returns:
        Scalar in `[0, 2]`; 1, without a gradient, if either side is constant.
    """
    left = tf.gather(student, pairs[:, 0])
    right = tf.gather(student, pairs[:, 1])
    student_cosines = paired_cosine(left, right)
    found = student_cosines - _mean(student_cosines)
    expected = cosines - _mean(cosines)
    found_squares = tf.reduce_sum(tf.square(found))
    expected_squares = tf.reduce_sum(tf.square(expected))
    vary = tf.minimum(found_squares, expected_squares) > _MIN_SQUARES
    # The square root of 1 instead of 0, whose gradient would be infinite, even where it is unused.
    length = tf.sqrt(tf.where(vary, found_squares * expected_squares, 1.0))
    correlation = tf.reduce_sum(found * expected) / length
    return 1.0 - tf.where(vary, correlation, 0.0)


def _mean(values: tf.Tensor) -> tf.Tensor:
    """Computes the mean; 0 of nothing, where `tf.reduce_mean` gives NaN."""
    return tf.math.divide_no_nan(tf.reduce_sum(values), tf.cast(tf.size(values), values.dtype))

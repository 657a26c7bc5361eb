"""What a student loses where its vectors are not those of its teacher."""

from __future__ import annotations

import tensorflow as tf

from tf_charagram.losses.similarity import normalize_rows, paired_cosine

# Less is rounding: cosines that differ by 1e-6.
_LEAST_SQUARES = 1e-12


def cosine_loss(student: tf.Tensor, teacher: tf.Tensor) -> tf.Tensor:
    """Computes the mean of `1 - cosine` of corresponding vectors.

    Args:
        student: float32 `(batch, dim)`; a zero vector has cosine 0.
        teacher: float32 `(batch, dim)`.

    Returns:
        Scalar in `[0, 2]`; 0 for an empty batch.
    """
    cosines = paired_cosine(student, teacher)
    return _mean(1.0 - cosines)


def similarity_loss(student: tf.Tensor, teacher: tf.Tensor, temperature: float) -> tf.Tensor:
    """Computes how far the similarities of a batch are from those that the teacher finds.

    Row i of the targets is the softmax of the cosines of teacher vector i with all teacher vectors,
    divided by the temperature; row i of the predictions is the same with student vector i in the
    place of teacher vector i. The loss is the mean cross-entropy of the rows, less the entropy of
    the targets, so that it is 0 where both agree (the Kullback-Leibler divergence).

    Args:
        student: float32 `(batch, dim)`.
        teacher: float32 `(batch, dim)`.
        temperature: The smaller it is, the more the nearest vectors count.

    Returns:
        Scalar, at least 0 but for rounding; 0 for an empty batch.
    """
    teacher = normalize_rows(teacher)
    targets = tf.matmul(teacher, teacher, transpose_b=True) / temperature
    logits = tf.matmul(normalize_rows(student), teacher, transpose_b=True) / temperature
    probabilities = tf.nn.softmax(targets)
    divergences = tf.reduce_sum(
        probabilities * (tf.nn.log_softmax(targets) - tf.nn.log_softmax(logits)), axis=1
    )
    return _mean(divergences)


def correlation_loss(student: tf.Tensor, cosines: tf.Tensor, pairs: tf.Tensor) -> tf.Tensor:
    """Computes how far the cosines of some pairs are from a line through those of the teacher.

    Args:
        student: float32 `(batch, dim)`.
        cosines: Those of the teacher, float32 `(num_pairs,)`.
        pairs: The two rows of each pair, int32 `(num_pairs, 2)`.

    Returns:
        1 less the Pearson correlation of student's and teacher's cosines, a scalar in `[0, 2]`; 1,
        without a gradient, where one of them does not vary.
    """
    found = paired_cosine(tf.gather(student, pairs[:, 0]), tf.gather(student, pairs[:, 1]))
    found, expected = found - _mean(found), cosines - _mean(cosines)
    squares = [tf.reduce_sum(tf.square(values)) for values in (found, expected)]
    vary = tf.minimum(*squares) > _LEAST_SQUARES
    length = tf.sqrt(tf.where(vary, squares[0] * squares[1], 1.0))
    return 1.0 - tf.where(vary, tf.reduce_sum(found * expected) / length, 0.0)


def _mean(values: tf.Tensor) -> tf.Tensor:
    return tf.math.divide_no_nan(tf.reduce_sum(values), tf.cast(tf.size(values), values.dtype))

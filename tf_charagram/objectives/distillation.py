"""What a student loses where its vectors are not those of its teacher."""

from __future__ import annotations

import tensorflow as tf

from tf_charagram.objectives.similarity import normalize_rows, paired_cosine


def cosine_loss(student: tf.Tensor, teacher: tf.Tensor) -> tf.Tensor:
    """Computes the mean of `1 - cosine` of corresponding vectors.

    Args:
        student: float32 `(batch, dim)`; a zero vector has cosine 0.
        teacher: float32 `(batch, dim)`.

    Returns:
        Scalar in `[0, 2]`; 0 for an empty batch.
    """
    cosines = paired_cosine(student, teacher)
    return tf.math.divide_no_nan(
        tf.reduce_sum(1.0 - cosines), tf.cast(tf.size(cosines), cosines.dtype)
    )


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
    return tf.math.divide_no_nan(
        tf.reduce_sum(divergences), tf.cast(tf.size(divergences), divergences.dtype)
    )

"""Negatives chosen inside a batch, on the device (Charagram, appendix A.1)."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tf_charagram.errors import check_integers, check_name, check_switches

# Bits of the mantissa of a float32, and the bits of 1.
_MANTISSA, _ONE = np.uint32(0x7FFFFF), np.uint32(0x3F800000)

STRATEGIES = ("max", "mix", "random")


class NegativeSampler:
    """Chooses a negative for each of the 2B texts of B pairs.

    Texts are ordered lefts first, then rights. The candidates of a text are both sides of every
    other pair. `max` takes the most similar candidate and `random` any of them with equal
    probability. `mix` tosses a coin between the two, independently for each text.

    Args:
        strategy: `"max"`, `"mix"` or `"random"`.
        mask_duplicates: Also exclude candidates whose text equals one side of the pair, because
            paraphrase lists repeat words. `False` is the papers' behaviour.
        seed: Seed of the samples. The same seed and step give the same samples.

    Raises:
        ConfigError: The strategy is unknown.
    """

    def __init__(
        self, strategy: str = "max", *, mask_duplicates: bool = True, seed: int = 0
    ) -> None:
        check_name("negatives", strategy, STRATEGIES)
        check_switches(mask_duplicates=mask_duplicates)
        check_integers(seed=seed)
        self.strategy = strategy
        self.mask_duplicates = mask_duplicates
        self.seed = seed

    def __call__(
        self, normalized: tf.Tensor, text_ids: tf.Tensor, step: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Chooses the negatives. No gradient flows through the choice.

        Args:
            normalized: Embeddings of unit length (or zero), float `(2B, dim)`.
            text_ids: Equal for equal texts, int64 `(2B,)`.
            step: Number of the step, which seeds the samples, integer scalar.

        Returns:
            Index of each text's negative, int64 `(2B,)`, and whether it has one, bool `(2B,)`.
            The index is 0 for a text without a negative.
        """
        allowed = candidate_mask(text_ids, mask_duplicates=self.mask_duplicates)
        exists = tf.reduce_any(allowed, axis=1)
        if self.strategy == "random":
            chosen = self._sample(allowed, step)
        else:
            vectors = tf.stop_gradient(normalized)
            cosines = tf.matmul(vectors, vectors, transpose_b=True)
            # Below all cosines.
            lowest = tf.constant(-2.0, cosines.dtype)
            chosen = _argmax(tf.where(allowed, cosines, lowest))
            if self.strategy == "mix":
                coins = self._uniform(tf.shape(exists), step, 1)
                sampled = self._sample(allowed, step)
                chosen = tf.where(coins < 0.5, chosen, sampled)
        chosen = tf.where(exists, chosen, 0)
        return chosen, exists

    def _sample(self, allowed: tf.Tensor, step: tf.Tensor) -> tf.Tensor:
        """Samples one allowed candidate per row with equal probability."""
        noise = self._uniform(tf.shape(allowed), step, 2)
        return _argmax(tf.where(allowed, noise, -1.0))

    def _uniform(self, shape: tf.Tensor, step: tf.Tensor, purpose: int) -> tf.Tensor:
        """Draws numbers from [0, 1), the same on every device."""
        stream = tf.constant(self.seed * 4 + purpose, tf.int64)
        seed = tf.stack([stream, tf.cast(step, tf.int64)])
        return _uniform(shape, seed)


def _uniform(shape: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    """Draws numbers from [0, 1), the same on a CPU and compiled by XLA.

    On a CPU they are those of `tf.random.stateless_uniform`. XLA makes numbers of other bits.

    Args:
        shape: Of the result.
        seed: int64 `(2,)`.

    Returns:
        float32.
    """
    bits = tf.random.stateless_uniform(
        shape, seed, minval=None, maxval=None, dtype=tf.uint32, alg="philox"
    )
    # A random mantissa after the exponent of 1 gives numbers in [1, 2).
    mantissa = tf.bitwise.bitwise_and(bits, _MANTISSA)
    number_bits = tf.bitwise.bitwise_or(mantissa, _ONE)
    return tf.bitcast(number_bits, tf.float32) - 1.0


def candidate_mask(text_ids: tf.Tensor, *, mask_duplicates: bool = True) -> tf.Tensor:
    """Returns a mask of allowed negatives, bool `(2B, 2B)`.

    Args:
        text_ids: Equal for equal texts, lefts first, then rights, int64 `(2B,)`.
        mask_duplicates: Whether to exclude texts that equal one side of the pair.
    """
    # In int64, because int32 is compared in host memory even if there is a GPU.
    num_pairs = tf.shape(text_ids, tf.int64)[0] // 2
    if mask_duplicates:
        texts = tf.cast(text_ids, tf.int64)
        lefts = texts[:num_pairs, tf.newaxis]
        rights = texts[num_pairs:, tf.newaxis]
        # This also excludes the sides of the pair itself.
        allowed = tf.logical_and(lefts != texts, rights != texts)
    else:
        pairs = tf.range(num_pairs)
        allowed = pairs[:, tf.newaxis] != tf.tile(pairs, [2])
    # Both sides of a pair have the same candidates.
    return tf.tile(allowed, [2, 1])


def _argmax(values: tf.Tensor) -> tf.Tensor:
    """Returns the column of the largest number of each row, int64 `(n,)`."""
    # A replica may get no pair of a small batch, and TensorFlow rejects rows without columns even
    # if there are no rows.
    shape = tf.maximum(tf.shape(values), [0, 1])
    return tf.argmax(tf.reshape(values, shape), axis=1)

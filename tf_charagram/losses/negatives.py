"""Negatives chosen inside a batch, on the device (Charagram, appendix A.1)."""

from __future__ import annotations

import tensorflow as tf

from tf_charagram.errors import (
    ConfigError,
    check_integers,
    check_positive,
    check_switches,
    unknown_name,
)
from tf_charagram.optimizers.exchange import ALONE, Exchange

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
        num_groups: Number of groups of consecutive pairs in a batch. Candidates come from the
            group of the text.
        seed: Seed of the samples. The same seed and step give the same samples.
        exchange: The workers that choose negatives in the same batch, each for its share of pairs.

    Raises:
        ConfigError: The strategy is unknown, or `num_groups` is below 1.
    """

    def __init__(
        self,
        strategy: str = "max",
        *,
        mask_duplicates: bool = True,
        num_groups: int = 1,
        seed: int = 0,
        exchange: Exchange = ALONE,
    ) -> None:
        if strategy not in STRATEGIES:
            raise ConfigError(unknown_name("negatives", strategy, STRATEGIES))
        check_switches(mask_duplicates=mask_duplicates)
        check_integers(seed=seed)
        check_positive(num_groups=num_groups)
        self.strategy = strategy
        self.mask_duplicates = mask_duplicates
        self.num_groups = num_groups
        self.seed = seed
        self.exchange = exchange

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
        if self.exchange.is_alone:
            chosen = self._choose(normalized, normalized, self._candidates(text_ids), step)
        else:
            chosen = self._choose_share(normalized, text_ids, step)
        return tf.maximum(chosen, 0), chosen >= 0

    def _choose_share(
        self, normalized: tf.Tensor, text_ids: tf.Tensor, step: tf.Tensor
    ) -> tf.Tensor:
        """Chooses for this worker's share of the pairs, and collects the choices of the others."""
        num_pairs = tf.shape(text_ids, tf.int64)[0] // 2
        first, last = self.exchange.share(num_pairs)
        pairs = tf.range(first, last)
        rows = tf.concat([pairs, pairs + num_pairs], axis=0)
        allowed = self._candidates(text_ids, first, last)
        chosen = self._choose(tf.gather(normalized, rows), normalized, allowed, step, rows)
        sides = tf.transpose(tf.reshape(chosen, [2, -1]))
        return tf.reshape(tf.transpose(self.exchange.all_rows(sides, num_pairs)), [-1])

    def _choose(
        self,
        texts: tf.Tensor,
        candidates: tf.Tensor,
        allowed: tf.Tensor,
        step: tf.Tensor,
        rows: tf.Tensor | None = None,
    ) -> tf.Tensor:
        """Returns the index of each text's negative, int64 `(n,)`; -1 without a negative.

        Args:
            texts: Embeddings `(n, dim)`.
            candidates: Embeddings of the batch `(2B, dim)`.
            allowed: Which candidates may be chosen, bool `(n, 2B)`.
            step: Seeds the samples.
            rows: Position of each text in the batch, int64 `(n,)`. Default: all texts.
        """
        exists = tf.reduce_any(allowed, axis=1)
        if self.strategy == "random":
            chosen = self._sample(allowed, step, rows)
        else:
            texts, candidates = tf.stop_gradient(texts), tf.stop_gradient(candidates)
            cosines = tf.matmul(texts, candidates, transpose_b=True)
            chosen = _argmax(tf.where(allowed, cosines, tf.constant(-2.0, cosines.dtype)))
            if self.strategy == "mix":
                coins = self._noise(tf.shape(allowed)[1:], self._seed(step, 1), rows)
                chosen = tf.where(coins < 0.5, chosen, self._sample(allowed, step, rows))
        return tf.where(exists, chosen, -1)

    def _candidates(self, text_ids: tf.Tensor, *share: tf.Tensor) -> tf.Tensor:
        return candidate_mask(
            text_ids,
            *share,
            mask_duplicates=self.mask_duplicates,
            num_groups=self.num_groups,
        )

    def _sample(self, allowed: tf.Tensor, step: tf.Tensor, rows: tf.Tensor | None) -> tf.Tensor:
        """Samples one allowed candidate per row with equal probability."""
        size = tf.shape(allowed)[1]
        noise = self._noise(tf.stack([size, size]), self._seed(step, 2), rows)
        return _argmax(tf.where(allowed, noise, -1.0))

    @staticmethod
    def _noise(shape: tf.Tensor, seed: tf.Tensor, rows: tf.Tensor | None) -> tf.Tensor:
        """Returns the uniform numbers of some rows of a batch; of all rows by default."""
        noise = tf.random.stateless_uniform(shape, seed)
        return noise if rows is None else tf.gather(noise, rows)

    def _seed(self, step: tf.Tensor, purpose: int) -> tf.Tensor:
        return tf.stack([tf.constant(self.seed * 4 + purpose, tf.int64), tf.cast(step, tf.int64)])


def candidate_mask(
    text_ids: tf.Tensor,
    first: tf.Tensor | None = None,
    last: tf.Tensor | None = None,
    *,
    mask_duplicates: bool = True,
    num_groups: int = 1,
) -> tf.Tensor:
    """Returns a mask of allowed negatives, bool `(2B, 2B)`.

    Args:
        text_ids: Equal for equal texts, lefts first, then rights, int64 `(2B,)`.
        first: First pair to return rows for. Default: 0.
        last: Pair after the last one to return rows for, which makes the result
            `(2 * (last - first), 2B)`. Default: B.
        mask_duplicates: As for `NegativeSampler`, as are the other arguments.
        num_groups: Number of groups.
    """
    # In int64, because int32 is compared in host memory even if there is a GPU.
    num_pairs = tf.shape(text_ids, tf.int64)[0] // 2
    if mask_duplicates:
        texts = tf.cast(text_ids, tf.int64)
        lefts = texts[:num_pairs, tf.newaxis][first:last]
        rights = texts[num_pairs:, tf.newaxis][first:last]
        # This also excludes the sides of the pair itself.
        allowed = tf.logical_and(lefts != texts, rights != texts)
    else:
        pairs = tf.range(num_pairs)
        allowed = pairs[first:last, tf.newaxis] != tf.tile(pairs, [2])
    if num_groups > 1:
        groups = tf.range(num_pairs) // -(-num_pairs // num_groups)
        is_same = groups[first:last, tf.newaxis] == tf.tile(groups, [2])
        allowed = tf.logical_and(allowed, is_same)
    # Both sides of a pair have the same candidates.
    return tf.tile(allowed, [2, 1])


def _argmax(values: tf.Tensor) -> tf.Tensor:
    """Returns the column of the largest number of each row, int64 `(n,)`."""
    # A replica may get no pair of a small batch, and TensorFlow rejects rows without columns even
    # if there are no rows.
    return tf.argmax(tf.reshape(values, tf.maximum(tf.shape(values), [0, 1])), axis=1)

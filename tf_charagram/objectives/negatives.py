"""Negative examples chosen inside a batch, on the device (Charagram, appendix A.1)."""

from __future__ import annotations

import tensorflow as tf

from tf_charagram.errors import ConfigError, unknown_name

STRATEGIES = ("max", "mix", "random")


class NegativeSampler:
    """Chooses a negative for each of the 2B texts of B pairs.

    Texts are ordered lefts first, then rights. Candidates of a text are both sides of every other
    pair. `max` takes the most similar one, `random` any with equal probability, `mix` one or the
    other with probability 0.5, independently for each text.

    Args:
        strategy: `"max"`, `"mix"` or `"random"`.
        mask_duplicates: Also leave out candidates whose text equals one side of the same pair;
            paraphrase lists repeat words. `False` is the papers' behaviour.
        mask_related: Also leave out candidates whose own partner has such a text: of `cat - kitten`
            in the batch, `kitten` is no negative for `cat - cats`.
        num_groups: Into how many groups of consecutive pairs a batch is divided; candidates come
            from the group of the text.
        seed: Seed of the samples. The same seed and step give the same samples.

    Raises:
        ConfigError: The strategy is unknown, or the masks do not go together.
    """

    def __init__(
        self,
        strategy: str = "max",
        *,
        mask_duplicates: bool = True,
        mask_related: bool = False,
        num_groups: int = 1,
        seed: int = 0,
    ) -> None:
        if strategy not in STRATEGIES:
            raise ConfigError(unknown_name("negatives", strategy, STRATEGIES))
        if mask_related and not mask_duplicates:
            raise ConfigError("`mask_related` needs `mask_duplicates`: it leaves out even more.")
        self.strategy = strategy
        self.mask_duplicates = mask_duplicates
        self.mask_related = mask_related
        self.num_groups = num_groups
        self.seed = seed

    def __call__(
        self, normalized: tf.Tensor, text_ids: tf.Tensor, step: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Chooses the negatives; no gradient flows through the choice.

        Args:
            normalized: Embeddings of unit length (or zero), float `(2B, dim)`.
            text_ids: Equal for equal texts, int64 `(2B,)`.
            step: Number of the step, which seeds the samples, integer scalar.

        Returns:
            Index of the negative of each text, int64 `(2B,)`, and whether there is one at all,
            bool `(2B,)`. Where there is none the index is 0.
        """
        allowed = self.candidates(text_ids)
        exists = tf.reduce_any(allowed, axis=1)
        if self.strategy == "random":
            chosen = self._sample(allowed, step)
        else:
            normalized = tf.stop_gradient(normalized)
            cosines = tf.matmul(normalized, normalized, transpose_b=True)
            masked = tf.where(allowed, cosines, tf.constant(-2.0, cosines.dtype))
            chosen = tf.argmax(masked, axis=1)
            if self.strategy == "mix":
                coins = tf.random.stateless_uniform(tf.shape(chosen), self._seed(step, 1))
                chosen = tf.where(coins < 0.5, chosen, self._sample(allowed, step))
        return tf.where(exists, chosen, 0), exists

    def candidates(self, text_ids: tf.Tensor) -> tf.Tensor:
        """Returns which texts may be the negative of which, bool `(2B, 2B)`."""
        # In int64, because int32 is compared in host memory, also where there is a GPU.
        num_pairs = tf.shape(text_ids, tf.int64)[0] // 2
        if self.mask_duplicates:
            allowed = self._differ(tf.cast(text_ids, tf.int64), num_pairs)
        else:
            pairs = tf.range(num_pairs)
            allowed = pairs[:, tf.newaxis] != tf.tile(pairs, [2])
        if self.num_groups > 1:
            groups = tf.range(num_pairs) // -(-num_pairs // self.num_groups)
            allowed = tf.logical_and(allowed, groups[:, tf.newaxis] == tf.tile(groups, [2]))
        # What one side of a pair may not have, the other may not either.
        return tf.tile(allowed, [2, 1])

    def _differ(self, texts: tf.Tensor, num_pairs: tf.Tensor) -> tf.Tensor:
        """Returns for each pair which texts are of none of its sides, bool `(B, 2B)`."""
        lefts, rights = texts[:num_pairs, tf.newaxis], texts[num_pairs:, tf.newaxis]
        # Both sides of the same pair have, trivially, the text of one of its sides.
        allowed = tf.logical_and(lefts != texts, rights != texts)
        if self.mask_related:
            partners_allowed = tf.concat([allowed[:, num_pairs:], allowed[:, :num_pairs]], axis=1)
            allowed = tf.logical_and(allowed, partners_allowed)
        return allowed

    def _sample(self, allowed: tf.Tensor, step: tf.Tensor) -> tf.Tensor:
        """Samples one allowed candidate per row, all with equal probability."""
        noise = tf.random.stateless_uniform(tf.shape(allowed), self._seed(step, 2))
        return tf.argmax(tf.where(allowed, noise, -1.0), axis=1)

    def _seed(self, step: tf.Tensor, purpose: int) -> tf.Tensor:
        return tf.stack([tf.constant(self.seed * 4 + purpose, tf.int64), tf.cast(step, tf.int64)])

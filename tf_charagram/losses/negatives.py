"""Negative examples chosen inside a batch, on the device (Charagram, appendix A.1)."""

from __future__ import annotations

import tensorflow as tf

from tf_charagram.errors import (
    ConfigError,
    check_integers,
    check_positive,
    check_switches,
    unknown_name,
)
from tf_charagram.losses.candidates import candidate_mask
from tf_charagram.optimizers.exchange import ALONE, Exchange

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
            in the batch, `kitten` is not a negative for `cat - cats`.
        num_groups: Number of groups of consecutive pairs that a batch is divided into; candidates
            come from the group of the text.
        seed: Seed of the samples. The same seed and step give the same samples.
        exchange: Other workers that choose in the same batch, each for its share of the pairs.

    Raises:
        ConfigError: The strategy is unknown, `num_groups` is below 1, or the masks do not go
            together.
    """

    def __init__(
        self,
        strategy: str = "max",
        *,
        mask_duplicates: bool = True,
        mask_related: bool = False,
        num_groups: int = 1,
        seed: int = 0,
        exchange: Exchange = ALONE,
    ) -> None:
        if strategy not in STRATEGIES:
            raise ConfigError(unknown_name("negatives", strategy, STRATEGIES))
        if mask_related and not mask_duplicates:
            raise ConfigError("`mask_related` needs `mask_duplicates`: it leaves out even more.")
        check_switches(mask_duplicates=mask_duplicates, mask_related=mask_related)
        check_integers(seed=seed)
        check_positive(num_groups=num_groups)
        self.strategy = strategy
        self.mask_duplicates = mask_duplicates
        self.mask_related = mask_related
        self.num_groups = num_groups
        self.seed = seed
        self.exchange = exchange

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
        if self.exchange.is_alone:
            chosen = self._choose(normalized, normalized, self._candidates(text_ids), step)
        else:
            chosen = self._choose_share(normalized, text_ids, step)
        return tf.maximum(chosen, 0), chosen >= 0

    def _choose_share(
        self, normalized: tf.Tensor, text_ids: tf.Tensor, step: tf.Tensor
    ) -> tf.Tensor:
        """Chooses for the texts of some pairs, and takes over what others chose for theirs."""
        num_pairs = tf.shape(text_ids, tf.int64)[0] // 2
        first, last = self.exchange.share(num_pairs)
        pairs = tf.range(first, last)
        texts = tf.concat([pairs, pairs + num_pairs], axis=0)
        allowed = self._candidates(text_ids, first, last)
        chosen = self._choose(tf.gather(normalized, texts), normalized, allowed, step, texts)
        sides = tf.transpose(tf.reshape(chosen, [2, -1]))
        return tf.reshape(tf.transpose(self.exchange.all_rows(sides, num_pairs)), [-1])

    def _choose(
        self,
        texts: tf.Tensor,
        candidates: tf.Tensor,
        allowed: tf.Tensor,
        step: tf.Tensor,
        numbers: tf.Tensor | None = None,
    ) -> tf.Tensor:
        """Returns the index of the negative of each text, int64 `(n,)`; -1 where there is none.

        Args:
            texts: Embeddings `(n, dim)`.
            candidates: Embeddings of the batch `(2B, dim)`.
            allowed: Which of these may be chosen, bool `(n, 2B)`.
            step: Seeds the samples.
            numbers: Which texts of the batch they are, int64 `(n,)`. Default: all.
        """
        exists = tf.reduce_any(allowed, axis=1)
        if self.strategy == "random":
            chosen = self._sample(allowed, step, numbers)
        else:
            texts, candidates = tf.stop_gradient(texts), tf.stop_gradient(candidates)
            cosines = tf.matmul(texts, candidates, transpose_b=True)
            masked = tf.where(allowed, cosines, tf.constant(-2.0, cosines.dtype))
            chosen = _places_of_maxima(masked)
            if self.strategy == "mix":
                coins = self._noise(tf.shape(allowed)[1:], self._seed(step, 1), numbers)
                chosen = tf.where(coins < 0.5, chosen, self._sample(allowed, step, numbers))
        return tf.where(exists, chosen, -1)

    def _candidates(self, text_ids: tf.Tensor, *share: tf.Tensor) -> tf.Tensor:
        """Returns which texts may be the negative of which; see `candidate_mask`."""
        return candidate_mask(
            text_ids,
            *share,
            mask_duplicates=self.mask_duplicates,
            mask_related=self.mask_related,
            num_groups=self.num_groups,
        )

    def _sample(self, allowed: tf.Tensor, step: tf.Tensor, numbers: tf.Tensor | None) -> tf.Tensor:
        """Samples one allowed candidate per row, all with equal probability."""
        size = tf.shape(allowed)[1]
        noise = self._noise(tf.stack([size, size]), self._seed(step, 2), numbers)
        return _places_of_maxima(tf.where(allowed, noise, -1.0))

    @staticmethod
    def _noise(shape: tf.Tensor, seed: tf.Tensor, numbers: tf.Tensor | None) -> tf.Tensor:
        """Returns uniform numbers for the texts of a batch, or those for some of them."""
        noise = tf.random.stateless_uniform(shape, seed)
        return noise if numbers is None else tf.gather(noise, numbers)

    def _seed(self, step: tf.Tensor, purpose: int) -> tf.Tensor:
        return tf.stack([tf.constant(self.seed * 4 + purpose, tf.int64), tf.cast(step, tf.int64)])


def _places_of_maxima(values: tf.Tensor) -> tf.Tensor:
    """Returns the column of the largest number of each row, int64 `(n,)`."""
    # A replica may get no pair of a small batch, and TensorFlow refuses rows without columns, even
    # if there are none.
    return tf.argmax(tf.reshape(values, tf.maximum(tf.shape(values), [0, 1])), axis=1)

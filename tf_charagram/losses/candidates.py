"""Which texts of a batch may be the negative of which."""

from __future__ import annotations

import tensorflow as tf


def candidate_mask(
    text_ids: tf.Tensor,
    first: tf.Tensor | None = None,
    last: tf.Tensor | None = None,
    *,
    mask_duplicates: bool = True,
    mask_related: bool = False,
    num_groups: int = 1,
) -> tf.Tensor:
    """Returns which texts may be the negative of which, bool `(2B, 2B)`.

    Args:
        text_ids: Equal for equal texts, lefts first, then rights, int64 `(2B,)`.
        first: The first pair that is asked for. Default: all are.
        last: The first pair behind those. The result is `(2 * (last - first), 2B)` then.
        mask_duplicates: As for `NegativeSampler`.
        mask_related: As for `NegativeSampler`; needs `mask_duplicates`.
        num_groups: As for `NegativeSampler`.
    """
    # In int64, because int32 is compared in host memory, also where there is a GPU.
    num_pairs = tf.shape(text_ids, tf.int64)[0] // 2
    if mask_duplicates:
        allowed = _differ(tf.cast(text_ids, tf.int64), num_pairs, first, last, mask_related)
    else:
        pairs = tf.range(num_pairs)
        allowed = pairs[first:last, tf.newaxis] != tf.tile(pairs, [2])
    if num_groups > 1:
        groups = tf.range(num_pairs) // -(-num_pairs // num_groups)
        is_same = groups[first:last, tf.newaxis] == tf.tile(groups, [2])
        allowed = tf.logical_and(allowed, is_same)
    # What one side of a pair may not have, the other may not either.
    return tf.tile(allowed, [2, 1])


def _differ(
    texts: tf.Tensor,
    num_pairs: tf.Tensor,
    first: tf.Tensor | None,
    last: tf.Tensor | None,
    mask_related: bool,
) -> tf.Tensor:
    """Returns for pairs which texts are of none of their sides, bool `(last - first, 2B)`."""
    lefts, rights = texts[:num_pairs, tf.newaxis], texts[num_pairs:, tf.newaxis]
    lefts, rights = lefts[first:last], rights[first:last]
    # Both sides of the same pair have, trivially, the text of one of its sides.
    allowed = tf.logical_and(lefts != texts, rights != texts)
    if mask_related:
        partners_allowed = tf.concat([allowed[:, num_pairs:], allowed[:, :num_pairs]], axis=1)
        allowed = tf.logical_and(allowed, partners_allowed)
    return allowed

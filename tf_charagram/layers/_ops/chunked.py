"""Ids of a batch in the static shapes that XLA compiles."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import tensorflow as tf

from tf_charagram._common.weights import MAX_WEIGHTED_ROWS, STEPS_PER_WEIGHT
from tf_charagram.layers._ops.xla import stored, with_row_gradient

#: Fills up the ids of a chunk. It lies past the end of every table: compiled by XLA, a read there
#: gives any row, and an update there has no effect.
PADDING = 2**31 - 1


class WeightedIds(NamedTuple):
    """Ids whose rows count differently; for encoders that sum rows.

    Attributes:
        ids: int32 `(batch, None)`.
        weights: The factor of the row of each id, float32 `(num_ids,)`.
    """

    ids: tf.RaggedTensor
    weights: tf.Tensor


def unpacked(packed: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns ids, and the weights in their highest bits; ids without a weight have 1.

    Args:
        packed: `training_ids` of a vectorizer with weights, int32 of any shape.

    Returns:
        int32 and float32 of this shape.
    """
    ids = packed % MAX_WEIGHTED_ROWS
    steps = packed // MAX_WEIGHTED_ROWS
    weights = tf.cast(steps, tf.float32) / STEPS_PER_WEIGHT
    return ids, tf.where(steps > 0, weights, 1.0)


class ChunkedIds(NamedTuple):
    """The ids of a batch, each text cut into chunks of one width.

    Ragged tensors have sizes that the data decide, for which a GPU has to wait. Chunks waste little
    on padding, although a few texts are much longer than the others. For encoders that pad,
    there is one chunk per text, as wide as the longest text.

    Attributes:
        rows: The distinct ids of the batch, then `PADDING`, int32 `(num_slots,)`.
        slots: Where in `rows` each id is, `num_slots` after the last id of a chunk, int32
            `(num_chunks, width)`.
        texts: Text of each chunk, int32 `(num_chunks,)`.
        lengths: Number of ids of each text, int32 `(num_texts,)`.
        weights: The factor of the row of each id, float32 `(num_chunks, width)`; `None` for 1.
    """

    rows: tf.Tensor
    slots: tf.Tensor
    texts: tf.Tensor
    lengths: tf.Tensor
    weights: tf.Tensor | None = None

    def row_lengths(self) -> tf.Tensor:
        """Returns the number of ids of each text, as `tf.RaggedTensor.row_lengths` does."""
        return self.lengths

    @property
    def mask(self) -> tf.Tensor:
        """Which ids are real, bool `(num_chunks, width)`."""
        return self.slots < tf.shape(self.rows)[0]

    def vectors(self, table: tf.Variable) -> tf.Tensor:
        """Looks ids up in a table `(num_rows, dim)`, whose gradient names each row once.

        Returns:
            `(num_chunks, width, dim)`, zeros at padding.
        """
        # Read from the table: gathered rows would be written and read once more.
        [ids] = stored(tf.gather(self.rows, self.slots))
        vectors = tf.stop_gradient(tf.gather(table, ids))
        rows = tf.gather(table, self.rows)
        vectors = with_row_gradient(vectors, rows, self.slots)
        if self.weights is not None:
            vectors *= tf.expand_dims(self.weights, axis=2)
        is_real = tf.expand_dims(self.mask, axis=2)
        return tf.where(is_real, vectors, 0.0)

    def sum_by_text(self, vectors: tf.Tensor) -> tf.Tensor:
        """Sums the vectors of the ids of each text.

        Args:
            vectors: `(num_chunks, width, dim)`, zeros at padding.

        Returns:
            `(num_texts, dim)`.
        """
        sums = tf.reduce_sum(vectors, axis=1)
        num_texts = tf.size(self.lengths)
        return tf.math.unsorted_segment_sum(sums, self.texts, num_texts)


#: Ids of a batch: ragged on the CPU, in chunks compiled by XLA.
Ids: TypeAlias = tf.RaggedTensor | ChunkedIds


class _Chunks(NamedTuple):
    """Where the ids of the chunks of a batch are.

    Attributes:
        positions: Position of each id in an array of ids, int32 `(num_chunks, width)`.
        is_real: Which positions are of ids, bool `(num_chunks, width)`.
        texts: Text of each chunk, int32 `(num_chunks,)`; past the last one for chunks left over.
    """

    positions: tf.Tensor
    is_real: tf.Tensor
    texts: tf.Tensor


def cut_into_chunks(
    starts: tf.Tensor, lengths: tf.Tensor, offsets: tf.Tensor, num_chunks: int | None
) -> _Chunks:
    """Cuts the texts of a batch into chunks.

    Args:
        starts: Position of the first id of each text, int32 `(num_texts,)`.
        lengths: Number of ids of each text, int32 `(num_texts,)`.
        offsets: `0 ... width - 1`, int32.
        num_chunks: Number of chunks, at least as many as are needed; `None` for one per text.
    """
    width = tf.size(offsets)
    num_texts = tf.size(lengths)
    if num_chunks is None:
        texts = tf.range(num_texts)
        begins = tf.zeros_like(lengths)
        sizes = lengths
    else:
        counts = (lengths + width - 1) // width
        ends = tf.cumsum(counts)
        # The text of a chunk is the number of texts that end before it.
        num_ending = tf.math.unsorted_segment_sum(tf.ones_like(ends), ends, num_chunks)
        texts = tf.cumsum(num_ending)
        first_chunks = tf.gather(ends - counts, texts)
        begins = (tf.range(num_chunks) - first_chunks) * width
        # Chunks that are left over belong to no text.
        left = tf.gather(lengths, texts) - begins
        sizes = tf.where(texts < num_texts, left, 0)
    firsts = tf.gather(starts, texts) + begins
    firsts, sizes, texts = stored(firsts, sizes, texts)
    positions = firsts[:, tf.newaxis] + offsets
    is_real = offsets < sizes[:, tf.newaxis]
    return _Chunks(positions, is_real, texts)


def chunked_ids(
    ids: tf.Tensor, texts: tf.Tensor, lengths: tf.Tensor, num_rows: int, num_slots: int
) -> tuple[ChunkedIds, tf.Tensor]:
    """Makes the ids of a batch from chunks, and counts the distinct ones.

    Args:
        ids: int32 `(num_chunks, width)`, `PADDING` after the last id of a chunk.
        texts: Text of each chunk, int32 `(num_chunks,)`.
        lengths: Number of ids of each text, int32 `(num_texts,)`.
        num_rows: Number of ids there may be.
        num_slots: Room for distinct ids; if there are more, the result is wrong.

    Returns:
        The ids, and the number of distinct ones, int32 scalar.
    """
    [ids] = stored(ids)
    flat = tf.reshape(ids, [-1])
    numbers, is_last = distinct_ids(flat, num_rows)
    rows = in_slots(flat, numbers, is_last, num_slots)
    numbers = tf.reshape(numbers, tf.shape(ids))
    slots = tf.where(ids == PADDING, num_slots, numbers)
    num_distinct = tf.reduce_sum(tf.cast(is_last, tf.int32))
    rows, slots = stored(rows, slots)
    return ChunkedIds(rows, slots, texts, lengths), num_distinct


def distinct_ids(ids: tf.Tensor, num_rows: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Numbers the distinct ids of a batch; only compiled by XLA.

    Args:
        ids: int32 `(n,)`, below `num_rows` or `PADDING`.
        num_rows: Number of ids there may be.

    Returns:
        The number of each id, int32 `(n,)`, equal for equal ids; and whether each is the one of
        several equal ids that counts, bool `(n,)`. The number of `PADDING` has no meaning.
    """
    positions = tf.range(tf.size(ids))
    # Of equal ids, any that is written last; for a maximum, they would wait for each other.
    unset = tf.zeros([num_rows], tf.int32)
    last_of_rows = tf.tensor_scatter_nd_update(unset, ids[:, tf.newaxis], positions)
    last = tf.gather(last_of_rows, ids)
    is_last = (last == positions) & (ids != PADDING)
    numbers = tf.cumsum(tf.cast(is_last, tf.int32)) - 1
    return tf.gather(numbers, last), is_last


def in_slots(
    ids: tf.Tensor, numbers: tf.Tensor, is_last: tf.Tensor, num_slots: int | tf.Tensor
) -> tf.Tensor:
    """Returns the distinct ids in the order of their numbers, then `PADDING`; only compiled by XLA.

    Args:
        ids: int32 `(n,)`.
        numbers: The first result of `distinct_ids(ids, num_rows)`.
        is_last: Its second result.
        num_slots: Length of the result.
    """
    # Updates past the end have no effect.
    slots = tf.where(is_last, numbers, PADDING)
    unused = tf.fill([num_slots], PADDING)
    return tf.tensor_scatter_nd_update(unused, slots[:, tf.newaxis], ids)

"""Training pairs: turned into ids once, kept in temporary files, and streamed in batches."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

import numpy as np
import tensorflow as tf

from tf_charagram._common.devices import on_cpu
from tf_charagram._files.writing import writing
from tf_charagram.layers._ops.ragged import gather_ragged
from tf_charagram.tasks.paraphrase._corpus.corpus import Example
from tf_charagram.text._algorithm.code_points import normalized_code_points
from tf_charagram.text._algorithm.tensors import tensor_of
from tf_charagram.training._loop.stream import Segment, Stream, TextRanges

_CHUNK_PAIRS = 5_000
_CHUNK_CHARS = 2_000_000
# So many that two different texts of a batch hardly ever share a key.
_NUM_KEYS = 2**62

ToIds = Callable[[list[str]], tf.RaggedTensor]


class Pairs(NamedTuple):
    """Pairs as ids.

    Attributes:
        ids: The ids of the texts, int32 `(2 * num_pairs, None)`: pair `p` is rows `2p`, `2p + 1`.
        keys: Equal for texts that differ only in case and white space, int64 `(2 * num_pairs,)`.
    """

    ids: tf.RaggedTensor
    keys: tf.Tensor


@on_cpu
def write_pairs(examples: Iterable[Example], to_ids: ToIds, folder: Path) -> Pairs:
    """Computes the ids of pairs and writes them to files that are mapped into memory.

    The system keeps as much of the files in memory as fits. They have no names, so they disappear
    with the process even if it is killed.

    Args:
        examples: The examples, read once, as a stream.
        to_ids: Computes the ids of texts, int32 `(num_texts, None)`.
        folder: Folder on whose disk the files are.

    Raises:
        RunError: The folder cannot be written, for instance because the disk is full.
    """
    num_ids = 0
    with writing(folder), ExitStack() as stack:
        values = stack.enter_context(TemporaryFile(dir=folder))
        splits = stack.enter_context(TemporaryFile(dir=folder))
        keys = stack.enter_context(TemporaryFile(dir=folder))
        splits.write(np.zeros(1, np.int64).tobytes())
        for texts, originals in _chunks(examples):
            ids = to_ids(texts)
            # Row splits count from the start of the chunk; in the file, from the first of all ids.
            ends = num_ids + tf.cast(ids.row_splits, tf.int64).numpy()[1:]
            num_ids += len(ids.values)
            # Not `tofile`, which would hide that a disk is full.
            values.write(ids.values.numpy().tobytes())
            splits.write(ends.tobytes())
            keys.write(text_keys(originals).numpy().tobytes())
        all_ids = tf.RaggedTensor.from_row_splits(
            _mapped(values, np.int32), _mapped(splits, np.int64), validate=False
        )
        return Pairs(all_ids, _mapped(keys, np.int64))


def _mapped(file: IO[bytes], dtype: type[np.integer[Any]]) -> tf.Tensor:
    """Returns the content of a file as a tensor that shares its memory."""
    file.flush()
    if not file.tell():
        return tf.zeros([0], dtype)
    array = np.frombuffer(mmap.mmap(file.fileno(), 0), dtype)
    return tf.experimental.dlpack.from_dlpack(array.__dlpack__())


def _chunks(examples: Iterable[Example]) -> Iterator[tuple[list[str], list[str]]]:
    """Yields the texts of some pairs at a time, with and without typos."""
    texts: list[str] = []
    originals: list[str] = []
    size = 0
    for example in examples:
        texts += (example.left, example.right)
        originals += example.original
        size += len(example.left) + len(example.right)
        if len(texts) >= 2 * _CHUNK_PAIRS or size > _CHUNK_CHARS:
            yield texts, originals
            texts, originals, size = [], [], 0
    if texts:
        yield texts, originals


@on_cpu
def text_keys(texts: list[str] | tf.Tensor) -> tf.Tensor:
    """Returns numbers that are equal for texts that differ only in case and white space.

    Not by `tf.strings.lower`, which follows the locale of the process, also in a graph.

    Args:
        texts: The texts, a list or a string tensor `(num_texts,)`.

    Returns:
        int64 `(num_texts,)`.
    """
    table = normalized_code_points()
    decoded = tf.strings.unicode_decode(tensor_of(texts), "UTF-8", errors="replace")
    codes = decoded.flat_values
    in_table = tf.gather(table, tf.minimum(codes, len(table) - 1))
    lowered = tf.where(codes < len(table), in_table, codes)
    encoded = tf.strings.unicode_encode(decoded.with_flat_values(lowered), "UTF-8")
    collapsed = tf.strings.strip(tf.strings.regex_replace(encoded, " +", " "))
    return tf.strings.to_hash_bucket_fast(collapsed, _NUM_KEYS)


class PairStream(Stream):
    """The batches of a training run on pairs: ids of lefts, then of rights, and their keys.

    Args:
        num_pairs: Number of pairs.
        load: Returns the pairs; called once, by `open` or for the first batch.
        batch_size: Pairs per batch; the last batch of an epoch may have fewer.
        seed: Seed of the orders.
        file_order_first: Whether the first epoch keeps the order of the file, most confident pairs
            first (Charagram, section 4.1.4).
        bucket_by_length: Whether each batch gets pairs of similar length, if pairs are shuffled.
    """

    def __init__(
        self,
        num_pairs: int,
        load: Callable[[], Pairs],
        *,
        batch_size: int,
        seed: int = 0,
        file_order_first: bool = False,
        bucket_by_length: bool = False,
    ) -> None:
        super().__init__(
            num_pairs,
            step_size=batch_size,
            unit="pairs",
            prefetch=64,
            seed=seed,
            lengths=self._longer if bucket_by_length else None,
        )
        self.file_order_first = file_order_first
        self._load = load

    @cached_property
    def pairs(self) -> Pairs:
        """The pairs."""
        return self._load()

    def open(self) -> None:
        """Computes the ids of all pairs, once."""
        _ = self.pairs

    @cached_property
    def _arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Ids, row splits and keys; they share the memory of `pairs`."""
        ids, keys = self.pairs
        values = np.asarray(memoryview(ids.values))
        splits = np.asarray(memoryview(ids.row_splits))
        return values, splits, np.asarray(memoryview(keys))

    def host_batches(self, segment: Segment) -> Iterator[tuple[Any, ...]]:
        """Yields the batches of a segment; all have the ids of all pairs as `values`."""
        values, splits, keys = self._arrays
        for texts in self._rows(segment):
            starts = splits[texts]
            yield TextRanges(values, starts, splits[texts + 1] - starts), keys[texts]

    def _is_in_order(self, epoch: int) -> bool:
        return self.file_order_first and epoch == 0

    def _assembler(
        self, segment: Segment
    ) -> Callable[[tf.Tensor], tuple[tf.RaggedTensor, tf.Tensor]]:
        ids, keys = self.pairs
        return lambda texts: (gather_ragged(ids, texts), tf.gather(keys, texts))

    def _rows(self, segment: Segment) -> list[np.ndarray]:
        """Returns the rows of the texts of each step, lefts first."""
        return [np.concatenate([2 * pairs, 2 * pairs + 1]) for pairs in self._order(segment)]

    @on_cpu
    def _longer(self, pairs: np.ndarray) -> np.ndarray:
        """Returns the number of ids of the longer text of each pair."""
        splits = self.pairs.ids.row_splits
        texts = tf.constant([2 * pairs, 2 * pairs + 1])
        lengths = tf.gather(splits, texts + 1) - tf.gather(splits, texts)
        return tf.reduce_max(lengths, axis=0).numpy()

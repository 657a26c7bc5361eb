"""The ids of training pairs, in memory or, if there are too many, on disk."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from tf_charagram.data.pipeline.corpus import Example
from tf_charagram.errors import RunError
from tf_charagram.files.writing import writing
from tf_charagram.optimizers.exchange import ALONE, Exchange

_CHUNK_PAIRS = 5_000
_CHUNK_CHARS = 2_000_000
_NUM_KEYS = 2**62

ToIds = Callable[[list[str]], tf.RaggedTensor]


class PairBlock(NamedTuple):
    """Pairs in memory.

    Attributes:
        ids: The ids of the texts, int32 `(2 * num_pairs, None)`: pair `p` is rows `2p`, `2p + 1`.
        keys: Equal for texts that differ only in case and white space, int64 `(2 * num_pairs,)`.
    """

    ids: tf.RaggedTensor
    keys: tf.Tensor

    @property
    def num_pairs(self) -> int:
        """Number of pairs."""
        return int(self.keys.shape[0]) // 2


class PairStore:
    """Pairs as ids, in blocks of equal size, one of which is in memory at a time.

    With several blocks, pairs are assigned to blocks at random, once for all epochs. To keep the
    order of the file as well, the pairs are stored twice.

    Args:
        num_pairs: Number of pairs.
        block_size: Pairs per block; the last one may have fewer.
        folder: Folder of the blocks. Not used if there is only one.
        seed: Seed of the assignment.
        keeps_order: Whether to also keep blocks in the order of the file.
    """

    def __init__(
        self, num_pairs: int, block_size: int, folder: Path, *, seed: int = 0,
        keeps_order: bool = False,
    ) -> None:  # fmt: skip
        self.num_pairs = num_pairs
        self.block_size = min(block_size, num_pairs)
        self.folder = folder
        self.keeps_order = keeps_order
        self._seed = seed
        self._loaded: tuple[str, PairBlock] | None = None

    @property
    def num_blocks(self) -> int:
        """Number of blocks."""
        return -(-self.num_pairs // self.block_size)

    @classmethod
    def of_block(cls, block: PairBlock) -> PairStore:
        """Returns a store of pairs in memory."""
        store = cls(block.num_pairs, block.num_pairs, Path())
        store._loaded = (store._name(0, False), block)
        return store

    def fill(self, examples: Iterable[Example], to_ids: ToIds, exchange: Exchange = ALONE) -> None:
        """Computes the ids of all pairs.

        Args:
            examples: `num_pairs` examples, read once, as a stream.
            to_ids: Computes the ids of texts, int32 `(num_texts, None)`.
            exchange: Workers that fill a store with the same pairs: each computes the ids of its
                share.

        Raises:
            RunError: The folder cannot be written, for instance because the disk is full.
        """
        self.fill_from(_vectorized(examples, to_ids, exchange))

    def fill_from(self, parts: Iterable[PairBlock]) -> None:
        """Stores the ids of `num_pairs` pairs, part by part; see `fill`."""
        if self.num_blocks == 1:
            kept = list(parts)
            ids = tf.concat([part.ids for part in kept], axis=0)
            keys = tf.concat([part.keys for part in kept], axis=0)
            self._loaded = (self._name(0, False), PairBlock(ids, keys))
            return
        with self._writable():
            first = 0
            for part in parts:
                numbers = tf.range(first, first + part.num_pairs, dtype=tf.int64)
                self._append(part, numbers, in_order=False)
                if self.keeps_order:
                    self._append(part, numbers, in_order=True)
                first += part.num_pairs

    @contextmanager
    def _writable(self) -> Iterator[None]:
        """Empties the folder, which an earlier run may have left, and explains write errors."""
        try:
            with writing(self.folder):
                shutil.rmtree(self.folder, ignore_errors=True)
                self.folder.mkdir(parents=True)
                yield
        except BaseException:
            self.remove()
            raise

    def _append(self, part: PairBlock, numbers: tf.Tensor, *, in_order: bool) -> None:
        if not in_order:
            seed = tf.constant([self._seed, -1], tf.int64)
            numbers = tf.random.experimental.index_shuffle(numbers, seed, self.num_pairs - 1)
        blocks = numbers.numpy() // self.block_size
        for block in np.unique(blocks).tolist():
            pairs = np.flatnonzero(blocks == block)
            rows = np.stack([2 * pairs, 2 * pairs + 1], axis=1).reshape(-1)
            ids = tf.gather(part.ids, rows)
            name = self._name(block, in_order)
            for suffix, array in (
                ("ids", ids.values), ("lengths", tf.cast(ids.row_lengths(), tf.int64)),
                ("keys", tf.gather(part.keys, rows)),
            ):  # fmt: skip
                with open(self.folder / f"{name}.{suffix}", "ab") as file:
                    # `tofile` would hide that a disk is full.
                    file.write(array.numpy().tobytes())

    def load(self, block: int, *, in_order: bool = False) -> PairBlock:
        """Returns a block, and releases the previous one.

        Args:
            block: Its number.
            in_order: Whether to load a block in the order of the file.

        Raises:
            RunError: It cannot be read.
        """
        name = self._name(block, in_order)
        if self._loaded is None or self._loaded[0] != name:
            self._loaded = None
            size = min(self.block_size, self.num_pairs - block * self.block_size)
            self._loaded = (name, self._read(name, 2 * size))
        return self._loaded[1]

    def _read(self, name: str, num_texts: int) -> PairBlock:
        path = self.folder / name
        try:
            lengths, ids, keys = (
                np.fromfile(f"{path}.{suffix}", dtype)
                for suffix, dtype in (("lengths", np.int64), ("ids", np.int32), ("keys", np.int64))
            )
        except OSError as error:
            raise RunError(
                f"{path} cannot be read: {error.strerror}. Continue with --resume."
            ) from error
        if not len(lengths) == len(keys) == num_texts or lengths.sum() != len(ids):
            raise RunError(f"{path} was truncated or changed. Continue with --resume.")
        ragged = tf.RaggedTensor.from_row_lengths(tf.constant(ids), tf.constant(lengths))
        return PairBlock(ragged, tf.constant(keys))

    def _name(self, block: int, in_order: bool) -> str:
        # A single block serves both.
        return f"{'ordered' if in_order and self.num_blocks > 1 else 'shuffled'}-{block}"

    def remove(self) -> None:
        """Deletes the files."""
        if self.num_blocks > 1:
            shutil.rmtree(self.folder, ignore_errors=True)


def _vectorized(
    examples: Iterable[Example], to_ids: ToIds, exchange: Exchange
) -> Iterator[PairBlock]:
    """Yields the pairs in small blocks; workers take turns computing their ids."""
    chunks = _chunks(examples)
    while chunks_of_all := list(islice(chunks, exchange.size)):
        own = chunks_of_all[exchange.rank][0] if exchange.rank < len(chunks_of_all) else []
        for ids, (_, originals) in zip(exchange.ragged(to_ids(own)), chunks_of_all, strict=False):
            yield PairBlock(ids, text_keys(originals))


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


def text_keys(texts: Iterable[str]) -> tf.Tensor:
    """Returns numbers that are equal for texts that differ only in case and white space.

    Args:
        texts: The texts.

    Returns:
        int64 `(num_texts,)`.
    """
    collapsed = (" ".join(text.lower().split()) for text in texts)
    encoded = [text.encode("utf-8", "surrogatepass") for text in collapsed]
    return tf.strings.to_hash_bucket_fast(tf.constant(encoded, tf.string), _NUM_KEYS)

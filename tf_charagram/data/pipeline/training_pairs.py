"""The pairs of a run: read, counted, and turned into ids."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

import keras

from tf_charagram.data.pipeline.corpus import PairCorpus
from tf_charagram.data.pipeline.pair_stream import PairStream
from tf_charagram.data.pipeline.store import IdFilter, PairStore
from tf_charagram.optimizers.exchange import ALONE, Exchange
from tf_charagram.text.ids import ids_function


class TrainingPairs:
    """The pairs of a run and the vectorizer made from their texts.

    Runs that read the same pairs as the same ids can share them. Then the files are read once, and
    the ids are computed once if they all fit into memory.

    Args:
        corpus: The pairs, which are surveyed here.
        make_vectorizer: Makes the vectorizer from all texts and those with added typing errors,
            which it need not read.

    Attributes:
        corpus: The pairs, surveyed.
        vectorizer: Made from all texts.

    Raises:
        CharagramError: Files cannot be read or hold no pairs; the message says why.
    """

    def __init__(
        self,
        corpus: PairCorpus,
        make_vectorizer: Callable[[Iterable[str], Iterable[str]], keras.layers.Layer],
    ) -> None:
        self._shared: PairStore | None = None
        self.corpus = corpus
        texts = corpus.survey()
        self.vectorizer = make_vectorizer(texts, corpus.mistyped())
        # Hashing needs no vocabulary, but the texts are to be counted.
        deque(texts, maxlen=0)

    def stream(
        self,
        vectorizer: keras.layers.Layer,
        folder: Path,
        *,
        batch_size: int,
        mega_batches: int = 1,
        ids_per_char: int = 1,
        max_ids_in_memory: int,
        seed: int = 0,
        file_order_first: bool = False,
        bucket_by_length: bool = False,
        exchange: Exchange = ALONE,
        keep: IdFilter | None = None,
    ) -> PairStream:
        """Returns the batches of a run; their ids are computed when they are opened.

        Args:
            vectorizer: `vectorizer`, or one that has grown by it.
            folder: For ids that do not fit into memory.
            batch_size: As for `PairStream`.
            mega_batches: As for `PairStream`.
            ids_per_char: About how many ids a character has.
            max_ids_in_memory: About how many ids are held in memory at a time.
            seed: Seed of the orders, and of which pairs are in which block.
            file_order_first: As for `PairStream`; the order of the files is then kept, too.
            bucket_by_length: As for `PairStream`.
            exchange: As for `PairStore.fill`.
            keep: As for `PairStore.fill`.
        """
        store = self._shared
        if store is None or vectorizer is not self.vectorizer:
            num_blocks = -(-self.corpus.num_chars * ids_per_char // max_ids_in_memory)
            block_size = -(-self.corpus.num_pairs // num_blocks)
            # Blocks hold whole pools.
            pool_size = batch_size * mega_batches
            store = PairStore(
                self.corpus.num_pairs,
                -(-block_size // pool_size) * pool_size,
                folder,
                seed=seed,
                keeps_order=file_order_first,
            )
        return PairStream(
            store,
            fill=lambda: self._fill(store, vectorizer, exchange, keep),
            batch_size=batch_size,
            mega_batches=mega_batches,
            seed=seed,
            file_order_first=file_order_first,
            bucket_by_length=bucket_by_length,
        )

    def _fill(
        self,
        store: PairStore,
        vectorizer: keras.layers.Layer,
        exchange: Exchange,
        keep: IdFilter | None,
    ) -> None:
        """Computes the ids of the store of a stream, unless another run has done so."""
        if store is self._shared:
            return
        store.fill(self.corpus, ids_function(vectorizer), exchange, keep)
        if store.num_blocks == 1 and vectorizer is self.vectorizer:
            self._shared = store

"""The pairs of a run: read, counted, and turned into ids."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

import keras

from tf_charagram.data.pipeline.corpus import PairCorpus
from tf_charagram.data.pipeline.store import PairStore
from tf_charagram.data.readers.lines import BadLines
from tf_charagram.text.ids import ids_function

logger = logging.getLogger(__name__)


class TrainingPairs:
    """The pairs of a run and the vectorizer made from their texts.

    Runs that read the same pairs as the same ids can share them. Then the files are read once, and
    the ids are computed once if they all fit into memory.

    Args:
        corpus: The pairs, which are surveyed here.
        make_vectorizer: Makes the vectorizer from all texts, which it need not read.
        bad_lines: What is done about bad lines; their number is reported.
        with_typos: Whether the vectorizer sees texts with added typing errors.

    Attributes:
        corpus: The pairs, surveyed.
        vectorizer: Made from all texts.

    Raises:
        CharagramError: Files cannot be read or hold no pairs; the message says why.
    """

    def __init__(
        self,
        corpus: PairCorpus,
        make_vectorizer: Callable[[Iterable[str]], keras.layers.Layer],
        bad_lines: BadLines,
        *,
        with_typos: bool = True,
    ) -> None:
        self._shared: PairStore | None = None
        self.corpus = corpus
        texts = corpus.survey(with_typos=with_typos)
        self.vectorizer = make_vectorizer(texts)
        # Hashing needs no vocabulary, but the texts are to be counted.
        deque(texts, maxlen=0)
        if bad_lines.count:
            logger.warning("%s", bad_lines.summary())

    def make_store(
        self,
        vectorizer: keras.layers.Layer,
        folder: Path,
        *,
        ids_per_char: int,
        max_ids_in_memory: int,
        pool_size: int,
        seed: int,
        keeps_order: bool,
    ) -> PairStore:
        """Returns where the ids are kept; they may be there already.

        Args:
            vectorizer: `vectorizer`, or one that has grown by it.
            folder: For ids that do not fit into memory.
            ids_per_char: About how many ids a character has.
            max_ids_in_memory: About how many ids are held in memory at a time.
            pool_size: Pairs that come together; blocks hold whole pools.
            seed: Seed of which pairs are in which block.
            keeps_order: Whether the order of the files is kept, too.
        """
        if self._shared is not None and vectorizer is self.vectorizer:
            return self._shared
        num_blocks = -(-self.corpus.num_chars * ids_per_char // max_ids_in_memory)
        block_size = -(-self.corpus.num_pairs // num_blocks)
        return PairStore(
            self.corpus.num_pairs,
            -(-block_size // pool_size) * pool_size,
            folder,
            seed=seed,
            keeps_order=keeps_order,
        )

    def fill(self, store: PairStore, vectorizer: keras.layers.Layer) -> None:
        """Computes the ids, unless they are there; arguments as `make_store` has them."""
        if store is self._shared:
            return
        store.fill(self.corpus, ids_function(vectorizer))
        if store.num_blocks == 1 and vectorizer is self.vectorizer:
            self._shared = store

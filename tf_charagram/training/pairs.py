"""The pairs of a run: read, counted, and turned into ids."""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import fields
from pathlib import Path
from typing import Any

import keras

from tf_charagram.config import ParaphraseConfig
from tf_charagram.data.pipeline.corpus import PairCorpus
from tf_charagram.data.pipeline.store import PairStore
from tf_charagram.data.readers.lines import BadLines
from tf_charagram.encoders import encoder_class
from tf_charagram.training.building import ids_function, make_vectorizer
from tf_charagram.training.inputs import pair_sources

logger = logging.getLogger(__name__)

#: Settings that no id depends on.
_NOT_IN_IDS = (
    "eval_data", "out", "epochs", "max_minutes", "batch_size", "mega_batches", "negatives",
    "mask_duplicates", "mask_related", "margin", "l2", "l2_words", "l2_composition", "dense_l2",
    "optimizer", "learning_rate", "momentum", "decay", "clip_norm", "freeze_words", "dim",
    "encoder_options", "evaluations_per_epoch", "checkpoint_every_s", "select", "threads",
)  # fmt: skip


class TrainingPairs:
    """The pairs of a run and the vectorizer made from their texts.

    Runs whose settings differ in nothing that ids depend on can share them; see `fits`. Then the
    files are read once, and the ids are computed once if they all fit into memory.

    Args:
        config: Settings of the run.
        bad_lines: What to do about bad lines.

    Attributes:
        corpus: The pairs, surveyed.
        vectorizer: Made from all texts.

    Raises:
        CharagramError: Files cannot be read or hold no pairs; the message says why.
    """

    def __init__(self, config: ParaphraseConfig, bad_lines: BadLines) -> None:
        self._key = _key(config)
        self._shared: PairStore | None = None
        self.corpus = make_corpus(config, bad_lines)
        # A word with a typing error is an unknown one; its n-grams are known.
        is_words = encoder_class(config.encoder).vectorizer == "words"
        texts = self.corpus.survey(with_typos=not is_words)
        self.vectorizer = make_vectorizer(config, texts)
        # Hashing needs no vocabulary, but the texts are to be counted.
        deque(texts, maxlen=0)
        if bad_lines.count:
            logger.warning("%s", bad_lines.summary())

    def fits(self, config: ParaphraseConfig) -> bool:
        """Returns whether a run with other settings reads the same pairs as the same ids."""
        return self._key == _key(config)

    def make_store(
        self, config: ParaphraseConfig, vectorizer: keras.layers.Layer, folder: Path
    ) -> PairStore:
        """Returns where the ids are kept; they may be there already.

        Args:
            config: Settings of the run.
            vectorizer: `vectorizer`, or one that has grown by it.
            folder: For ids that do not fit into memory.
        """
        if self._shared is not None and vectorizer is self.vectorizer:
            return self._shared
        has_ngrams = "ngrams" in (encoder_class(config.encoder).vectorizer, config.unknown_words)
        ids_per_char = len(config.ngrams) * config.rows_per_ngram if has_ngrams else 1
        num_ids = self.corpus.num_chars * ids_per_char
        num_blocks = -(-num_ids // config.max_ids_in_memory)
        block_size = -(-self.corpus.num_pairs // num_blocks)
        pool_size = int(config.batch_size or 0) * config.mega_batches
        return PairStore(
            self.corpus.num_pairs,
            -(-block_size // pool_size) * pool_size,
            folder,
            seed=config.seed,
            keeps_order=config.file_order_first,
        )

    def fill(self, store: PairStore, vectorizer: keras.layers.Layer) -> None:
        """Computes the ids, unless they are there; arguments as of `make_store`."""
        if store is self._shared:
            return
        store.fill(self.corpus, ids_function(vectorizer))
        if store.num_blocks == 1 and vectorizer is self.vectorizer:
            self._shared = store


def make_corpus(config: ParaphraseConfig, bad_lines: BadLines) -> PairCorpus:
    """Returns the pairs that the settings name, not surveyed yet; arguments as `TrainingPairs`."""
    return PairCorpus(
        pair_sources(config),
        on_bad_line=bad_lines,
        augment_typos=config.augment_typos,
        seed=config.seed,
    )


def _key(config: ParaphraseConfig) -> dict[str, Any]:
    names = [field.name for field in fields(config) if field.name not in _NOT_IN_IDS]
    settings = {name: getattr(config, name) for name in names}
    return {**settings, "encoder": encoder_class(config.encoder).vectorizer}

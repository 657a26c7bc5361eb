"""The tasks `words` and `sentences`: from paraphrase pairs to a run folder with a model."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
from rich.table import Table

from tf_charagram.config import ParaphraseConfig
from tf_charagram.data.pipeline.pair_stream import PairStream
from tf_charagram.data.readers.lines import BadLines
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.evaluation.scores import SetScore, score_names, score_sets
from tf_charagram.evaluation.sets import evaluation_sets
from tf_charagram.files import whole_file, write_json
from tf_charagram.models.embedder import TextEmbedder, unit_rows
from tf_charagram.objectives.negatives import NegativeSampler
from tf_charagram.optimizers import make_optimizer
from tf_charagram.reporting.similarity_tables import neighbor_table, score_table
from tf_charagram.trainers.paraphrase import ParaphraseModel
from tf_charagram.training.building import check_options, encoder_for
from tf_charagram.training.inputs import input_files
from tf_charagram.training.loop import LAST, STEPS_PER_EXECUTION, Scores, TrainingLoop
from tf_charagram.training.metrics import loop_metrics
from tf_charagram.training.pairs import TrainingPairs
from tf_charagram.training.run_folder import RunFolder, run_config
from tf_charagram.training.schedule import set_decay, step_options
from tf_charagram.training.tensorboard import write_projector
from tf_charagram.training.transfer import check_init, grow_from, with_settings_of
from tf_charagram.training.word_vectors import load_pretrained

logger = logging.getLogger(__name__)

_NUM_PROJECTED = 5_000
# Texts among which the sample neighbours are searched.
_NUM_SEARCHED = 20_000
#: What each task is scored on while it trains.
SETS = {"words": ("wordsim",), "sentences": ("sts", "phrases", "wordsim")}


class ParaphraseRun:
    """One training run on paraphrase pairs: the tasks `words` and `sentences`.

    Args:
        config: Its settings.
        resume: Go on with the run in `config.out`.
        overwrite: Replace the run in `config.out`.
        pairs: Pairs to share with other runs; not used if they do not fit.

    Raises:
        CharagramError: Settings, data or folder cannot be used; the message says why.
    """

    def __init__(
        self,
        config: ParaphraseConfig,
        *,
        resume: bool,
        overwrite: bool,
        pairs: TrainingPairs | None = None,
    ) -> None:
        config = with_settings_of(config)
        check_options(config)
        self.config = config
        self.bad_lines = BadLines(config.on_bad_line)
        self.sets = evaluation_sets(
            config.eval_data, kinds=SETS[config.task], on_bad_line=self.bad_lines
        )
        names = [LAST, *score_names(self.sets)]
        if config.select not in names:
            raise ConfigError(unknown_name("set to select by", config.select, names))
        sampler = NegativeSampler(
            config.negatives,
            mask_duplicates=config.mask_duplicates,
            mask_related=config.mask_related,
            seed=config.seed,
        )
        optimizer = make_optimizer(config.optimizer, config.learning_rate, config.momentum)
        if config.init is not None:
            check_init(config.init, config.out)
        self.folder = RunFolder.open(
            config.out, f"{config.task}-{config.encoder}", resume=resume, overwrite=overwrite
        )
        settings = run_config(config.to_dict(), input_files(config))
        self.folder.check_config(settings)
        self.num_words_found: int | None = None
        if pairs is None or not pairs.fits(config):
            pairs = TrainingPairs(config, self.bad_lines)
        self.pairs = pairs
        self.corpus = pairs.corpus
        self.embedder = self._embedder()
        vectorizer = self.embedder.vectorizer
        self.store = pairs.make_store(config, vectorizer, self.folder.pairs)
        self.stream = self._stream()
        model = self._model(sampler, optimizer)
        # Nothing is written, and no old run deleted, before settings and files were found right.
        self.folder.begin(settings)
        pairs.fill(self.store, vectorizer)
        self.loop = TrainingLoop.from_config(
            config, self.embedder, model, self.stream, self._score, self.folder
        )

    def _score(self, check: Callable[[], None]) -> Scores:
        """Scores the weights as they are now."""

        def embed(texts: Sequence[str]) -> np.ndarray:
            check()
            return unit_rows(self.embedder.encode(texts))

        return {score.name: score.value for score in score_sets(embed, self.sets)}

    def _embedder(self) -> TextEmbedder:
        """Builds what is trained."""
        vectorizer = self.pairs.vectorizer
        if self.config.init is not None:
            return TextEmbedder(*grow_from(self.config.init, vectorizer, self._encoder))
        return TextEmbedder(vectorizer, self._encoder(vectorizer))

    def _encoder(self, vectorizer: keras.layers.Layer) -> keras.layers.Layer:
        """Builds the encoder for the ids of a vectorizer."""
        encoder = encoder_for(self.config, vectorizer)
        self.num_words_found = load_pretrained(self.config, vectorizer, encoder, self.bad_lines)
        return encoder

    def _stream(self) -> PairStream:
        return PairStream(
            self.store,
            batch_size=int(self.config.batch_size or 0),
            mega_batches=self.config.mega_batches,
            seed=self.config.seed,
            file_order_first=self.config.file_order_first,
            bucket_by_length=getattr(self.embedder.encoder, "is_padded", False),
        )

    def _model(
        self, sampler: NegativeSampler, optimizer: keras.optimizers.Optimizer
    ) -> ParaphraseModel:
        config = self.config
        set_decay(optimizer, config, self.stream.updates_per_epoch)
        model = ParaphraseModel(self.embedder.encoder)
        model.compile(
            optimizer,
            margin=config.margin,
            negatives=sampler,
            batch_size=config.batch_size if config.mega_batches > 1 else None,
            **step_options(config),
            steps_per_execution=max(1, STEPS_PER_EXECUTION // config.mega_batches),
        )
        return model

    def describe(self) -> str:
        """Says in a line what is trained on."""
        rows = self.embedder.vectorizer.num_rows
        return f"{self.corpus.num_pairs:,} pairs, {rows:,} rows"

    def tables(self) -> list[Table]:
        """Returns tables of the final scores, and of neighbours of some texts."""
        texts = self.corpus.listed[:_NUM_SEARCHED]
        shown = neighbor_table(self.embedder, sample_queries(texts), texts)
        return [score_table(self.scores), shown]

    def run(self, *, resume: bool, export: bool = True) -> dict[str, Any]:
        """Trains, exports, and returns the results that `metrics.json` holds.

        Args:
            resume: Go on from the newest checkpoint.
            export: Whether to leave a SavedModel, the texts, and what the Embedding Projector
                reads; without them a short run costs less.
        """
        start = time.perf_counter()
        if resume:
            self.loop.resume()
        try:
            self.loop.run()
        finally:
            self.store.remove()
        self.loop.release()
        embedder = TextEmbedder.load(self.folder.model, folded=True)
        if export:
            embedder.export(self.folder.saved_model)
            self._write_texts(embedder)
        scores = score_sets(lambda texts: unit_rows(embedder.encode(texts)), self.sets)
        metrics = {
            "task": self.config.task,
            "encoder": self.config.encoder,
            "scores": {score.name: score.value for score in scores},
            "details": [score.to_dict() for score in scores],
            "num_pairs": self.corpus.num_pairs,
            "num_rows": embedder.vectorizer.num_rows,
            "num_parameters": embedder.encoder.count_params(),
            "words_found_in_vectors": self.num_words_found,
            "empty_pairs_left_out": self.corpus.num_empty,
            "bad_lines_skipped": self.bad_lines.count,
            **loop_metrics(self.loop, start),
            "paths": self._paths(export),
        }
        write_json(self.folder.metrics, metrics)
        self.scores: list[SetScore] = scores
        self.embedder = embedder
        return metrics

    def _paths(self, export: bool) -> dict[str, str]:
        """Returns where everything is that a run leaves."""
        exported = ("saved_model", "texts")
        names = ("model", "saved_model", "history", "metrics", "tensorboard", "texts")
        kept = (name for name in names if export or name not in exported)
        return {"run": str(self.folder.path)} | {
            name: str(getattr(self.folder, name)) for name in kept
        }

    def _write_texts(self, embedder: TextEmbedder) -> None:
        """Writes the texts that `neighbors` searches, and some with vectors for TensorBoard."""
        texts = [" ".join(text.split()) for text in self.corpus.listed]
        with whole_file(self.folder.texts, "w") as file:
            file.writelines(f"{text}\n" for text in texts)
        shown = texts[:_NUM_PROJECTED]
        write_projector(self.folder.tensorboard, shown, embedder.encode(shown))


def sample_queries(texts: list[str], number: int = 5) -> list[str]:
    """Returns texts spread evenly over those trained on."""
    step = max(1, len(texts) // number)
    return texts[step // 2 :: step][:number]

"""The tasks `words` and `sentences`: from paraphrase pairs to a run folder with a model."""

from __future__ import annotations

import logging
import resource
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import keras

from tf_charagram.config import TrainConfig
from tf_charagram.data import starter
from tf_charagram.data.corpus import PairCorpus, PairSource
from tf_charagram.data.download import fetch
from tf_charagram.data.lines import BadLines
from tf_charagram.data.pairs import read_pairs
from tf_charagram.data.sources import SOURCES
from tf_charagram.data.store import PairStore
from tf_charagram.data.stream import PairStream
from tf_charagram.errors import ConfigError, DataError, unknown_name
from tf_charagram.evaluation.scores import SetScore, score_names, score_sets
from tf_charagram.evaluation.sets import STARTER, evaluation_sets
from tf_charagram.files import whole_file, write_json
from tf_charagram.models.embedder import TextEmbedder, unit_rows
from tf_charagram.models.paraphrase import ParaphraseModel
from tf_charagram.models.storage import model_files
from tf_charagram.objectives.negatives import NegativeSampler
from tf_charagram.optimizers import make_optimizer
from tf_charagram.runs import RunFolder, run_config
from tf_charagram.training.building import (
    check_options,
    encoder_for,
    ids_function,
    make_vectorizer,
)
from tf_charagram.training.loop import LAST, STEPS_PER_EXECUTION, TrainingLoop, total_steps
from tf_charagram.training.tensorboard import write_projector
from tf_charagram.training.transfer import check_init, grow_from
from tf_charagram.training.word_vectors import load_pretrained

logger = logging.getLogger(__name__)

_NUM_PROJECTED = 5_000
#: What each task is scored on while it trains.
_KINDS = {"words": ("wordsim",), "sentences": ("sts", "phrases", "wordsim")}


class ParaphraseRun:
    """One training run on paraphrase pairs: the tasks `words` and `sentences`.

    Args:
        config: Its settings.
        resume: Go on with the run in `config.out`.
        overwrite: Replace the run in `config.out`.

    Raises:
        CharagramError: Settings, data or folder cannot be used; the message says why.
    """

    def __init__(self, config: TrainConfig, *, resume: bool, overwrite: bool) -> None:
        check_options(config)
        self.config = config
        self.bad_lines = BadLines(config.on_bad_line)
        self.sets = evaluation_sets(config.eval_data, kinds=_KINDS[config.task])
        names = [LAST, *score_names(self.sets)]
        if config.select not in names:
            raise ConfigError(unknown_name("set to select by", config.select, names))
        sampler = NegativeSampler(
            config.negatives,
            mask_duplicates=config.mask_duplicates,
            mask_related=config.mask_related,
            seed=config.seed,
        )
        optimizer = make_optimizer(config.optimizer, config.learning_rate)
        data_files = [path for name in _data(config) if (path := data_file(name))]
        if config.word_vectors is not None:
            data_files.append(Path(config.word_vectors))
        if config.init is not None:
            check_init(config.init, config.out)
            data_files += model_files(config.init)
        self.folder = RunFolder.open(
            config.out, f"{config.task}-{config.encoder}", resume=resume, overwrite=overwrite
        )
        settings = run_config(config.to_dict(), data_files)
        self.folder.check_config(settings)
        self.num_words_found: int | None = None
        self.corpus = PairCorpus(
            self._sources(),
            on_bad_line=self.bad_lines,
            augment_typos=config.augment_typos,
            seed=config.seed,
        )
        self.embedder = self._embedder()
        self.store = self._store()
        self.stream = self._stream()
        model = self._model(sampler, optimizer)
        # Nothing is written, and no old run deleted, before all that can be wrong was found right.
        self.folder.begin(settings)
        self.store.fill(self.corpus, ids_function(self.embedder.vectorizer))
        self.loop = TrainingLoop(
            self.embedder, model, self.stream, self.sets, self.folder, config.epochs,
            config.evaluations_per_epoch, config.select, config.checkpoint_every_s,
            config.max_minutes,
        )  # fmt: skip

    def _sources(self) -> list[PairSource]:
        config = self.config
        names = _data(config)
        weights = config.data_weights or [1.0] * len(names)

        def source(name: str, weight: float) -> PairSource:
            path = data_file(name)
            if path is None:
                return PairSource(lambda _: starter.train_pairs(), weight)
            return PairSource(
                lambda bad_lines: read_pairs(
                    path,
                    on_bad_line=bad_lines,
                    min_score=config.min_score,
                    entailment=config.entailment or None,
                ),
                weight,
            )

        return [source(name, weight) for name, weight in zip(names, weights, strict=True)]

    def _embedder(self) -> TextEmbedder:
        """Builds what is trained, from the texts in one pass."""
        config = self.config
        texts = self.corpus.survey()
        vectorizer = make_vectorizer(config, texts)
        for _ in texts:
            """Hashing needs no vocabulary, but the texts are to be counted."""
        make = partial(encoder_for, config)
        if config.init is not None:
            return TextEmbedder(*grow_from(config.init, vectorizer, make))
        encoder = make(vectorizer)
        self.num_words_found = load_pretrained(config, vectorizer, encoder)
        return TextEmbedder(vectorizer, encoder)

    def _store(self) -> PairStore:
        config, corpus = self.config, self.corpus
        kind = self.embedder.encoder.vectorizer
        ids_per_char = len(config.ngrams) * config.rows_per_ngram if kind == "ngrams" else 1
        num_ids = corpus.num_chars * ids_per_char
        num_blocks = -(-num_ids // config.max_ids_in_memory)
        block_size = -(-corpus.num_pairs // num_blocks)
        return PairStore(
            corpus.num_pairs,
            -(-block_size // self._pool_size) * self._pool_size,
            self.folder.pairs,
            seed=config.seed,
            keeps_order=config.file_order_first,
        )

    def _stream(self) -> PairStream:
        return PairStream(
            self.store,
            batch_size=self._pool_size,
            seed=self.config.seed,
            file_order_first=self.config.file_order_first,
            bucket_by_length=getattr(self.embedder.encoder, "is_padded", False),
        )

    @property
    def _pool_size(self) -> int:
        return int(self.config.batch_size or 0) * self.config.mega_batches

    def _model(
        self, sampler: NegativeSampler, optimizer: keras.optimizers.Optimizer
    ) -> ParaphraseModel:
        config = self.config
        if config.decay == "linear":
            steps = total_steps(self.stream, config.epochs) * config.mega_batches
            optimizer.learning_rate = keras.optimizers.schedules.PolynomialDecay(
                config.learning_rate, steps, end_learning_rate=0.0
            )
        model = ParaphraseModel(self.embedder.encoder)
        model.compile(
            optimizer,
            margin=config.margin,
            negatives=sampler,
            mega_batches=config.mega_batches,
            l2=config.l2,
            l2_words=config.l2_words,
            l2_composition=config.l2_composition,
            dense_l2=config.dense_l2,
            clip_norm=config.clip_norm,
            steps_per_execution=max(1, STEPS_PER_EXECUTION // config.mega_batches),
        )
        return model

    def run(self, *, resume: bool) -> dict[str, Any]:
        """Trains, exports, and returns the results that `metrics.json` holds."""
        start = time.perf_counter()
        if resume:
            self.loop.resume()
        progress = self.loop.run()
        self.store.remove()
        embedder = TextEmbedder.load(self.folder.model)
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
            "steps": self.loop.step,
            "pairs_per_second": round(progress.pairs_per_second, 1),
            "training_seconds": round(progress.seconds, 2),
            "seconds": round(time.perf_counter() - start, 2),
            "peak_memory_mb": peak_memory_mb(),
            "paths": {
                "run": str(self.folder.path),
                "model": str(self.folder.model),
                "saved_model": str(self.folder.saved_model),
                "history": str(self.folder.history),
                "metrics": str(self.folder.metrics),
                "tensorboard": str(self.folder.tensorboard),
                "texts": str(self.folder.texts),
            },
        }
        write_json(self.folder.metrics, metrics)
        self.scores: list[SetScore] = scores
        self.embedder = embedder
        return metrics

    def _write_texts(self, embedder: TextEmbedder) -> None:
        """Writes the texts that `neighbors` searches, and some with vectors for TensorBoard."""
        texts = [" ".join(text.split()) for text in self.corpus.listed]
        with whole_file(self.folder.texts, "w") as file:
            file.writelines(f"{text}\n" for text in texts)
        shown = texts[:_NUM_PROJECTED]
        write_projector(self.folder.tensorboard, shown, embedder.encode(shown))


def _data(config: TrainConfig) -> tuple[str, ...]:
    """Returns the `--data` values; words have a default.

    Raises:
        ConfigError: There is none, and the task has no default.
    """
    if config.data:
        return config.data
    if config.task != "words":
        raise ConfigError(
            f"The task '{config.task}' needs --data: files of text pairs, two tab-separated texts "
            "a line. For a first try, `--data starter`: pairs of words."
        )
    return (STARTER,)


def data_file(name: str) -> Path | None:
    """Returns the file of a `--data` value, downloaded if need be; `None` for the starter set.

    Raises:
        DataError: There is no such file and no such name.
    """
    if name == STARTER:
        return None
    path = Path(name)
    if path.is_file():
        return path
    source = SOURCES.get(name)
    if source is not None and source.kind == "pairs":
        return fetch(name)
    if path.parent != Path(".") or path.suffix in (".tsv", ".txt", ".gz", ".csv"):
        raise DataError(path, "no such file")
    names = [STARTER, *(key for key, value in SOURCES.items() if value.kind == "pairs")]
    raise ConfigError(unknown_name("file or data set", name, names))


def sample_queries(texts: list[str], number: int = 5) -> list[str]:
    """Returns texts spread evenly over those trained on."""
    step = max(1, len(texts) // number)
    return texts[step // 2 :: step][:number]


def peak_memory_mb() -> float:
    """Returns the largest resident size of this process so far, in MB (10^6 bytes)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak * (1 if sys.platform == "darwin" else 1024) / 1e6, 1)

"""The task `words`: from paraphrase pairs to a run folder with a model."""

from __future__ import annotations

import logging
import resource
import sys
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import keras

from tf_charagram.config import TrainConfig
from tf_charagram.data import starter
from tf_charagram.data.corpus import PairCorpus
from tf_charagram.data.download import fetch
from tf_charagram.data.lines import BadLines
from tf_charagram.data.pairs import read_pairs
from tf_charagram.data.sources import SOURCES
from tf_charagram.data.stream import PairStream
from tf_charagram.errors import ConfigError, DataError, unknown_name
from tf_charagram.evaluation.scores import SetScore, score_sets
from tf_charagram.evaluation.sets import STARTER, evaluation_sets
from tf_charagram.files import whole_file, write_json
from tf_charagram.models.embedder import TextEmbedder, unit_rows
from tf_charagram.models.paraphrase import ParaphraseModel
from tf_charagram.objectives.negatives import NegativeSampler
from tf_charagram.optimizers import make_optimizer
from tf_charagram.runs import RunFolder, run_config
from tf_charagram.training.building import (
    check_options,
    make_encoder,
    make_vectorizer,
    vectorize,
)
from tf_charagram.training.loop import LAST, STEPS_PER_EXECUTION, TrainingLoop
from tf_charagram.training.tensorboard import write_projector

logger = logging.getLogger(__name__)

_NUM_PROJECTED = 5_000
_NUM_LISTED = 100_000


class WordsRun:
    """One training run on paraphrase pairs.

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
        self.sets = evaluation_sets(config.eval_data)
        names = [LAST, *(pairs.name for pairs in self.sets)]
        if config.select not in names:
            raise ConfigError(unknown_name("set to select by", config.select, names))
        sampler = NegativeSampler(
            config.negatives, mask_duplicates=config.mask_duplicates, seed=config.seed
        )
        optimizer = make_optimizer(config.optimizer, config.learning_rate)
        data_files = [path for name in config.data or (STARTER,) if (path := data_file(name))]
        self.folder = RunFolder.open(
            config.out, f"{config.task}-{config.encoder}", resume=resume, overwrite=overwrite
        )
        settings = run_config(config.to_dict(), data_files)
        self.folder.check_config(settings)
        self.corpus = PairCorpus.from_pairs(self._pairs())
        embedder, model, stream = self._build(sampler, optimizer)
        # Nothing is written, and no old run deleted, before all that can be wrong was found right.
        self.folder.begin(settings)
        self.loop = TrainingLoop(
            embedder, model, stream, self.sets, self.folder,
            config.epochs, config.evaluations_per_epoch, config.select, config.checkpoint_every_s,
        )  # fmt: skip

    def _pairs(self) -> Iterator[tuple[str, str]]:
        for name in self.config.data or (STARTER,):
            path = data_file(name)
            if path is None:
                yield from starter.train_pairs()
            else:
                yield from read_pairs(
                    path,
                    on_bad_line=self.bad_lines,
                    min_score=self.config.min_score,
                    entailment=self.config.entailment or None,
                )

    def _build(
        self, sampler: NegativeSampler, optimizer: keras.optimizers.Optimizer
    ) -> tuple[TextEmbedder, ParaphraseModel, PairStream]:
        config, corpus = self.config, self.corpus
        vectorizer = make_vectorizer(config, corpus.texts)
        encoder = make_encoder(config, vectorizer.num_rows)
        model = ParaphraseModel(encoder)
        model.compile(
            optimizer,
            margin=config.margin,
            negatives=sampler,
            l2=config.l2,
            dense_l2=config.dense_l2,
            clip_norm=config.clip_norm,
            steps_per_execution=STEPS_PER_EXECUTION,
        )
        stream = PairStream(
            vectorize(vectorizer, corpus.texts),
            corpus.text_keys(),
            corpus.left,
            corpus.right,
            batch_size=config.batch_size,
            seed=config.seed,
            file_order_first=config.file_order_first,
        )
        return TextEmbedder(vectorizer, encoder), model, stream

    def run(self, *, resume: bool) -> dict[str, Any]:
        """Trains, exports, and returns the results that `metrics.json` holds."""
        start = time.perf_counter()
        if resume:
            self.loop.resume()
        progress = self.loop.run()
        embedder = TextEmbedder.load(self.folder.model)
        embedder.export(self.folder.saved_model)
        self._write_texts(embedder)
        scores = score_sets(lambda texts: unit_rows(embedder.encode(texts)), self.sets)
        metrics = {
            "task": self.config.task,
            "encoder": self.config.encoder,
            "scores": {score.name: score.spearman for score in scores},
            "details": [score.to_dict() for score in scores],
            "num_pairs": len(self.corpus),
            "num_texts": len(self.corpus.texts),
            "num_rows": embedder.vectorizer.num_rows,
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
        texts = [" ".join(text.split()) for text in self.corpus.texts[:_NUM_LISTED]]
        with whole_file(self.folder.texts, "w") as file:
            file.writelines(f"{text}\n" for text in texts)
        shown = texts[:_NUM_PROJECTED]
        write_projector(self.folder.tensorboard, shown, embedder.encode(shown))


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


def sample_queries(corpus: PairCorpus, number: int = 5) -> list[str]:
    """Returns texts spread evenly over those trained on."""
    step = max(1, len(corpus.texts) // number)
    return list(chain(corpus.texts[step // 2 :: step]))[:number]


def peak_memory_mb() -> float:
    """Returns the largest resident size of this process so far, in MB (10^6 bytes)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak * (1 if sys.platform == "darwin" else 1024) / 1e6, 1)

"""Tasks that train an embedder; `words` and `sentences` do so on paraphrase pairs."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import keras
import numpy as np
from rich.table import Table

from tf_charagram._files.writing import whole_file
from tf_charagram.data._tables.lines import BadLines
from tf_charagram.data.sets import evaluation_sets
from tf_charagram.encoders.base import is_padded
from tf_charagram.evaluation._scores.scores import SetScore, score_names, score_sets
from tf_charagram.evaluation._scores.tables import score_table
from tf_charagram.losses.negatives import NegativeSampler
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.tasks.paraphrase._corpus.corpus import (
    PairCorpus,
    ReadPairs,
    pairs_files,
    pairs_reader,
)
from tf_charagram.tasks.paraphrase._corpus.pair_stream import Pairs, PairStream, write_pairs
from tf_charagram.tasks.paraphrase.model import ParaphraseModel
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.text._algorithm.tensors import ids_function
from tf_charagram.training._loop.building import make_vectorizer
from tf_charagram.training._loop.loop import STEPS_PER_EXECUTION
from tf_charagram.training._loop.run_folder import RunFolder
from tf_charagram.training.step_model import StepModel
from tf_charagram.training.task import Scoring, Task


class EmbedderSets:
    """The part of a task that builds an embedder and scores it on sets of scored pairs.

    Comes before `Task` among the bases of a class, which defines the training data.

    Attributes:
        set_groups: Groups of the sets it is scored on while it trains, such as `"wordsim"`.
        trainer_class: Class of the model that trains the encoder.
        steps_per_execution: Steps without returning to Python.
    """

    model_class = TextEmbedder
    num_resamples = 0
    set_groups: ClassVar[tuple[str, ...]]
    trainer_class: ClassVar[Any]
    steps_per_execution: ClassVar[int] = STEPS_PER_EXECUTION

    config: Any
    bad_lines: BadLines
    encoder_on: Any
    _vectorizer: Any

    def build(self) -> TextEmbedder:
        """Builds the embedder."""
        return TextEmbedder(*self.encoder_on(self._vectorizer))

    def find_sets(self) -> list[str]:
        """Reads the sets; returns their names and the names of their means."""
        self.sets = evaluation_sets(
            self.config.eval_data, kinds=self.set_groups, on_bad_line=self.bad_lines
        )
        return score_names(self.sets)

    def make_trainer(self, model: TextEmbedder, optimizer: keras.optimizers.Optimizer) -> StepModel:
        """Returns the compiled model that trains the encoder."""
        config = self.config
        negatives = NegativeSampler(
            config.negatives, mask_duplicates=config.mask_duplicates, seed=config.seed
        )
        trainer = self.trainer_class(model.encoder, has_weights=model.vectorizer.has_weights)
        trainer.compile(
            optimizer,
            margin=config.margin,
            negatives=negatives,
            **self.objective(),
            **config.update_options(),
            steps_per_execution=self.steps_per_execution,
        )
        return trainer

    @abstractmethod
    def objective(self) -> dict[str, Any]:
        """Returns the arguments of the trainer's `compile` that only this task has."""

    @abstractmethod
    def texts(self) -> Sequence[str]:
        """Returns distinct texts of the training data; call `read` first."""

    def load(self, path: str | Path) -> TextEmbedder:
        """Loads the embedder with folded n-grams, because it embeds many texts."""
        return TextEmbedder.load(path, folded=True)

    def score(self, model: TextEmbedder, scoring: Scoring) -> dict[str, SetScore]:
        """Scores an embedder on the sets; returns scores by name, with the means of groups."""

        def embed(texts: Sequence[str]) -> np.ndarray:
            scoring.check()
            return model.encode(texts, normalize=True)

        scores = score_sets(
            embed, self.sets, num_resamples=scoring.num_resamples, seed=scoring.seed
        )
        return {score.name: score for score in scores}

    def value(self, score: SetScore) -> float | None:
        """Returns the correlation x 100."""
        return score.value

    def tables(self, scores: Mapping[str, SetScore]) -> list[Table]:
        """Returns a table with one row per set."""
        return [score_table(list(scores.values()))]

    def write_extras(self, folder: RunFolder) -> list[str]:
        """Writes the texts for `neighbors`."""
        with whole_file(folder.texts, "w") as file:
            file.writelines(f"{' '.join(text.split())}\n" for text in self.texts())
        return ["texts"]


class _ParaphraseTask(EmbedderSets, Task):
    """Trains an embedder on pairs with negatives from the batch (Charagram, appendix A).

    Attributes:
        corpus: The pairs; set by `read`.
    """

    example_columns = ("text1", "text2", "label")

    trainer_class = ParaphraseModel

    config: ParaphraseConfig
    corpus: PairCorpus

    @staticmethod
    def files_of(name: str) -> tuple[Path, ...]:
        """Returns the files of a `--data` value: a file, two aligned ones, or a data set.

        Raises:
            ConfigError: The name is unknown.
            DataError: A file is missing, or a download failed.
        """
        return pairs_files(name)

    def read(self) -> None:
        """Reads the pairs of all `--data` values and makes the vectorizer from their texts."""
        names = self.data_names(self.config)
        columns, header = self.config.columns, self.config.header
        self.read_pairs([pairs_reader(name, columns=columns, header=header) for name in names])

    def read_pairs(self, sources: Sequence[ReadPairs]) -> None:
        """Reads the pairs of some sources for the vectorizer."""
        config = self.config
        self.corpus = PairCorpus(
            sources,
            self.bad_lines,
            weights=config.data_weights,
            typos=config.typos,
            seed=config.seed,
        )
        texts = self.corpus.survey()
        # N-grams of the typos in training get rows, too.
        self._vectorizer = make_vectorizer(config, texts, self.corpus.texts_with_typos())
        # A hashing vectorizer reads no texts, but the survey must finish.
        deque(texts, maxlen=0)

    def make_stream(self, model: TextEmbedder, folder: RunFolder) -> PairStream:
        """Returns the batches; their ids are computed when the stream is opened."""
        config = self.config

        def load() -> Pairs:
            to_ids = ids_function(model.vectorizer.training_ids)
            return write_pairs(self.corpus, to_ids, folder.path)

        return PairStream(
            self.corpus.num_pairs,
            load,
            batch_size=int(config.batch_size or 0),
            seed=config.seed,
            file_order_first=config.order == "file_first",
            bucket_by_length=config.order == "by_length" and is_padded(model.encoder),
        )

    def objective(self) -> dict[str, Any]:
        """Returns the loss of pairs."""
        return {"loss": self.config.loss_options}

    def describe_data(self) -> str:
        """Returns a short description of the training data."""
        return f"{self.corpus.num_pairs:,} pairs"

    def texts(self) -> list[str]:
        """Returns the first distinct texts of the pairs, for searching after training."""
        return self.corpus.listed

    def facts(self) -> dict[str, Any]:
        """Returns the facts about the pairs for `metrics.json`."""
        return {
            "num_pairs": self.corpus.num_pairs,
            "words_found_in_vectors": self.num_words_found,
            "empty_pairs_left_out": self.corpus.num_empty,
        }


class Words(_ParaphraseTask):
    """Embeds words (Charagram, section 4.1)."""

    trial_epochs = 1.0
    set_groups = ("wordsim",)


class Sentences(_ParaphraseTask):
    """Embeds phrases and sentences (Charagram, section 4.1; Universal, section 3; CSE)."""

    default_data = ()
    data_help = (
        "tables with two columns of texts, such as text1 and text2. For a first try, use "
        "`--data starter`, pairs of words"
    )
    trial_epochs = 5.0
    set_groups = ("sts", "phrases", "wordsim")

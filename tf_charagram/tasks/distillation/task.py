"""The task `distill`: an embedder learns from the vectors of a teacher, and from pairs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tf_charagram._files.writing import check_is_file
from tf_charagram.data._tables.lines import BadLines
from tf_charagram.data.readers.misspellings import read_misspellings
from tf_charagram.data.typos import Typos
from tf_charagram.errors import ConfigError
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.tasks.distillation._teachers.lines import MeanOfTeachers, TeacherLines
from tf_charagram.tasks.distillation._teachers.step import DistillModel
from tf_charagram.tasks.distillation._teachers.stream import DistillStream, PairTexts
from tf_charagram.tasks.distillation._teachers.vectors import read_vectors
from tf_charagram.tasks.distillation.settings import DistillConfig
from tf_charagram.tasks.paraphrase._corpus.corpus import PairCorpus, pairs_files, pairs_reader
from tf_charagram.tasks.paraphrase.task import EmbedderSets
from tf_charagram.training._loop.building import make_vectorizer
from tf_charagram.training._loop.loop import STEPS_PER_EXECUTION
from tf_charagram.training._loop.run_folder import RunFolder
from tf_charagram.training.task import ConfigT, Task

_NUM_LISTED = 100_000


class Distill(EmbedderSets, Task):
    """Trains an embedder to give the same cosines as its teacher.

    If `dim` is smaller than the teacher's width, the teacher's vectors are projected onto their
    principal directions.

    Attributes:
        lines: The lines and their vectors; set by `read`.
    """

    default_data = ()
    data_help = "files of texts, one per line"
    trial_epochs = 1.0
    set_groups = ("sts", "phrases", "wordsim")
    trainer_class = DistillModel
    # Steps are long, so return to Python after a few of them.
    steps_per_execution = STEPS_PER_EXECUTION // 5

    config: DistillConfig
    lines: TeacherLines

    def __init__(self, config: DistillConfig, bad_lines: BadLines) -> None:
        super().__init__(config, bad_lines)
        self._judge: MeanOfTeachers | None = None
        self._pairs: PairTexts | None = None

    @classmethod
    def prepared(cls, config: ConfigT) -> ConfigT:
        """Returns settings whose `dim` defaults to the width of the teacher.

        Raises:
            ConfigError: There is no teacher, or not one for each file.
            DataError: A file of the teacher cannot be read.
            RunError: `config.init` is not a model, or is damaged.
        """
        if config.dim is not None:
            return config
        first, *_ = _vector_files(config, "teacher")
        return config.replace(dim=int(read_vectors(first).shape[1]))

    @classmethod
    def input_files(cls, config: Any) -> list[Path]:
        """Returns all files that the weights depend on."""
        vectors = (*_vector_files(config, "teacher"), *_vector_files(config, "second_teacher"))
        names = (*cls.data_names(config), *vectors, config.misspellings)
        files = [Path(name) for name in names if name is not None]
        for path in files:
            check_is_file(path)
        files += [path for name in config.pairs for path in pairs_files(name)]
        return [*files, *cls.model_inputs(config)]

    def read(self) -> None:
        """Reads lines, vectors and pairs."""
        config = self.config
        self.lines = self._taught_by("teacher")
        if config.second_teacher:
            self._judge = MeanOfTeachers(self.lines, self._taught_by("second_teacher"))
        if config.pairs:
            corpus = self._corpus()
            # The survey counts the pairs, which iterating over them needs.
            for _ in corpus.survey():
                pass
            self._pairs = PairTexts.of(example.original for example in corpus)
        self._errors = Typos(config.typos, self._misspellings(), config.error_kinds)
        # As many typos as in one epoch, but other typos.
        mistyped = self._errors.samples(self.lines.texts, config.seed)
        self._vectorizer = make_vectorizer(config, self._texts_to_count(), mistyped)

    def _taught_by(self, name: str) -> TeacherLines:
        """Returns the lines with the vectors of the teacher in the setting `name`."""
        return TeacherLines(self.data_names(self.config), _vector_files(self.config, name))

    def _corpus(self) -> PairCorpus:
        config = self.config
        columns, header = config.columns, config.header
        sources = [pairs_reader(name, columns=columns, header=header) for name in config.pairs]
        return PairCorpus(sources, self.bad_lines, weights=config.data_weights, seed=config.seed)

    def _misspellings(self) -> dict[str, list[str]]:
        forms: dict[str, list[str]] = defaultdict(list)
        if self.config.misspellings is not None:
            misspellings = read_misspellings(self.config.misspellings, on_bad_line=self.bad_lines)
            for wrong, corrections in misspellings:
                for correction in corrections:
                    forms[correction.lower()].append(wrong)
        return forms

    def _texts_to_count(self) -> Iterator[str]:
        yield from self.lines.texts
        if self._pairs is not None:
            yield from self._pairs.lefts
            yield from self._pairs.rights

    def texts(self) -> Sequence[str]:
        """Returns the first distinct lines, for searching after training."""
        return list(dict.fromkeys(self.lines.texts))[:_NUM_LISTED]

    def make_stream(self, model: TextEmbedder, folder: RunFolder) -> DistillStream:
        """Returns the batches."""
        config = self.config
        return DistillStream(
            self.lines,
            self._pairs,
            model.vectorizer,
            batch_size=int(config.batch_size or 0),
            errors=self._errors,
            neighbor_batch_size=config.neighbor_batch_size,
            judge=self._judge,
            dim=model.dim,
            seed=config.seed,
        )

    def objective(self) -> dict[str, Any]:
        """Returns the weights of the losses; a loss without data has the weight 0."""
        config = self.config
        return {
            "similarity_weight": config.similarity_weight,
            "temperature": config.temperature,
            "neighbors_weight": config.neighbors_weight if config.neighbor_batch_size else 0.0,
            "pairs_weight": 0.0 if self._pairs is None else config.pairs_weight,
        }

    def describe_data(self) -> str:
        """Returns a short description of the training data."""
        pairs = f", {len(self._pairs.lefts):,} pairs" if self._pairs is not None else ""
        return f"{len(self.lines):,} texts{pairs}"

    def facts(self) -> dict[str, Any]:
        """Returns the facts about the data for `metrics.json`."""
        return {
            "num_texts": len(self.lines),
            "num_pairs": 0 if self._pairs is None else len(self._pairs.lefts),
            "teacher_dim": self.lines.dim,
        }


def _vector_files(config: Any, name: str) -> tuple[str, ...]:
    """Returns the files of vectors in the setting `name`.

    Raises:
        ConfigError: There is no first teacher, or not one file for each file of texts.
    """
    names: tuple[str, ...] = getattr(config, name)
    if name == "teacher" and not names:
        raise ConfigError("The task 'distill' needs --teacher: files of vectors, .npy or .parquet.")
    if names and len(names) != len(config.data):
        raise ConfigError(
            f"`{name}` must have one file of vectors for each --data, in the same order. Received: "
            f"{len(names)} for {len(config.data)} --data."
        )
    return names

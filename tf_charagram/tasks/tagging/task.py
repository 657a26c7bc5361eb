"""The task `pos`: a tagger is trained on tagged sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from rich.markup import escape
from rich.table import Table

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.pipeline.stream import ExampleStream
from tf_charagram.data.starter import STARTER, starter_file
from tf_charagram.encoders import encoder_class
from tf_charagram.errors import ConfigError
from tf_charagram.files.writing import whole_file
from tf_charagram.layers.ragged import gather_ragged
from tf_charagram.tasks.labelled import LabelledTask
from tf_charagram.tasks.tagging.capitals import has_capital
from tf_charagram.tasks.tagging.head import TaggingHead
from tf_charagram.tasks.tagging.reader import TaggedSentence, read_tagged
from tf_charagram.tasks.tagging.scores import TaggingScore, score_tags
from tf_charagram.tasks.tagging.settings import TaggingConfig
from tf_charagram.tasks.tagging.tables import tagging_tables
from tf_charagram.tasks.tagging.tagger import Tagger
from tf_charagram.tasks.tagging.trainer import TaggingModel
from tf_charagram.tasks.tagging.treebank import is_treebank_split, read_treebank, treebank_files
from tf_charagram.text.tensors import ids_function, string_tensor
from tf_charagram.training.building import make_vectorizer
from tf_charagram.training.run_folder import RunFolder
from tf_charagram.training.task import Scoring


@dataclass(frozen=True)
class TaggedSet:
    """Sentences to score on.

    Attributes:
        name: Name of the set.
        sentences: Its sentences.
    """

    name: str
    sentences: list[TaggedSentence]


class Tagging(LabelledTask):
    """The task `pos`: each word of a sentence gets a tag.

    Each batch holds the ids of its distinct words once, and the position of each word.

    Attributes:
        known: The words that were seen in training.
    """

    model_class = Tagger
    trial_epochs = 5.0

    config: TaggingConfig

    def __init__(self, config: TaggingConfig, bad_lines: BadLines) -> None:
        if encoder_class(config.encoder).vectorizer == "words":
            raise ConfigError(
                "The task 'pos' composes words from characters: choose the encoder charagram, "
                f"char_cnn or char_lstm. Received: encoder={config.encoder}"
            )
        super().__init__(config, bad_lines)
        self.known: frozenset[str] = frozenset()

    @staticmethod
    def files_of(name: str) -> tuple[Path, ...]:
        """Returns the files of a `--data` or `--eval-data`; see `Task.files_of`."""
        is_split = is_treebank_split(name)
        return treebank_files(name) if is_split else LabelledTask.files_of(name)

    def read_set(self, path: str, split: str, name: str) -> TaggedSet:
        """Reads a file, the starter set, or sections of the Penn Treebank; see `LabelledTask`."""
        if not is_treebank_split(path):
            return super().read_set(path, split, name)
        return TaggedSet(name, list(read_treebank(path, on_bad_line=self.bad_lines)))

    def read_file(self, path: Path, split: str, name: str) -> TaggedSet:
        """Reads tagged sentences; a file is one split."""
        sentences = read_tagged(path, column=self.config.column, on_bad_line=self.bad_lines)
        return TaggedSet(name, list(sentences))

    def starter_set(self, split: str) -> TaggedSet:
        """Returns tagged sentences."""
        sentences = read_tagged(starter_file("tagged", split))
        return TaggedSet(f"{STARTER}.{split}", list(sentences))

    def take_examples(self, examples: Sequence[TaggedSet]) -> None:
        """Takes the sentences to train on; see `LabelledTask.take_examples`."""
        self.sentences = list(chain(*(tagged.sentences for tagged in examples)))
        self.words = list(dict.fromkeys(chain(*(sentence.words for sentence in self.sentences))))
        self.tags = sorted(set(chain(*(sentence.tags for sentence in self.sentences))))
        self.known = frozenset(self.words)

    def restore(self, folder: RunFolder) -> None:
        """Reads the words that were seen in training, where the run has left them."""
        if folder.texts.is_file():
            self.known = frozenset(folder.texts.read_text(encoding="utf-8").split("\n"))

    def build(self) -> Tagger:
        """Builds the tagger."""
        config = self.config
        # As often as they occur, for n-grams are counted over the text.
        words = chain(*(sentence.words for sentence in self.sentences))
        lowercase = bool(config.use_capitals)
        vectorizer = make_vectorizer(config, words, lowercase=lowercase)
        vectorizer, encoder = self.encoder_on(vectorizer)
        head = TaggingHead(
            labels=self.tags,
            word_dim=encoder.dim,
            lstm_dim=config.lstm_dim,
            hidden_dim=config.hidden_dim,
            use_capitals=lowercase,
            seed=config.seed,
        )
        return Tagger(vectorizer, encoder, head)

    def make_stream(self, model: Tagger, folder: RunFolder) -> ExampleStream:
        """Returns the batches: ids of distinct words, their capitals, positions of words, tags."""
        ids = ids_function(model.vectorizer)(self.words)
        capitals = has_capital(string_tensor(self.words))
        number = {word: i for i, word in enumerate(self.words)}
        label = {tag: i for i, tag in enumerate(self.tags)}
        lengths = np.array([len(sentence.words) for sentence in self.sentences])
        words = tf.RaggedTensor.from_row_lengths(
            np.array(
                [number[word] for sentence in self.sentences for word in sentence.words], np.int32
            ),
            lengths,
        )
        labels = words.with_values(
            np.array([label[tag] for sentence in self.sentences for tag in sentence.tags], np.int32)
        )

        def batch(
            chosen: tf.Tensor,
        ) -> tuple[tf.RaggedTensor, tf.Tensor, tf.RaggedTensor, tf.Tensor]:
            batch_words = gather_ragged(words, chosen)
            distinct, positions = tf.unique(batch_words.values)
            distinct = tf.cast(distinct, tf.int64)
            return (
                gather_ragged(ids, distinct),
                tf.gather(capitals, distinct),
                batch_words.with_values(positions),
                gather_ragged(labels, chosen).values,
            )

        return ExampleStream(
            len(self.sentences), batch, batch_size=int(self.config.batch_size or 0),
            unit="sentences", seed=self.config.seed,
            lengths=lengths if self.config.batches_by_length else None,
        )  # fmt: skip

    def make_trainer(self, model: Tagger, optimizer: keras.optimizers.Optimizer) -> TaggingModel:
        """Returns the compiled model that trains encoder and head."""
        trainer = TaggingModel(model.encoder, model.head)
        trainer.compile(optimizer, l2_head=self.config.l2_head, **self.config.update_options())
        return trainer

    def describe_data(self) -> str:
        """Says in a few words what is trained on."""
        return (
            f"{len(self.sentences):,} sentences, {len(self.words):,} distinct words, "
            f"{len(self.tags)} tags"
        )

    def write_extras(self, model: Tagger, folder: RunFolder) -> list[str]:
        """Writes the words that were seen in training, which `restore` reads."""
        with whole_file(folder.texts, "w") as file:
            file.writelines(f"{word}\n" for word in self.words)
        return []

    def score_set(self, model: Tagger, examples: TaggedSet, scoring: Scoring) -> TaggingScore:
        """Compares predicted tags with those of people."""
        words = [list(sentence.words) for sentence in examples.sentences]
        predicted = [[token.tag for token in tokens] for tokens in model.tag(words)]
        gold = [sentence.tags for sentence in examples.sentences]
        return score_tags(
            gold, predicted, words, self.known, known_tags=model.head.labels,
            num_resamples=scoring.num_resamples, seed=scoring.seed,
        )  # fmt: skip

    def value(self, score: TaggingScore) -> float | None:
        """Returns the accuracy."""
        return score.accuracy

    def tables(self, scores: Mapping[str, TaggingScore]) -> list[Table]:
        """Returns tables of the scores of some sets."""
        tables = []
        for name, score in scores.items():
            for table in tagging_tables(score):
                table.title = f"{escape(name)}: {table.title}"
                tables.append(table)
        return tables

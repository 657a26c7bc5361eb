"""The task `pos`: from tagged sentences to a run folder with a tagger."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain

import keras
import numpy as np
import tensorflow as tf
from rich.markup import escape
from rich.table import Table

from tf_charagram.config import TaggingConfig
from tf_charagram.data.pipeline.example_stream import ExampleStream
from tf_charagram.data.pipeline.stream import gather_ragged
from tf_charagram.data.readers.lines import BadLines
from tf_charagram.data.readers.tagged import TaggedSentence, read_tagged
from tf_charagram.data.starter.tagged import tagged_sentences
from tf_charagram.encoders import encoder_class
from tf_charagram.errors import ConfigError
from tf_charagram.evaluation.tagging import TaggingScore, score_tags
from tf_charagram.files import whole_file
from tf_charagram.layers.tagging_head import TaggingHead
from tf_charagram.models.tagger import Tagger
from tf_charagram.reporting.tagging_tables import tagging_tables
from tf_charagram.text.batches import to_bytes
from tf_charagram.text.capitals import has_capital
from tf_charagram.trainers.tagging import TaggingModel
from tf_charagram.training.building import encoder_for, ids_function, make_vectorizer
from tf_charagram.training.inputs import data_names, labelled_file, named_sets
from tf_charagram.training.labelled import LabelledRun
from tf_charagram.training.schedule import step_options
from tf_charagram.training.transfer import grow_from


@dataclass(frozen=True)
class TaggedSet:
    """Sentences to score on.

    Attributes:
        name: Name of the set.
        sentences: Its sentences.
    """

    name: str
    sentences: list[TaggedSentence]


class TaggingTask:
    """The task `pos`: what is read and how it is scored.

    Args:
        config: Settings of the run.
        bad_lines: What to do about bad lines.
        known: The words that were seen in training.
    """

    model_class = Tagger

    def __init__(
        self, config: TaggingConfig, bad_lines: BadLines, known: Collection[str] = ()
    ) -> None:
        self.known = frozenset(known)
        self._column = config.column
        self._bad_lines = bad_lines

    def read(self, place: str, split: str, name: str) -> TaggedSet:
        """Reads tagged sentences.

        Args:
            place: A file, or `starter`.
            split: Which split of the starter set.
            name: Name of the set.

        Raises:
            DataError: The file is missing or bad.
        """
        path = labelled_file(place)
        if path is None:
            return TaggedSet(name, tagged_sentences(split))
        found = read_tagged(path, column=self._column, on_bad_line=self._bad_lines)
        return TaggedSet(name, list(found))

    def score(
        self, model: Tagger, one: TaggedSet, *, num_resamples: int, seed: int = 0
    ) -> TaggingScore:
        """Compares predicted tags with those of people."""
        words = [list(sentence.words) for sentence in one.sentences]
        predicted = [[token.tag for token in tokens] for tokens in model.tag(words)]
        gold = [sentence.tags for sentence in one.sentences]
        return score_tags(
            gold, predicted, words, self.known, known_tags=model.head.labels,
            num_resamples=num_resamples, seed=seed,
        )  # fmt: skip

    def value(self, score: TaggingScore) -> float | None:
        """Returns the accuracy."""
        return score.accuracy

    def tables(self, scores: Sequence[tuple[str, TaggingScore]]) -> list[Table]:
        """Returns tables of the scores of some sets."""
        tables = []
        for name, score in scores:
            for table in tagging_tables(score):
                table.title = f"{escape(name)}: {table.title}"
                tables.append(table)
        return tables


class TaggingRun(LabelledRun):
    """One training run on tagged sentences; see `LabelledRun`.

    Each batch holds the ids of its distinct words once, and says where each word stands.
    """

    config: TaggingConfig
    product: Tagger

    def read(self) -> Sequence[TaggedSet]:
        """Reads the sentences; returns the sets to score on."""
        config = self.config
        if encoder_class(config.encoder).vectorizer == "words":
            raise ConfigError(
                "The task 'pos' composes words from characters: choose the encoder charagram, "
                f"char_cnn or char_lstm. Received: encoder={config.encoder}"
            )
        self.task = TaggingTask(config, self.bad_lines)
        names = data_names(config)
        self.sentences = [
            one for name in names for one in self.task.read(name, "train", name).sentences
        ]
        self.words = list(dict.fromkeys(chain(*(one.words for one in self.sentences))))
        self.tags = sorted(set(chain(*(one.tags for one in self.sentences))))
        self.task.known = frozenset(self.words)
        return [
            self.task.read(place, split, name)
            for name, place, split in named_sets(config.eval_data, names)
        ]

    def build(self) -> Tagger:
        """Builds the tagger."""
        config = self.config
        # As often as they come, for the count of an n-gram is over the text.
        words = chain(*(one.words for one in self.sentences))
        lowercase = bool(config.use_capitals)
        vectorizer = make_vectorizer(config, words, lowercase=lowercase)
        if config.init is None:
            encoder = encoder_for(config, vectorizer)
        else:
            vectorizer, encoder = grow_from(
                config.init, vectorizer, lambda grown: encoder_for(config, grown)
            )
        head = TaggingHead(
            labels=self.tags,
            word_dim=encoder.dim,
            lstm_dim=config.lstm_dim,
            hidden_dim=config.hidden_dim,
            use_capitals=bool(config.use_capitals),
            use_peepholes=config.use_word_peepholes,
            seed=config.seed,
        )
        return Tagger(vectorizer, encoder, head)

    def make_stream(self) -> ExampleStream:
        """Returns the batches: ids of distinct words, their capitals, places of words, tags."""
        ids = ids_function(self.product.vectorizer)(self.words)
        capitals = has_capital(tf.constant([to_bytes(word) for word in self.words]))
        number = {word: i for i, word in enumerate(self.words)}
        label = {tag: i for i, tag in enumerate(self.tags)}
        lengths = np.array([len(one.words) for one in self.sentences])
        words = tf.RaggedTensor.from_row_lengths(
            np.array([number[word] for one in self.sentences for word in one.words], np.int32),
            lengths,
        )
        labels = words.with_values(
            np.array([label[tag] for one in self.sentences for tag in one.tags], np.int32)
        )

        def batch(
            chosen: tf.Tensor,
        ) -> tuple[tf.RaggedTensor, tf.Tensor, tf.RaggedTensor, tf.Tensor]:
            words_there = gather_ragged(words, chosen)
            distinct, places = tf.unique(words_there.values)
            distinct = tf.cast(distinct, tf.int64)
            return (
                gather_ragged(ids, distinct),
                tf.gather(capitals, distinct),
                words_there.with_values(places),
                gather_ragged(labels, chosen).values,
            )

        return ExampleStream(
            len(self.sentences), batch, batch_size=int(self.config.batch_size or 0),
            unit="sentences", seed=self.config.seed, lengths=lengths,
        )  # fmt: skip

    def make_model(self, optimizer: keras.optimizers.Optimizer) -> TaggingModel:
        """Returns the compiled model that trains the tagger."""
        model = TaggingModel(self.product.encoder, self.product.head)
        model.compile(optimizer, l2_head=self.config.l2_head, **step_options(self.config))
        return model

    def describe(self) -> str:
        """Says in a line what is trained on."""
        return (
            f"{len(self.sentences):,} sentences, {len(self.words):,} distinct words, "
            f"{len(self.tags)} tags"
        )

    def run(
        self, *, resume: bool, num_resamples: int = 1000, export: bool = True
    ) -> dict[str, object]:
        """Trains, exports, and writes the words it knows; see `LabelledRun.run`."""
        metrics = super().run(resume=resume, num_resamples=num_resamples, export=export)
        if not export:
            return metrics
        with whole_file(self.folder.texts, "w") as file:
            file.writelines(f"{word}\n" for word in self.words)
        return metrics

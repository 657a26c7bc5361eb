"""The task `pos`: trains a tagger on tagged sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from rich.table import Table

from tf_charagram._files.writing import whole_file
from tf_charagram.data._tables.lines import BadLines
from tf_charagram.encoders import encoder_class
from tf_charagram.errors import ConfigError
from tf_charagram.layers._ops.ragged import gather_ragged
from tf_charagram.losses.labels import cross_entropy
from tf_charagram.tasks._shared.labelled import LabelledSets
from tf_charagram.tasks.tagging._conllu.data import TaggedSentence, read_tagged
from tf_charagram.tasks.tagging._conllu.scores import (
    TaggingScore,
    score_raw,
    score_tags,
    tagging_tables,
)
from tf_charagram.tasks.tagging.head import TaggingHead, has_capital
from tf_charagram.tasks.tagging.model import Tagger
from tf_charagram.tasks.tagging.settings import TaggingConfig
from tf_charagram.text._algorithm.tensors import ids_function, string_tensor
from tf_charagram.training._loop.building import make_vectorizer
from tf_charagram.training._loop.run_folder import RunFolder
from tf_charagram.training._loop.stream import ExampleStream
from tf_charagram.training.supervised_model import SupervisedModel
from tf_charagram.training.task import Scoring, Task


@dataclass(frozen=True)
class _TaggedSet:
    """Sentences to train or to score on, and the name of their set."""

    name: str
    sentences: list[TaggedSentence]


class Tagging(LabelledSets, Task):
    """The task `pos`: each word of a sentence gets a tag.

    Each batch holds the ids of its distinct words once, and the position of each word.

    Attributes:
        known: The words of the training data.
    """

    model_class = Tagger
    starter = "tagged"
    trial_epochs = 5.0

    config: TaggingConfig

    @classmethod
    def write_examples(cls, examples: Sequence[Any], path: Path) -> None:
        """Writes sentences, lists of words and tags, with a word per line."""
        with whole_file(path, "w") as file:
            for sentence in examples:
                for word, tag in sentence:
                    file.write(f"{' '.join(word.split())}\t{tag}\n")
                file.write("\n")

    def __init__(self, config: TaggingConfig, bad_lines: BadLines) -> None:
        if encoder_class(config.encoder).vectorizer == "words":
            raise ConfigError(
                "The task 'pos' composes words from characters: choose the encoder charagram, "
                f"char_cnn or char_lstm. Received: encoder={config.encoder}"
            )
        super().__init__(config, bad_lines)
        self.known: frozenset[str] = frozenset()

    def read_file(self, path: Path, split: str, name: str) -> _TaggedSet:
        """Reads tagged sentences; a file is one split."""
        sentences = read_tagged(path, column=self.config.column, on_bad_line=self.bad_lines)
        return _TaggedSet(name, list(sentences))

    def take_examples(self, examples: Sequence[_TaggedSet]) -> None:
        """Stores the sentences to train on, one set per `--data`."""
        self.sentences = list(chain(*(tagged.sentences for tagged in examples)))
        words = chain(*(sentence.words for sentence in self.sentences))
        tags = chain(*(sentence.tags for sentence in self.sentences))
        # Distinct words in the order of the text; tags in the order of the head's logits.
        self.words = list(dict.fromkeys(words))
        self.tags = sorted(set(tags))
        self.known = frozenset(self.words)

    def restore(self, folder: RunFolder) -> None:
        """Reads the words of the training data, if the run left them."""
        if folder.texts.is_file():
            self.known = frozenset(folder.texts.read_text(encoding="utf-8").split("\n"))

    def build(self) -> Tagger:
        """Builds the tagger."""
        config = self.config
        # All occurrences of words, because n-grams are counted over the text.
        words = chain(*(sentence.words for sentence in self.sentences))
        lowercase = bool(config.use_capitals)
        vectorizer = make_vectorizer(config, words, lowercase=lowercase)
        vectorizer, encoder = self.encoder_on(vectorizer)
        head = TaggingHead(
            labels=self.tags,
            word_dim=encoder.dim,
            lstm_dim=config.hidden_dim,
            hidden_dim=config.hidden_dim,
            use_capitals=lowercase,
            seed=config.seed,
        )
        return Tagger(vectorizer, encoder, head)

    def make_stream(self, model: Tagger, folder: RunFolder) -> ExampleStream:
        """Returns the batches: ids of distinct words, their capitals, positions of words, tags."""
        ids = ids_function(model.vectorizer)(self.words)
        capitals = has_capital(string_tensor(self.words))
        word_index = {word: i for i, word in enumerate(self.words)}
        tag_index = {tag: i for i, tag in enumerate(self.tags)}
        # Sentences of similar length share a batch, to save padding.
        lengths = np.array([len(sentence.words) for sentence in self.sentences])
        flat_words = [word_index[word] for sentence in self.sentences for word in sentence.words]
        flat_tags = [tag_index[tag] for sentence in self.sentences for tag in sentence.tags]
        words = tf.RaggedTensor.from_row_lengths(np.array(flat_words, np.int32), lengths)
        labels = words.with_values(np.array(flat_tags, np.int32))

        def batch(
            chosen: tf.Tensor,
        ) -> tuple[tf.RaggedTensor, tf.Tensor, tf.RaggedTensor, tf.Tensor]:
            batch_words = gather_ragged(words, chosen)
            # Each distinct word of a batch is composed once.
            distinct, positions = tf.unique(batch_words.values)
            distinct = tf.cast(distinct, tf.int64)
            return (
                gather_ragged(ids, distinct),
                tf.gather(capitals, distinct),
                batch_words.with_values(positions),
                gather_ragged(labels, chosen).values,
            )

        return ExampleStream(
            len(self.sentences),
            batch,
            batch_size=int(self.config.batch_size or 0),
            unit="sentences",
            seed=self.config.seed,
            lengths=lengths,
        )

    def make_trainer(self, model: Tagger, optimizer: keras.optimizers.Optimizer) -> TaggingModel:
        """Returns the compiled model that trains encoder and head."""
        trainer = TaggingModel(model.encoder, model.head)
        trainer.compile(optimizer, l2_head=self.config.l2_head, **self.config.update_options())
        return trainer

    def describe_data(self) -> str:
        """Returns a short description of the training data."""
        return (
            f"{len(self.sentences):,} sentences, {len(self.words):,} distinct words, "
            f"{len(self.tags)} tags"
        )

    def write_extras(self, folder: RunFolder) -> list[str]:
        """Writes the words of the training data, which `restore` reads."""
        with whole_file(folder.texts, "w") as file:
            file.writelines(f"{word}\n" for word in self.words)
        return []

    def score_set(self, model: Tagger, examples: _TaggedSet, scoring: Scoring) -> TaggingScore:
        """Compares predicted tags with the gold tags."""
        words = [list(sentence.words) for sentence in examples.sentences]
        texts = [sentence.text for sentence in examples.sentences]
        predicted = [[token.tag for token in tokens] for tokens in model.tag(words)]
        gold = [sentence.tags for sentence in examples.sentences]
        given = score_tags(
            gold,
            predicted,
            words,
            self.known,
            num_resamples=scoring.num_resamples,
            seed=scoring.seed,
        )
        token_f1, tag_f1 = score_raw(examples.sentences, model.tag(texts))
        return replace(given, raw_token_f1=token_f1, raw_tag_f1=tag_f1)

    def value(self, score: TaggingScore) -> float | None:
        """Returns the accuracy."""
        return score.accuracy

    def tables(self, scores: Mapping[str, TaggingScore]) -> list[Table]:
        """Returns tables of the scores of each set."""
        tables = []
        for name, score in scores.items():
            tables += tagging_tables(name, score)
        return tables


class TaggingModel(SupervisedModel):
    """Trains a tagger with the mean cross entropy of the tags (Charagram, section 4.2).

    `fit` takes a `tf.data.Dataset` of `(ids, capitals, positions, labels)`, where each distinct
    word is composed once: the ids of the distinct words of some sentences, `tf.RaggedTensor` int32
    `(num_distinct, None)`; whether they have a capital, bool `(num_distinct,)`; the indices of the
    words of each sentence, `tf.RaggedTensor` int32 `(num_sentences, None)`; and the labels of all
    words in this order, int32 `(num_tokens,)`.

    Args:
        encoder: Keras layer from ragged ids to `(batch, dim)`.
        head: A `TaggingHead`.
    """

    # Every batch has another number of distinct words.
    can_use_xla = False

    def loss_of(self, *batch: Any, training: bool) -> tf.Tensor:
        """Returns the mean cross entropy of a batch, without penalties."""
        ids, capitals, positions, labels = batch
        vectors = self._vectors(ids, training)
        logits = self.head(vectors, capitals, positions, training=training)
        return cross_entropy(logits, labels)

"""Models that score pairs of texts, or label texts or pairs."""

from __future__ import annotations

from collections.abc import Sequence

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from tf_charagram.models._answers.answering import AnsweringModel, Classified, most_probable
from tf_charagram.models.base import TEXT_PAIRS
from tf_charagram.tasks.labels._heads.heads import PairLabelHead, PairScoreHead, TextHead
from tf_charagram.tasks.labels._heads.relatedness import expected_score
from tf_charagram.text._algorithm.arguments import paired_texts, texts_of


@keras.saving.register_keras_serializable(package="tf_charagram")
class PairScorer(AnsweringModel):
    """Scores how related two texts are, from 1 to K: a vectorizer, an encoder and a head.

    Args:
        vectorizer: Keras layer from strings `(batch,)` to ragged ids.
        encoder: Keras layer from ragged ids to float32 `(batch, dim)`.
        head: A `PairScoreHead` for vectors of width `dim`.

    Examples:
        >>> from tf_charagram.encoders.charagram import Charagram
        >>> from tf_charagram.text.vectorizer import NgramVectorizer
        >>> vectorizer = NgramVectorizer.from_texts(["a cat", "a dog"])
        >>> encoder = Charagram(num_rows=vectorizer.num_rows, dim=8)
        >>> scorer = PairScorer(vectorizer, encoder, PairScoreHead(dim=8, num_classes=5))
        >>> scorer.score(["a cat", "a dog"], ["some cats", "a man"]).shape
        (2,)
    """

    kind = "pair_scorer"
    purpose = "Scores how related two texts are"
    score_title = "Pearson's r x 100"
    head_class = PairScoreHead
    served_inputs = TEXT_PAIRS

    @property
    def answer_shape(self) -> tuple[int, ...]:
        """The shape of a scalar."""
        return ()

    def answers(self, vectors: tf.Tensor) -> tf.Tensor:
        """Returns the scores of pairs, float32 `(B,)`, from their vectors, lefts first."""
        return expected_score(self.head(vectors))

    def outputs(self, answers: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns `score`, float32 `(n,)`."""
        return {"score": answers}

    def score(
        self, left: Sequence[str], right: Sequence[str], *, batch_size: int = 1000
    ) -> NDArray[np.float32]:
        """Returns the scores of corresponding texts, float32 `(num_pairs,)`, from 1 to K.

        Args:
            left: Any texts, also empty texts and broken UTF-8.
            right: As many texts.
            batch_size: Texts encoded at a time.

        Raises:
            ConfigError: The lists differ in length, one of them is a single string or contains
                something else than strings, or `batch_size` is not an integer above 0.
        """
        return self.answers_to(*paired_texts(left, right), batch_size=batch_size)


@keras.saving.register_keras_serializable(package="tf_charagram")
class PairClassifier(AnsweringModel):
    """Labels pairs of texts, for example as entailment: a vectorizer, an encoder and a head.

    Args:
        vectorizer: Keras layer from strings `(batch,)` to ragged ids.
        encoder: Keras layer from ragged ids to float32 `(batch, dim)`.
        head: A `PairLabelHead` for vectors of width `dim`.
    """

    kind = "pair_classifier"
    purpose = "Labels pairs of texts"
    head_class = PairLabelHead
    served_inputs = TEXT_PAIRS

    def probabilities(
        self, left: Sequence[str], right: Sequence[str], *, batch_size: int = 1000
    ) -> NDArray[np.float32]:
        """Returns the probability of each label, float32 `(num_pairs, num_labels)`.

        Args:
            left: Any texts, such as premises.
            right: As many texts, such as hypotheses.
            batch_size: Texts encoded at a time.

        Raises:
            ConfigError: The lists differ in length, one of them is a single string or contains
                something else than strings, or `batch_size` is not an integer above 0.
        """
        return self.answers_to(*paired_texts(left, right), batch_size=batch_size)

    def classify(
        self, left: Sequence[str], right: Sequence[str], *, batch_size: int = 1000
    ) -> list[Classified]:
        """Returns the most probable label of each pair, with its probability.

        Args:
            left: Any texts, such as premises.
            right: As many texts, such as hypotheses.
            batch_size: Texts encoded at a time.
        """
        return most_probable(self.labels, self.probabilities(left, right, batch_size=batch_size))


@keras.saving.register_keras_serializable(package="tf_charagram")
class TextClassifier(AnsweringModel):
    """Labels texts, for example by sentiment: a vectorizer, an encoder and a head.

    Args:
        vectorizer: Keras layer from strings `(batch,)` to ragged ids.
        encoder: Keras layer from ragged ids to float32 `(batch, dim)`.
        head: A `TextHead` for vectors of width `dim`.

    Examples:
        >>> from tf_charagram.encoders.charagram import Charagram
        >>> from tf_charagram.text.vectorizer import NgramVectorizer
        >>> vectorizer = NgramVectorizer.from_texts(["good", "bad"])
        >>> encoder = Charagram(num_rows=vectorizer.num_rows, dim=8)
        >>> head = TextHead(dim=8, labels=["negative", "positive"])
        >>> len(TextClassifier(vectorizer, encoder, head).classify(["good", "too bad", ""]))
        3
    """

    kind = "text_classifier"
    purpose = "Labels texts"
    head_class = TextHead

    def probabilities(self, texts: Sequence[str], *, batch_size: int = 1000) -> NDArray[np.float32]:
        """Returns the probability of each label, float32 `(num_texts, num_labels)`.

        Args:
            texts: Any texts, also empty texts and broken UTF-8.
            batch_size: Texts encoded at a time.

        Raises:
            ConfigError: `texts` is a single string or contains something else than strings, or
                `batch_size` is not an integer above 0.
        """
        return self.answers_to(list(texts_of(texts, "texts")), batch_size=batch_size)

    def classify(self, texts: Sequence[str], *, batch_size: int = 1000) -> list[Classified]:
        """Returns the most probable label of each text, with its probability.

        Args:
            texts: Any texts.
            batch_size: Texts encoded at a time.
        """
        return most_probable(self.labels, self.probabilities(texts, batch_size=batch_size))

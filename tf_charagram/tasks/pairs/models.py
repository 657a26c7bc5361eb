"""Models of pairs of texts: how related they are, or what one says about the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from tf_charagram.losses.relatedness import expected_score
from tf_charagram.models.answering import (
    AnsweringModel,
    Classified,
    LabellingModel,
)
from tf_charagram.tasks.pairs.head import PairLabelHead, PairScoreHead
from tf_charagram.text.tensors import paired_texts


@keras.saving.register_keras_serializable(package="tf_charagram")
class PairScorer(AnsweringModel):
    """Says how related two texts are, from 1 to K: a vectorizer, an encoder and a head.

    Arguments as for `HeadedModel`, with a `PairScoreHead`.

    Example:
        >>> from tf_charagram.encoders.charagram import Charagram
        >>> from tf_charagram.text.vectorizer import NgramVectorizer
        >>> vectorizer = NgramVectorizer.from_texts(["a cat", "a dog"])
        >>> encoder = Charagram(num_rows=vectorizer.num_rows, dim=8)
        >>> scorer = PairScorer(vectorizer, encoder, PairScoreHead(dim=8, num_classes=5))
        >>> scorer.score(["a cat", "a dog"], ["some cats", "a man"]).shape
        (2,)
    """

    kind = "pair_scorer"
    purpose = "Says how related two texts are"
    score_title = "Pearson's r x 100"
    reads = "pairs"
    head_class = PairScoreHead

    @property
    def answer_shape(self) -> tuple[int, ...]:
        """One number."""
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
            left: Any texts; empty ones and broken UTF-8 have a defined score too.
            right: As many.
            batch_size: Texts encoded at a time.

        Raises:
            ConfigError: The two differ in length, one is a single string or holds what is no
                string, or `batch_size` is no integer or below 1.
        """
        return self.answers_to(*paired_texts(left, right), batch_size=batch_size)

    def signatures(self) -> dict[str, Any]:
        """Returns `serving_default(texts_a, texts_b) -> {"score": float32 (n,)}`."""
        return {"serving_default": self.pair_function()}


@keras.saving.register_keras_serializable(package="tf_charagram")
class PairClassifier(LabellingModel):
    """Gives a pair of texts a label, such as entailment: a vectorizer, an encoder and a head.

    Arguments as for `HeadedModel`, with a `PairLabelHead`.
    """

    kind = "pair_classifier"
    purpose = "Labels pairs of texts"
    score_title = "accuracy, %"
    reads = "pairs"
    head_class = PairLabelHead

    def probabilities(
        self, left: Sequence[str], right: Sequence[str], *, batch_size: int = 1000
    ) -> NDArray[np.float32]:
        """Returns how probable each label is, float32 `(num_pairs, num_labels)`.

        Args:
            left: Any texts, such as premises.
            right: As many, such as hypotheses.
            batch_size: Texts encoded at a time.

        Raises:
            ConfigError: The two differ in length, one is a single string or holds what is no
                string, or `batch_size` is no integer or below 1.
        """
        return self.answers_to(*paired_texts(left, right), batch_size=batch_size)

    def classify(
        self, left: Sequence[str], right: Sequence[str], *, batch_size: int = 1000
    ) -> list[Classified]:
        """Returns the most probable label of each pair; arguments as `probabilities`."""
        return self.most_probable(self.probabilities(left, right, batch_size=batch_size))

    def signatures(self) -> dict[str, Any]:
        """Returns `serving_default(texts_a, texts_b) -> {"label", "scores"}`, see `outputs`."""
        return {"serving_default": self.pair_function()}

"""Models of single texts: what a text says, such as whether it praises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from numpy.typing import NDArray

from tf_charagram.models.answering import Classified, LabellingModel
from tf_charagram.tasks.sentiment.head import TextHead
from tf_charagram.text.tensors import texts_of


@keras.saving.register_keras_serializable(package="tf_charagram")
class TextClassifier(LabellingModel):
    """Gives a text a label, such as its sentiment: a vectorizer, an encoder and a head.

    Arguments as for `HeadedModel`, with a `TextHead`.

    Example:
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
    score_title = "accuracy, %"
    reads = "reviews"
    head_class = TextHead

    def probabilities(self, texts: Sequence[str], *, batch_size: int = 1000) -> NDArray[np.float32]:
        """Returns how probable each label is, float32 `(num_texts, num_labels)`.

        Args:
            texts: Any texts; empty ones and broken UTF-8 have defined probabilities too.
            batch_size: Texts encoded at a time.

        Raises:
            ConfigError: `texts` is a single string or holds what is no string, or `batch_size` is
                no integer or below 1.
        """
        return self.answers_to(list(texts_of(texts, "texts")), batch_size=batch_size)

    def classify(self, texts: Sequence[str], *, batch_size: int = 1000) -> list[Classified]:
        """Returns the most probable label of each text; arguments as `probabilities`."""
        return self.most_probable(self.probabilities(texts, batch_size=batch_size))

    def signatures(self) -> dict[str, Any]:
        """Returns `serving_default(texts) -> {"label", "scores"}`, see `outputs`."""
        return {"serving_default": self.text_function()}

"""The tagger: raw sentences or tokens in, tags out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

import keras
import numpy as np
import tensorflow as tf
from keras.layers import Layer

from tf_charagram.errors import ConfigError, check_positive
from tf_charagram.layers._ops.ragged import by_length
from tf_charagram.layers.embedding_table import read_in_place
from tf_charagram.models._encoding.encoding import encoded, first_call_alone
from tf_charagram.models.base import TEXTS, TextModel
from tf_charagram.tasks.tagging.head import TaggingHead, has_capital
from tf_charagram.text._algorithm.batches import bounded_batches, in_threads
from tf_charagram.text.splitting import split_tokens

# Maximum words, padding included, of the sentences that are padded together.
_MAX_WORD_STEPS = 2_048
# Maximum characters, or tokens, in a batch of `tag`.
_MAX_BATCH_LENGTH = 500_000
_SURROGATES = re.compile("[\ud800-\udfff]")


class TaggedToken(NamedTuple):
    """A token and its tag.

    Attributes:
        token: The token, as it is written.
        tag: The most probable tag.
        score: Its probability.
        start: Offset of the token in the sentence, in code points; `None` for given tokens.
        end: Offset of its end.
    """

    token: str
    tag: str
    score: float
    start: int | None = None
    end: int | None = None


@keras.saving.register_keras_serializable(package="tf_charagram")
class Tagger(TextModel):
    """Tags the words of sentences, embedding words by their characters (Charagram, section 4.2).

    Each distinct word of a batch is embedded once. A tag never depends on other sentences.

    Args:
        vectorizer: Keras layer from words `(batch,)` to ragged ids.
        encoder: Keras layer from ragged ids to float32 `(batch, dim)`.
        head: A `TaggingHead`.

    Raises:
        ConfigError: The head expects word vectors of another width.
    """

    kind = "tagger"
    purpose = "Tags words"
    score_title = "accuracy, %"
    # A text of 1 MB works too, but takes gigabytes.
    max_checked_bytes = 8_000
    head_class = TaggingHead

    def __init__(self, vectorizer: Layer, encoder: Layer, head: Layer, **kwargs: Any) -> None:
        super().__init__(vectorizer, encoder, head, **kwargs)
        if head.word_dim != encoder.dim:
            raise ConfigError(
                f"`word_dim` of the head ({head.word_dim}) does not match the width of the "
                f"encoder ({encoder.dim})."
            )
        self._tag_texts = tf.function(self._texts_answer, input_signature=TEXTS, autograph=False)
        self._tag_tokens = tf.function(
            self._tokens_answer,
            input_signature=[
                tf.TensorSpec([None], tf.string, name="tokens"),
                tf.TensorSpec([None], tf.int64, name="row_lengths"),
            ],
            autograph=False,
        )
        self._tag_texts_in_threads = first_call_alone(self._tag_texts)
        self._tag_tokens_in_threads = first_call_alone(self._tag_tokens)

    @property
    def tags(self) -> list[str]:
        """The tags it knows."""
        return self.head.labels

    def compute_output_spec(self, tokens: keras.KerasTensor) -> keras.KerasTensor:
        """Returns symbolic probabilities, float32 `(num_tokens, num_tags)`."""
        del tokens
        return keras.KerasTensor((None, len(self.tags)), "float32")

    def call(self, tokens: tf.RaggedTensor) -> tf.Tensor:
        """Returns the probabilities of all tags, float32 `(num_tokens, num_tags)`.

        Args:
            tokens: Strings `(num_sentences, None)`, int64 row splits.
        """
        with tf.device("CPU:0"):
            # Words repeat: each distinct word is embedded once.
            distinct, word_indices = tf.unique(tokens.values)
            ids = self.vectorizer(distinct)
            capitals = has_capital(distinct)
        vectors = encoded(self.encoder, ids)
        logits = by_length(
            lambda positions: self.head(vectors, capitals, positions, training=False),
            tokens.with_values(word_indices),
            _MAX_WORD_STEPS,
            len(self.tags),
            per_value=True,
        )
        return tf.nn.softmax(logits)

    def tag(
        self, sentences: Iterable[str | Sequence[str]], *, batch_size: int = 1000
    ) -> list[list[TaggedToken]]:
        """Tags sentences.

        Args:
            sentences: Texts, which are split into tokens by `split_tokens`, or lists of tokens,
                which may be any strings.
            batch_size: Maximum sentences tagged at a time.

        Returns:
            The tagged tokens of each sentence.

        Raises:
            ConfigError: `sentences` is not a list, a sentence is neither a string nor a list of
                strings, or `batch_size` is not an integer above 0.
        """
        if isinstance(sentences, str | bytes) or not isinstance(sentences, Iterable):
            raise ConfigError(f"`sentences` must be a list of sentences. Received: {sentences!r}")
        check_positive(batch_size=batch_size)
        inputs = [_checked(sentence) for sentence in sentences]
        for weight in self.weights:
            read_in_place(weight.value)
        tagged: list[list[TaggedToken]] = [[] for _ in inputs]
        for input_type, tag_batch in ((str, self._of_texts), (list, self._of_tokens)):
            order = [index for index, value in enumerate(inputs) if isinstance(value, input_type)]
            # Sentences of similar length need little padding.
            order.sort(key=lambda index: len(inputs[index]))
            batches = bounded_batches((inputs[i] for i in order), batch_size, _MAX_BATCH_LENGTH)
            start = 0
            for _, results in in_threads(tag_batch, batches):
                indices = order[start : start + len(results)]
                for index, result in zip(indices, results, strict=True):
                    tagged[index] = result
                start += len(results)
        return tagged

    def _of_texts(self, texts: list[str]) -> list[list[TaggedToken]]:
        """Tags texts; the offsets of tokens are in the texts."""
        answer = self._tag_texts_in_threads(tf.constant(texts))
        starts = answer["starts"].numpy().tolist()
        ends = answer["ends"].numpy().tolist()
        lengths = answer["row_lengths"].numpy()
        spans = list(zip(starts, ends, strict=True))
        # The number of the text of each token.
        owners = np.repeat(np.arange(len(texts)), lengths).tolist()
        tokens = [texts[i][start:end] for i, (start, end) in zip(owners, spans, strict=True)]
        return _tagged(answer, lengths, tokens, spans)

    def _of_tokens(self, sentences: list[list[str]]) -> list[list[TaggedToken]]:
        """Tags lists of tokens, which have no offsets."""
        tokens = [token for sentence in sentences for token in sentence]
        lengths = np.array([len(sentence) for sentence in sentences])
        # Lone surrogates have no UTF-8.
        clean = [_SURROGATES.sub("\ufffd", token) for token in tokens]
        answer = self._tag_tokens_in_threads(tf.constant(clean, tf.string, [len(clean)]), lengths)
        return _tagged(answer, lengths, tokens, [(None, None)] * len(tokens))

    def signatures(self) -> dict[str, Any]:
        """Returns the signatures of an exported tagger.

        * `serving_default(texts)` and `tag(texts)` return `tokens`, `tags`, `scores`, `starts` and
          `ends`, flat, one per token, and `row_lengths`, int64, the number of tokens of each text.
        * `tag_tokens(tokens, row_lengths)` returns `tags` and `scores`, one per token. Tokens are
          flat; row lengths that do not fit them are an invalid argument.

        Sentences of similar length are tagged together, so a long sentence does not slow down the
        others.
        """
        return {
            "serving_default": self._tag_texts,
            "tag": self._tag_texts,
            "tag_tokens": self._tag_tokens,
        }

    def as_served(self) -> Self:
        """Returns the tagger itself, because its n-grams are not folded for serving."""
        return self

    def _texts_answer(self, texts: tf.Tensor) -> dict[str, tf.Tensor]:
        tokens, starts, ends = split_tokens(texts)
        return {
            "tokens": tokens.values,
            "starts": starts.values,
            "ends": ends.values,
            "row_lengths": tokens.row_lengths(),
            **self._answer(tokens),
        }

    def _tokens_answer(self, tokens: tf.Tensor, row_lengths: tf.Tensor) -> dict[str, tf.Tensor]:
        # Lengths out of range must not reach the operations below, nor overflow the sum.
        num_tokens = tf.size(tokens, tf.int64)
        total = tf.reduce_sum(row_lengths)
        in_range = tf.reduce_all((row_lengths >= 0) & (row_lengths <= num_tokens))
        check = tf.debugging.Assert(
            in_range & tf.equal(total, num_tokens),
            [
                "`row_lengths` must not be negative, and must sum to the number of `tokens`:",
                num_tokens,
                "Received the sum:",
                total,
            ],
        )
        with tf.control_dependencies([check]):
            row_lengths = tf.identity(row_lengths)
        ragged = tf.RaggedTensor.from_row_lengths(tokens, row_lengths, validate=False)
        return self._answer(ragged)

    def _answer(self, tokens: tf.RaggedTensor) -> dict[str, tf.Tensor]:
        probabilities = self.call(tokens)
        best = tf.argmax(probabilities, axis=1)
        with tf.device("CPU:0"):
            tags = tf.gather(tf.constant(self.tags), best)
        return {"tags": tags, "scores": tf.reduce_max(probabilities, axis=1)}


def _checked(sentence: Any) -> Any:
    """Returns a text with its lone surrogates replaced, or a list of tokens."""
    if isinstance(sentence, str):
        return _SURROGATES.sub("\ufffd", sentence)
    if isinstance(sentence, Sequence) and all(isinstance(token, str) for token in sentence):
        return list(sentence)
    raise ConfigError(
        f"A sentence must be a string or a list of strings. Received: {type(sentence).__name__}"
    )


def _tagged(
    answer: dict[str, tf.Tensor],
    lengths: np.ndarray,
    tokens: list[str],
    spans: Sequence[tuple[int | None, int | None]],
) -> list[list[TaggedToken]]:
    """Returns the tokens of each sentence with their tags."""
    tags = [tag.decode() for tag in answer["tags"].numpy()]
    scores = answer["scores"].numpy().tolist()
    flat = [
        TaggedToken(token, tag, score, *span)
        for token, tag, score, span in zip(tokens, tags, scores, spans, strict=True)
    ]
    sentences = []
    start = 0
    for length in lengths.tolist():
        sentences.append(flat[start : start + length])
        start += length
    return sentences

"""From the vectors of words to the tags of the words of sentences (Charagram, section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from tf_charagram._common.checks import check_labels
from tf_charagram._common.devices import on_cpu
from tf_charagram.errors import check_positive, check_switches
from tf_charagram.layers._ops.ragged import gather_rows, to_padded
from tf_charagram.layers.base import ConfiguredLayer, make_dense
from tf_charagram.layers.bilstm import BiLstm
from tf_charagram.text._algorithm.code_points import normalized_code_points


@keras.saving.register_keras_serializable(package="tf_charagram")
class TaggingHead(ConfiguredLayer):
    """Bidirectional LSTM over the words of a sentence, a dense tanh layer and a linear layer.

    There is a vector for each distinct word; sentences refer to words by index.

    Args:
        labels: The tags, each once.
        word_dim: Width of the word vectors.
        lstm_dim: Width of each direction of the LSTM.
        hidden_dim: Width of the dense layer.
        use_capitals: Whether a word vector gets one more number: 1 if the word has a capital.
        use_peepholes: Whether the gates of the LSTM see its cell state.
        seed: Seed of the initial weights.

    Call arguments:
        word_vectors: float32 `(num_distinct, word_dim)`.
        capitals: bool `(num_distinct,)`; ignored without `use_capitals`.
        positions: Indices of the words of each sentence, `tf.RaggedTensor` int32
            `(num_sentences, None)`, values in `[0, num_distinct)`.
        training: Whether cuDNN may be used, which trains faster.

    Returns:
        Logits, float32 `(num_tokens, num_labels)`, in the order of `positions.flat_values`.

    Raises:
        ConfigError: An argument is out of range.
    """

    def __init__(
        self,
        *,
        labels: Sequence[str],
        word_dim: int,
        lstm_dim: int = 150,
        hidden_dim: int = 150,
        use_capitals: bool = False,
        use_peepholes: bool = False,
        seed: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**{"name": "tagging_head", **kwargs})
        check_positive(word_dim=word_dim, lstm_dim=lstm_dim, hidden_dim=hidden_dim)
        check_switches(use_capitals=use_capitals)
        self.labels = list(check_labels(labels, 1))
        self.word_dim = word_dim
        self.lstm_dim = lstm_dim
        self.hidden_dim = hidden_dim
        self.use_capitals = use_capitals
        self.use_peepholes = use_peepholes
        self.seed = seed
        # Word vectors may come with a mask of characters, which is irrelevant here.
        self.supports_masking = True
        # Its positions are ragged.
        self.supports_jit = False
        self.lstm = BiLstm(lstm_dim, use_peepholes=use_peepholes, seed=seed, name="bilstm")
        self.lstm.build((None, None, word_dim + use_capitals))
        self.hidden = make_dense(
            2 * lstm_dim, hidden_dim, activation="tanh", seed=seed + 4, name="hidden"
        )
        self.scores = make_dense(
            hidden_dim, len(self.labels), activation="linear", seed=seed + 5, name="scores"
        )
        self.built = True

    def call(
        self,
        word_vectors: tf.Tensor,
        capitals: tf.Tensor,
        positions: tf.RaggedTensor,
        training: bool = False,
    ) -> tf.Tensor:
        """Returns the logits of all words of all sentences."""
        if self.use_capitals:
            column = tf.cast(capitals, word_vectors.dtype)[:, tf.newaxis]
            word_vectors = tf.concat([word_vectors, column], axis=1)
        # Row 0 is the padding.
        rows = tf.pad(word_vectors, [[1, 0], [0, 0]])
        padded, mask = to_padded(positions + 1)
        vectors = gather_rows(rows, tf.reshape(padded, [-1]))
        width = self.word_dim + self.use_capitals
        vectors = tf.reshape(vectors, tf.concat([tf.shape(mask), [width]], axis=0))
        states = self.lstm(vectors, mask=mask, training=training)
        return self.scores(self.hidden(tf.boolean_mask(states, mask)))

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> keras.KerasTensor:
        """Returns symbolic logits, float32 `(num_tokens, num_labels)`."""
        del args, kwargs
        return keras.KerasTensor((None, len(self.labels)), "float32")


@on_cpu
def has_capital(tokens: tf.Tensor) -> tf.Tensor:
    """Returns a mask of tokens that lowercasing changes, bool `(num_tokens,)`.

    Code points are lowercased one by one, as vectorizers do. So U+0130, which becomes two
    code points, is not a capital.

    Args:
        tokens: UTF-8 strings `(num_tokens,)`; broken bytes are not capitals.
    """
    # Both tables change white space.
    is_capital = normalized_code_points(True) != normalized_code_points(False)
    codes = tf.strings.unicode_decode(tokens, "UTF-8", errors="replace")
    # Code points past the table have no case, and its last code point is not a capital.
    flags = tf.gather(is_capital, tf.minimum(codes.values, len(is_capital) - 1))
    return tf.reduce_any(codes.with_values(flags), axis=1)

"""L2 penalties as terms of the gradient, so that a sparse gradient can stay sparse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import keras
import tensorflow as tf

from tf_charagram._common.checks import check_penalty
from tf_charagram.errors import ConfigError
from tf_charagram.layers._ops.chunked import PADDING
from tf_charagram.layers._ops.row_gradients import Gradient, read_rows
from tf_charagram.layers._ops.xla import in_xla


class _Term(NamedTuple):
    """One penalty on one weight: `0.5 * strength * ||weight - target||^2`, target 0 if `None`."""

    strength: float
    target: tf.Variable | tf.Tensor | None = None


class L2Penalties:
    """The L2 penalties on the trainable weights of an encoder and of the head on top of it.

    They add up to `0.5 * (l2 * ||theta||^2 + l2_words * ||W - W_initial||^2 + l2_composition *
    ||theta_c - target||^2 + l2_head * ||theta_s||^2)` (Universal, sections 3.1 and 4.4; Charagram,
    appendix A). W is the `word_table` of the encoder, theta_c its other weights, theta_s the
    weights of the head, and theta all of them. An encoder without words has theta_c only. The
    target is the current weight with `pull_back`, else the encoder's `pull_back_targets()` if it
    has that method, else 0.

    Args:
        encoder: The encoder, with the word vectors to pull back to.
        l2: lambda, on all weights.
        l2_words: lambda_w, on the word vectors.
        l2_composition: lambda_c, on all weights but the word vectors.
        head: Layer whose trainable weights follow those of the encoder, if any.
        l2_head: lambda_s, on its weights.
        pull_back: Whether lambda_c pulls weights to their current values.
        dense: Whether a sparse gradient becomes dense, so that the penalty acts on every row at
            every step instead of only on the rows of the batch.

    Attributes:
        initial_words: The initial word vectors, `(num_rows, word_dim)`, which are part of the
            training state. `None` if `l2_words` is 0.
        targets: The initial values of all weights that are pulled back to them, the word vectors
            first.

    Raises:
        ConfigError: A strength is negative or not finite, or there are no word vectors to pull.
    """

    def __init__(
        self,
        encoder: keras.layers.Layer,
        *,
        l2: float = 0.0,
        l2_words: float = 0.0,
        l2_composition: float = 0.0,
        head: keras.layers.Layer | None = None,
        l2_head: float = 0.0,
        pull_back: bool = False,
        dense: bool = False,
    ) -> None:
        check_penalty("l2", l2)
        check_penalty("l2_words", l2_words)
        check_penalty("l2_composition", l2_composition)
        check_penalty("l2_head", l2_head)
        self.dense = dense
        table = getattr(encoder, "word_table", None)
        self.initial_words: tf.Variable | None = None
        self.targets: list[tf.Variable] = []
        if l2_words:
            if table is None or not table.trainable:
                raise ConfigError(
                    "`l2_words` needs an encoder whose word vectors are trained. "
                    f"Received: l2_words={l2_words} for the encoder '{encoder.name}'"
                )
            self.initial_words = self._copy(table, "initial_words")
        fixed = encoder.pull_back_targets() if hasattr(encoder, "pull_back_targets") else {}
        terms = []
        for variable in encoder.trainable_variables:
            if variable is table:
                pull = _Term(l2_words, self.initial_words)
            elif pull_back and l2_composition:
                copy = self._copy(variable, f"initial_{variable.name}")
                pull = _Term(l2_composition, copy)
            else:
                pull = _Term(l2_composition, fixed.get(variable.path))
            terms.append([_Term(l2), pull])
        if head is not None:
            for _ in head.trainable_variables:
                terms.append([_Term(l2), _Term(l2_head)])
        # The terms of each trainable weight that are not 0.
        self._terms: list[list[_Term]] = []
        for pair in terms:
            self._terms.append([term for term in pair if term.strength])

    def _copy(self, variable: keras.Variable, name: str) -> tf.Variable:
        """Copies the current value of a weight into `targets`."""
        copy = tf.Variable(variable.value, trainable=False, name=name)
        self.targets.append(copy)
        return copy

    def add_gradients(
        self, gradients: Sequence[Gradient], variables: Sequence[tf.Variable]
    ) -> list[Gradient]:
        """Adds the gradients of the penalties to those of the loss.

        Args:
            gradients: Gradients of the loss; dense, or sparse with distinct rows.
            variables: The trainable weights of the encoder, in its order, then of the head.
        """
        added = []
        for gradient, variable, terms in zip(gradients, variables, self._terms, strict=True):
            for strength, target in terms:
                gradient = _add_l2_gradient(gradient, variable, strength, target, dense=self.dense)
            added.append(gradient)
        return added


def _add_l2_gradient(
    gradient: Gradient,
    variable: tf.Variable,
    strength: float,
    target: tf.Variable | tf.Tensor | None = None,
    *,
    dense: bool = False,
) -> Gradient:
    """Adds the gradient of `0.5 * strength * ||variable - target||^2`.

    Args:
        gradient: Gradient of the loss; dense, or sparse with distinct rows.
        variable: The weights.
        strength: lambda of the papers, whose code also has the factor 0.5.
        target: Where to pull to, of the shape of `variable`. Default: 0.
        dense: Whether a sparse gradient becomes dense, so that every row decays at every step.
            By default only the rows of the batch do, which costs nothing.

    Returns:
        A gradient of the same kind, or a dense tensor with `dense`.
    """
    if isinstance(gradient, tf.IndexedSlices) and dense:
        gradient = tf.convert_to_tensor(gradient)
    if not isinstance(gradient, tf.IndexedSlices):
        pull = variable if target is None else variable - target
        return gradient + strength * pull
    # Only the rows of the batch are pulled: others would make the update dense.
    rows = read_rows(variable, gradient.indices)
    if target is not None:
        rows = rows - read_rows(target, gradient.indices)
    if in_xla():
        # The gradient is clipped by its norm, to which slots that are left over must add nothing.
        rows = tf.where((gradient.indices != PADDING)[:, tf.newaxis], rows, 0.0)
    return tf.IndexedSlices(
        gradient.values + strength * rows, gradient.indices, gradient.dense_shape
    )

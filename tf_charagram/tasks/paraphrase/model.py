"""The model that trains an encoder on paraphrase pairs, as ids or as texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import keras
import tensorflow as tf

from tf_charagram.checks import check_margin
from tf_charagram.errors import ConfigError
from tf_charagram.layers.row_gradients import Gradient
from tf_charagram.losses import normalize_rows
from tf_charagram.losses.negatives import NegativeSampler
from tf_charagram.tasks.paraphrase.losses import PairBatch, PairLoss
from tf_charagram.tasks.paraphrase.losses.margin import PairMargin
from tf_charagram.tasks.paraphrase.pair_stream import text_keys
from tf_charagram.training.step_model import StepModel

#: Ids of lefts and rights, and numbers of lefts and rights that are equal for equal texts.
Sides = tuple[tf.RaggedTensor, tf.RaggedTensor, tf.Tensor, tf.Tensor]

# Batches split between replicas are padded: Keras averages data over replicas to infer shapes,
# which fails for ragged tensors.
_PADDING = -1


class ParaphraseModel(StepModel):
    """Trains an encoder with a loss of pairs and negatives mined in the batch.

    A model made by `from_embedder` trains on raw pairs: `fit`, `evaluate` and `validation_data`
    take a `tf.data.Dataset` of batches of `(lefts, rights)`, strings `(B,)` each. This works under
    `tf.distribute.MirroredStrategy` too; each replica then chooses negatives in its part of a
    batch.

    Every model also takes batches of `(ids, text_ids)`: the ids of the 2B texts of B pairs, lefts
    first, then rights, `tf.RaggedTensor` int32 `(2B, None)`; and int64 `(2B,)`, equal for equal
    texts. One forward pass over the 2B texts serves mining, loss and gradient.

    Args:
        encoder: Keras layer from ragged ids to `(batch, dim)`.
        vectorizer: Keras layer from strings to ids, to train on raw pairs.

    Example:
        >>> from tf_charagram import NgramVectorizer, TextEmbedder
        >>> from tf_charagram.encoders import Charagram
        >>> from tf_charagram.optimizers import LazyAdam
        >>> lefts, rights = ["a cat", "a dog", "mice"], ["cats", "dogs", "a mouse"]
        >>> vectorizer = NgramVectorizer.from_texts(lefts + rights)
        >>> embedder = TextEmbedder(vectorizer, Charagram(num_rows=vectorizer.num_rows, dim=8))
        >>> pairs = tf.data.Dataset.from_tensor_slices((lefts, rights)).batch(3)
        >>> model = ParaphraseModel.from_embedder(embedder)
        >>> model.compile(LazyAdam(0.01))
        >>> history = model.fit(pairs, epochs=5, verbose=0).history["loss"]
        >>> history[-1] < history[0]
        True
    """

    def __init__(
        self,
        encoder: keras.layers.Layer,
        vectorizer: keras.layers.Layer | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__([encoder], **kwargs)
        self.encoder = encoder
        self.vectorizer = vectorizer

    @classmethod
    def from_embedder(cls, embedder: keras.Model, **kwargs: Any) -> Self:
        """Returns a model that trains the weights of an embedder in place.

        Args:
            embedder: A `TextEmbedder`.
            **kwargs: Arguments of `keras.Model`, such as `name`.
        """
        return cls(embedder.encoder, embedder.vectorizer, **kwargs)

    def compile(
        self,
        optimizer: keras.optimizers.Optimizer,
        *,
        loss: PairLoss | None = None,
        margin: float = 0.4,
        negatives: str | NegativeSampler = "max",
        metrics: Sequence[keras.metrics.Metric] = (),
        **kwargs: Any,
    ) -> None:
        """Configures training.

        Args:
            optimizer: For row-sparse updates, one of `tf_charagram.optimizers`.
            loss: Loss of a batch of pairs. Default: the margin loss.
            margin: m of the loss, in [0, 2].
            negatives: `"max"`, `"mix"`, `"random"`, or a sampler with further settings.
            metrics: Keras metrics of the vectors of lefts and rights, both `(B, dim)`, such as
                `keras.metrics.CosineSimilarity()`.
            **kwargs: Penalties, clipping and other options of `StepModel.compile`.

        Raises:
            ConfigError: An argument is out of range, or the encoder has no trainable weight.
        """
        check_margin(margin)
        super().compile(optimizer, **kwargs)
        self.pair_metrics = list(metrics)
        self.pair_loss = loss or PairMargin()
        self.margin = margin
        if not isinstance(negatives, NegativeSampler):
            negatives = NegativeSampler(negatives)
        self.negatives = negatives

    def loss_of(self, ids: tf.RaggedTensor, text_ids: tf.Tensor, training: bool) -> tf.Tensor:
        """Returns the loss of a batch, without penalties."""
        embeddings = self.vectors_of(ids, training)
        for metric in self.pair_metrics:
            metric.update_state(*tf.split(tf.stop_gradient(embeddings), 2))
        normalized = normalize_rows(tf.stop_gradient(embeddings))
        chosen, exists = self.negatives(normalized, text_ids, self.step)
        return self.pair_loss(PairBatch(embeddings, text_ids, chosen, exists, self.margin))

    def assert_finite(self, loss: tf.Tensor, gradients: Sequence[Gradient]) -> tf.Tensor:
        """Returns the loss once all is finite; some losses check themselves and their gradient."""
        if self.pair_loss.checks_itself and getattr(self.encoder, "has_no_products", False):
            return loss
        return super().assert_finite(loss, gradients)

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """The mean loss since the last reset, and the metrics of pairs."""
        return [*super().metrics, *getattr(self, "pair_metrics", [])]

    def fit(self, x: Any = None, *args: Any, validation_data: Any = None, **kwargs: Any) -> Any:
        """Trains the encoder on a `tf.data.Dataset` of pairs, with the options of Keras' `fit`.

        Raises:
            ConfigError: Pairs are not in batches, or the model has no vectorizer for them.
        """
        validation_data = self._ids_of(validation_data)
        return super().fit(self._ids_of(x), *args, validation_data=validation_data, **kwargs)

    def evaluate(self, x: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Computes mean loss and metrics on a `tf.data.Dataset` of pairs, without training.

        Raises:
            ConfigError: Pairs are not in batches, or the model has no vectorizer for them.
        """
        return super().evaluate(self._ids_of(x), *args, **kwargs)

    def _ids_of(self, data: Any) -> Any:
        replicas = self.distribute_strategy.num_replicas_in_sync
        return _ids_of_pairs(data, self.vectorizer, replicas)

    def test_step(self, data: tuple[Any, ...]) -> dict[str, tf.Tensor]:
        """Returns the mean loss and the metrics without training."""
        return super().test_step(_joined(data))

    def train_step(self, data: tuple[Any, ...]) -> dict[str, tf.Tensor]:
        """Trains on one batch; returns the mean loss and the metrics."""
        return super().train_step(_joined(data))


def _ids_of_pairs(data: Any, vectorizer: keras.layers.Layer | None, num_replicas: int = 1) -> Any:
    """Converts a dataset of string pairs to one of ids; other datasets are returned unchanged.

    The ids are computed in the input pipeline, because replicas of a `tf.distribute` strategy
    cannot receive strings. The two sides stay apart, so that a batch can be split.

    Args:
        data: A `tf.data.Dataset` of `(lefts, rights)`, strings `(batch,)`, or of other batches.
        vectorizer: The layer that makes the ids.
        num_replicas: Number of replicas a batch is split between.

    Raises:
        ConfigError: The pairs are not a dataset or not in batches, or there is no vectorizer.
    """
    if data is None:  # There are no validation data.
        return data
    if not isinstance(data, tf.data.Dataset):
        raise ConfigError(
            "Data must be a `tf.data.Dataset`, such as "
            "`tf.data.Dataset.from_tensor_slices((lefts, rights)).batch(batch_size)`. "
            f"Received: {type(data).__name__}"
        )
    specs = data.element_spec
    if not (isinstance(specs, tuple) and all(map(_is_text, specs))):
        return data
    if len(specs) != 2 or any(spec.shape.rank != 1 for spec in specs) or vectorizer is None:
        raise ConfigError(
            "Data of texts must be batches of pairs, (lefts, rights) with strings (batch,) each, "
            "for a model made by `ParaphraseModel.from_embedder(embedder)`. "
            f"Received: {specs}. Use dataset.batch(batch_size)."
        )

    def to_ids(lefts: tf.Tensor, rights: tf.Tensor) -> Sides:
        sides = vectorizer(lefts), vectorizer(rights)
        if num_replicas > 1:
            # A ragged tensor cannot be split between replicas.
            sides = tuple(tf.cast(side.to_tensor(_PADDING), tf.int64) for side in sides)
        return *sides, text_keys(lefts), text_keys(rights)

    return data.map(to_ids, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)


def _is_text(spec: Any) -> bool:
    return getattr(spec, "dtype", None) == tf.string


def _joined(data: tuple[Any, ...]) -> tuple[tf.RaggedTensor, tf.Tensor]:
    """Joins the sides of a batch into ids and numbers of all texts, lefts first."""
    if len(data) == 2:
        return data
    sides = [
        side
        if isinstance(side, tf.RaggedTensor)
        else tf.RaggedTensor.from_tensor(side, padding=_PADDING)
        for side in data[:2]
    ]
    return tf.concat(sides, axis=0), tf.concat(data[2:], axis=0)

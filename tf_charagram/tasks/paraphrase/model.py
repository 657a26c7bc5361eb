"""The model that trains an encoder on paraphrase pairs, as ids or as texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import keras
import tensorflow as tf

from tf_charagram._common.checks import check_margin
from tf_charagram.errors import ConfigError
from tf_charagram.layers._ops.row_gradients import Gradient
from tf_charagram.losses.cosine import normalize_rows
from tf_charagram.losses.negatives import NegativeSampler
from tf_charagram.tasks.paraphrase._corpus.pair_stream import text_keys
from tf_charagram.tasks.paraphrase.losses import PairBatch, PairLoss
from tf_charagram.tasks.paraphrase.losses.margin import PairMargin
from tf_charagram.text.base import TextVectorizer
from tf_charagram.training._loop.replicas import own_copy, shared_by_replicas
from tf_charagram.training.step_model import StepModel

_PAIRS_RULE = (
    "Batches must be pairs of texts, (lefts, rights) with strings (batch,) each and no weights, "
    "for a model made by `ParaphraseModel.from_embedder(embedder)`; or (ids, text_ids)."
)


class ParaphraseModel(StepModel):
    """Trains an encoder with a loss of pairs and negatives mined in the batch.

    A model made by `from_embedder` trains on raw pairs: `fit`, `evaluate` and `validation_data`
    take a `tf.data.Dataset` of batches of `(lefts, rights)`, strings `(B,)` each. This works under
    `tf.distribute.MirroredStrategy` too: replicas encode a share of a batch each, and choose
    negatives in all of it, so that the result is that of one device.

    Every model also takes batches of `(ids, text_ids)`: the ids of the 2B texts of B pairs, lefts
    first, then rights, `tf.RaggedTensor` int32 `(2B, None)`; and int64 `(2B,)`, equal for equal
    texts. One forward pass over the 2B texts serves mining, loss and gradient.

    Args:
        encoder: Keras layer from ragged ids to `(batch, dim)`.
        vectorizer: A vectorizer such as `NgramVectorizer`, to train on raw pairs.

    Examples:
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
        vectorizer: TextVectorizer | None = None,
        **kwargs: Any,
    ) -> None:
        if vectorizer is not None:
            kwargs["has_weights"] = vectorizer.has_weights
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
        # The choice of negatives has no gradient.
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
            ConfigError: Batches are no pairs or have weights, or the model has no vectorizer.
        """
        for name in ("sample_weight", "class_weight"):
            if kwargs.get(name) is not None:
                raise ConfigError(
                    f"A ParaphraseModel takes no weights. Received: {name}={kwargs[name]!r}"
                )
        validation_data = self._ids_of(validation_data)
        return super().fit(self._ids_of(x), *args, validation_data=validation_data, **kwargs)

    def evaluate(self, x: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Computes mean loss and metrics on a `tf.data.Dataset` of pairs, without training.

        Raises:
            ConfigError: Batches are no pairs or have weights, or the model has no vectorizer.
        """
        return super().evaluate(self._ids_of(x), *args, **kwargs)

    def _ids_of(self, data: Any) -> Any:
        if data is None:  # There are no validation data.
            return data
        if self.shares_batches and self.steps_per_execution > 1:
            raise ConfigError(
                "`steps_per_execution` must be 1 under a strategy of several replicas. "
                f"Received: {self.steps_per_execution}"
            )
        ids = _ids_of_pairs(data, self.vectorizer)
        return shared_by_replicas(ids, self.distribute_strategy)

    def test_step(self, data: tuple[Any, ...]) -> dict[str, tf.Tensor]:
        """Returns the mean loss and the metrics without training."""
        return super().test_step(own_copy(*data))

    def train_step(self, data: tuple[Any, ...]) -> dict[str, tf.Tensor]:
        """Trains on one batch; returns the mean loss and the metrics."""
        return super().train_step(own_copy(*data))


def _ids_of_pairs(data: Any, vectorizer: TextVectorizer | None) -> Any:
    """Converts a dataset of string pairs to one of ids; other datasets are returned unchanged.

    The ids are computed in the input pipeline, because replicas of a `tf.distribute` strategy
    cannot receive strings.

    Args:
        data: A `tf.data.Dataset` of `(lefts, rights)`, strings `(batch,)`, or of other batches.
        vectorizer: The layer that makes the ids.

    Raises:
        ConfigError: The pairs are not a dataset or not in batches, or there is no vectorizer.
    """
    if not isinstance(data, tf.data.Dataset):
        raise ConfigError(
            "Data must be a `tf.data.Dataset`, such as "
            "`tf.data.Dataset.from_tensor_slices((lefts, rights)).batch(batch_size)`. "
            f"Received: {type(data).__name__}"
        )
    specs = data.element_spec
    dtypes = [getattr(spec, "dtype", None) for spec in specs] if isinstance(specs, tuple) else []
    if len(dtypes) == 2 and all(dtype in (tf.int32, tf.int64) for dtype in dtypes):
        return data
    if dtypes != [tf.string, tf.string] or vectorizer is None:
        raise ConfigError(f"{_PAIRS_RULE} Received: {specs}")
    if any(spec.shape.rank != 1 for spec in specs):
        raise ConfigError(f"{_PAIRS_RULE} Received: {specs}. Use dataset.batch(batch_size).")

    def to_ids(lefts: tf.Tensor, rights: tf.Tensor) -> tuple[tf.RaggedTensor, tf.Tensor]:
        # One call for both sides, so that the graph has the vectorizer once.
        texts = tf.concat([lefts, rights], axis=0)
        return vectorizer.training_ids(texts), text_keys(texts)

    return data.map(to_ids, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)

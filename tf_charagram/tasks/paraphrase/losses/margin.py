"""The margin loss of pairs and their negatives (Charagram, appendix A)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tf_charagram.tasks.paraphrase.losses import PairBatch, PairLoss

if TYPE_CHECKING:
    import tensorflow as tf


@dataclass(frozen=True)
class PairMargin(PairLoss):
    """The mean over pairs of two hinges, one per text; its margin is a setting of all runs."""

    checks_itself = True

    def __call__(self, batch: PairBatch) -> tf.Tensor:
        """Returns the loss of a batch, a scalar."""
        # The default loss is part of the settings, which import without TensorFlow.
        from tf_charagram.losses.margin import margin_loss

        return margin_loss(batch.embeddings, batch.negatives, batch.exists, batch.margin)


LOSS = PairMargin

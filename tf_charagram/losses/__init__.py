"""Losses: margin loss, in-batch negatives and L2 penalties."""

from tf_charagram.lazy import lazy_names

__getattr__ = lazy_names(__name__, {"MarginLoss": "tf_charagram.losses.margin"})

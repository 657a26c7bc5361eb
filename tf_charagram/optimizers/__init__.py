"""Keras optimizers: row-sparse Adam and AdaGrad, and SGD."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tf_charagram._common.lazy import lazy_names

if TYPE_CHECKING:
    from tf_charagram.optimizers.adagrad import LazyAdagrad
    from tf_charagram.optimizers.adam import LazyAdam
    from tf_charagram.optimizers.sgd import MomentumSgd

__all__ = ["LazyAdagrad", "LazyAdam", "MomentumSgd"]

#: Class -> module.
CLASSES = {
    "LazyAdagrad": "tf_charagram.optimizers.adagrad",
    "LazyAdam": "tf_charagram.optimizers.adam",
    "MomentumSgd": "tf_charagram.optimizers.sgd",
}

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, CLASSES, needs_tensorflow=True)

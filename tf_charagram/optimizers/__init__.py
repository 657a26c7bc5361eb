"""Optimizers that update only the rows of a table that a batch touched."""

from tf_charagram.optimizers.lazy import OPTIMIZERS, LazyAdagrad, LazyAdam, make_optimizer

__all__ = ["OPTIMIZERS", "LazyAdagrad", "LazyAdam", "make_optimizer"]

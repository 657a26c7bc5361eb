"""Optimizers that update only the rows of a table that a batch touched, and one that does not."""

from tf_charagram.optimizers.lazy import OPTIMIZERS, LazyAdagrad, LazyAdam, make_optimizer
from tf_charagram.optimizers.sgd import MomentumSgd

__all__ = ["OPTIMIZERS", "LazyAdagrad", "LazyAdam", "MomentumSgd", "make_optimizer"]

"""Optimizers by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras

from tf_charagram.errors import ConfigError
from tf_charagram.optimizers.adagrad import LazyAdagrad
from tf_charagram.optimizers.adam import LazyAdam
from tf_charagram.optimizers.sgd import MomentumSgd

# Where AdaGrad starts its sums of squares by default: of the size of the squared
# gradients here. At Keras' 0.1 it comes close to SGD; see research/deviations.md.
_INITIAL_ACCUMULATOR = 1e-6

OPTIMIZERS: dict[str, Callable[..., keras.optimizers.Optimizer]] = {
    "adam": LazyAdam,
    "adagrad": LazyAdagrad,
    "sgd": MomentumSgd,
}


def make_optimizer(name: str, learning_rate: float, **options: Any) -> keras.optimizers.Optimizer:
    """Returns an optimizer, by its name, for encoders whose gradients have distinct rows.

    Args:
        name: `"adam"` or `"adagrad"`, both row-sparse, or `"sgd"`.
        learning_rate: Step size.
        **options: Other arguments of its class.

    Raises:
        ConfigError: `learning_rate` is not above 0.
    """
    if not learning_rate > 0:
        raise ConfigError(f"`learning_rate` must be above 0. Received: {learning_rate}")
    if name != "sgd":
        options["distinct_rows"] = True
    if name == "adagrad":
        options.setdefault("initial_accumulator_value", _INITIAL_ACCUMULATOR)
    return OPTIMIZERS[name](learning_rate, **options)

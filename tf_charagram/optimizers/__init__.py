"""Keras optimizers: row-sparse Adam and AdaGrad, and SGD."""

from tf_charagram.lazy import lazy_names

#: Class -> module.
CLASSES = {
    "LazyAdagrad": "tf_charagram.optimizers.adagrad",
    "LazyAdam": "tf_charagram.optimizers.adam",
    "MomentumSgd": "tf_charagram.optimizers.sgd",
}

__getattr__ = lazy_names(__name__, CLASSES)

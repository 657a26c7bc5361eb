"""Both ways to run the algorithms on texts."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tf_charagram.text._algorithm import arrays, graph
from tf_charagram.text._algorithm.batches import to_bytes

#: Runs a test in NumPy and in TensorFlow.
over_both = pytest.mark.parametrize("ops", [arrays, graph], ids=["arrays", "graph"])


def batch_of(ops, raws):
    """Returns texts as a list, or as a string tensor."""
    return raws if ops is arrays else tf.constant([to_bytes(raw) for raw in raws], tf.string)


def arrays_of(results):
    """Returns arrays of NumPy for arrays or tensors."""
    return [np.asarray(result) for result in results]

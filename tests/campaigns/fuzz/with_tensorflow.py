"""Imports what cases with TensorFlow need, once for all processes, and runs no operation yet."""

from __future__ import annotations

from tf_charagram.cli.quiet import quiet_tensorflow

quiet_tensorflow()

import tensorflow  # noqa: E402

import tf_charagram.serialization.registry  # noqa: E402, F401
from tf_charagram.models import embedder, pair_models, tagger, text_classifier  # noqa: E402, F401

tensorflow.get_logger().setLevel("ERROR")

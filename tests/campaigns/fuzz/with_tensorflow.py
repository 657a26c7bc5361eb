"""What cases with TensorFlow need, imported once for all processes."""

from __future__ import annotations

from importlib import import_module

from tf_charagram.reporting.quiet_tensorflow import quiet_tensorflow

_MODULES = (
    "tensorflow_text",
    "tf_charagram.models.embedder",
    "tf_charagram.tasks.pairs.models",
    "tf_charagram.tasks.tagging.tagger",
    "tf_charagram.tasks.sentiment.classifier",
)


def import_tensorflow() -> None:
    """Imports it, and runs no operation: its threads would be lost where a process forks."""
    quiet_tensorflow()
    tensorflow = import_module("tensorflow")
    for name in _MODULES:
        import_module(name)
    tensorflow.get_logger().setLevel("ERROR")

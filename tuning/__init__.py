"""Tuning: search spaces for KerasTuner in Python, and the command `charagram tune`."""

from tf_charagram.lazy import lazy_names

__all__ = ["ScoreOnSet", "TextHyperModel", "TunedModel", "hypermodel"]

__getattr__ = lazy_names(__name__, dict.fromkeys(__all__, "tf_charagram.tuning.models"))

"""Tuning: search spaces for KerasTuner in Python, and the command `charagram tune`."""

from typing import TYPE_CHECKING

from tf_charagram._common.lazy import lazy_names

__all__ = ["ScoreOnSet", "TextHyperModel", "TunedModel", "hypermodel"]

if TYPE_CHECKING:
    from tf_charagram.evaluation.callback import ScoreOnSet
    from tf_charagram.tuning.models import TextHyperModel, TunedModel, hypermodel
else:
    _HOMES = dict.fromkeys(__all__, "tf_charagram.tuning.models")
    _HOMES["ScoreOnSet"] = "tf_charagram.evaluation.callback"
    __getattr__ = lazy_names(__name__, _HOMES, needs_tensorflow=True)

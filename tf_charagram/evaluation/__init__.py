"""Vectors become scores."""

from typing import TYPE_CHECKING

from tf_charagram._common.lazy import lazy_names, names_in

if TYPE_CHECKING:
    from tf_charagram.evaluation.callback import ScoreOnSet
    from tf_charagram.evaluation.classification import ClassificationScore
else:
    _HOMES = {"callback": ["ScoreOnSet"], "classification": ["ClassificationScore"]}
    __getattr__ = lazy_names(
        __name__,
        names_in(__name__, _HOMES),
        needs_tensorflow=True,
        light=["ClassificationScore"],
    )

__all__ = ["ClassificationScore", "ScoreOnSet"]

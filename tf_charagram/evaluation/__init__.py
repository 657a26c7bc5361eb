"""Vectors become scores."""

from typing import TYPE_CHECKING

from tf_charagram._common.lazy import lazy_names

if TYPE_CHECKING:
    from tf_charagram.evaluation.callback import ScoreOnSet
    from tf_charagram.evaluation.classification import ClassificationScore
else:
    __getattr__ = lazy_names(
        __name__,
        {
            "ClassificationScore": "tf_charagram.evaluation.classification",
            "ScoreOnSet": "tf_charagram.evaluation.callback",
        },
        needs_tensorflow=True,
        light=["ClassificationScore"],
    )

__all__ = ["ClassificationScore", "ScoreOnSet"]

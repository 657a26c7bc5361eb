"""Text embeddings from character n-grams, trained on paraphrase pairs, in TensorFlow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tf_charagram._version import __version__
from tf_charagram.encoders import CLASSES
from tf_charagram.errors import CharagramError, ConfigError, DataError, RunError, TrainingError
from tf_charagram.layers import LAYERS
from tf_charagram.lazy import lazy_names, register_with_keras
from tf_charagram.models.locations import MODELS
from tf_charagram.optimizers import CLASSES as OPTIMIZERS
from tf_charagram.tasks import CLASSES as TASK_CLASSES
from tf_charagram.tasks import MODELS as TASK_MODELS

if TYPE_CHECKING:
    from tf_charagram.models.embedder import TextEmbedder
    from tf_charagram.tasks.labels.models import PairClassifier, PairScorer, TextClassifier
    from tf_charagram.tasks.paraphrase.model import ParaphraseModel
    from tf_charagram.tasks.tagging.model import Tagger
    from tf_charagram.text.vectorizer import NgramVectorizer

_MODELS = {
    **TASK_CLASSES,
    "TextEmbedder": "tf_charagram.models.embedder",
}
_TRAINING = {
    **OPTIMIZERS,
    "MarginLoss": "tf_charagram.losses.margin",
}
_OTHERS = {
    "NgramVectorizer": "tf_charagram.text.vectorizer",
    "ParaphraseModel": "tf_charagram.tasks.paraphrase.model",
}
_MODULES = ("encoders", "layers", "losses", "optimizers")

__all__ = [
    "CharagramError",
    "ConfigError",
    "DataError",
    "NgramVectorizer",
    "PairClassifier",
    "PairScorer",
    "ParaphraseModel",
    "RunError",
    "Tagger",
    "TextClassifier",
    "TextEmbedder",
    "TrainingError",
    "__version__",
]

_lazy = lazy_names(
    __name__, {**_MODELS, **_OTHERS, **{name: f"{__name__}.{name}" for name in _MODULES}}
)
MODELS.update(TASK_MODELS)


def _register() -> None:
    register_with_keras(__name__, {**_MODELS, **_TRAINING, **LAYERS, **CLASSES})


def __getattr__(name: str) -> Any:
    value = _lazy(name)
    _register()
    return value


_register()

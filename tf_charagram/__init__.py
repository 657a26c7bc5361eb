"""Text embeddings from character n-grams, trained on paraphrase pairs, in TensorFlow."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tf_charagram._version import __version__
from tf_charagram.errors import CharagramError, ConfigError, DataError, RunError, TrainingError

if TYPE_CHECKING:
    from tf_charagram.models.embedder import TextEmbedder
    from tf_charagram.models.pair_models import PairClassifier, PairScorer
    from tf_charagram.models.tagger import Tagger
    from tf_charagram.models.text_classifier import TextClassifier
    from tf_charagram.text.vectorizer import NgramVectorizer

# TensorFlow takes seconds to import; `--help` and a wrong flag should not.
_LAZY = {
    "NgramVectorizer": "tf_charagram.text.vectorizer",
    "PairClassifier": "tf_charagram.models.pair_models",
    "PairScorer": "tf_charagram.models.pair_models",
    "Tagger": "tf_charagram.models.tagger",
    "TextClassifier": "tf_charagram.models.text_classifier",
    "TextEmbedder": "tf_charagram.models.embedder",
}

__all__ = [
    "CharagramError",
    "ConfigError",
    "DataError",
    "NgramVectorizer",
    "PairClassifier",
    "PairScorer",
    "RunError",
    "Tagger",
    "TextClassifier",
    "TextEmbedder",
    "TrainingError",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

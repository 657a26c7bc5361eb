"""Text embeddings from character n-grams, trained on paraphrase pairs, in TensorFlow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tf_charagram._version import __version__
from tf_charagram.errors import CharagramError, ConfigError, DataError, RunError, TrainingError

if TYPE_CHECKING:
    from tf_charagram.models.embedder import TextEmbedder
    from tf_charagram.text.vectorizer import NgramVectorizer

__all__ = [
    "CharagramError",
    "ConfigError",
    "DataError",
    "NgramVectorizer",
    "RunError",
    "TextEmbedder",
    "TrainingError",
    "__version__",
]


def __getattr__(name: str) -> Any:
    # TensorFlow takes seconds to import; `--help` and a wrong flag should not.
    if name == "TextEmbedder":
        from tf_charagram.models.embedder import TextEmbedder

        return TextEmbedder
    if name == "NgramVectorizer":
        from tf_charagram.text.vectorizer import NgramVectorizer

        return NgramVectorizer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""The embedder in a model of any kind."""

from __future__ import annotations

from tf_charagram.errors import ConfigError
from tf_charagram.models.answering import AnsweringModel
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.models.registry import load_any


def load_embedder(path: str) -> TextEmbedder:
    """Loads an embedder, or the vectorizer and encoder of a model whose head sees text vectors.

    Args:
        path: Run folder, model folder, or name of a shipped model.

    Raises:
        ConfigError: The model has no vector of a whole text, as a tagger has none.
        RunError: It cannot be loaded.
    """
    model = load_any(path)
    if isinstance(model, TextEmbedder):
        return model
    if isinstance(model, AnsweringModel):
        return TextEmbedder(model.vectorizer, model.encoder)
    raise ConfigError(
        f"`model` must have one vector per text: an embedder, a pair model or a text classifier. "
        f"Received: {path}, a {model.kind}."
    )

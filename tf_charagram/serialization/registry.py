"""All kinds of models there are, by the name that their folders say."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from tf_charagram.errors import RunError, unknown_name
from tf_charagram.serialization.model_folder import EMBEDDER, read_kind

#: Kind -> module and class.
MODELS = {
    EMBEDDER: ("embedder", "TextEmbedder"),
    "tagger": ("tagger", "Tagger"),
    "pair_scorer": ("pair_models", "PairScorer"),
    "pair_classifier": ("pair_models", "PairClassifier"),
    "text_classifier": ("text_classifier", "TextClassifier"),
}


def load_any(path: str | Path) -> Any:
    """Loads a model of any kind: a `TextEmbedder` or a `HeadedModel`.

    Args:
        path: Folder of the model, or of its run.

    Raises:
        RunError: It is not a model, is of an unknown kind, is damaged, or is from a newer version.
    """
    kind = read_kind(path)
    if kind not in MODELS:
        raise RunError(f"{path}: {unknown_name('kind of model', kind, MODELS)}")
    module, name = MODELS[kind]
    return getattr(import_module(f"tf_charagram.models.{module}"), name).load(path)

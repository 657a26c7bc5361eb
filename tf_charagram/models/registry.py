"""The kinds of models, by the names that their folders give them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from tf_charagram.errors import ConfigError, RunError, unknown_name
from tf_charagram.models.locations import EMBEDDER, read_kind

#: Kind -> module and class, which is imported when needed. Tasks add the kinds that they train.
MODELS = {EMBEDDER: ("tf_charagram.models.embedder", "TextEmbedder")}


def model_class(kind: str) -> Any:
    """Returns the class of a kind of model, a `TextModel`.

    Raises:
        ConfigError: There is no such kind.

    Example:
        >>> model_class("tagger").__name__
        'Tagger'
    """
    if kind not in MODELS:
        raise ConfigError(unknown_name("kind of model", kind, MODELS))
    module, name = MODELS[kind]
    return getattr(import_module(module), name)


def load_any(path: str | Path) -> Any:
    """Loads a model of any kind, a `TextModel`.

    Args:
        path: Folder of the model, or of its run.

    Raises:
        RunError: It is not a model, is of an unknown kind, is damaged, or is from a newer version.
    """
    kind = read_kind(path)
    try:
        cls = model_class(kind)
    except ConfigError as error:
        raise RunError(f"{path}: {error}") from error
    return cls.load(path)

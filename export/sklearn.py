"""An embedder as a step of a scikit-learn pipeline."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from tf_charagram._common.lazy import extra_module
from tf_charagram.models._storage.choice import MANY_CHARS, Embedder, load_embedder, num_chars_of
from tf_charagram.models._storage.locations import model_files, read_config
from tf_charagram.text._algorithm.arguments import strings_of

_base = extra_module("sklearn.base", "sklearn")
_BaseEstimator: Any = _base.BaseEstimator
_TransformerMixin: Any = _base.TransformerMixin
_FeatureNamesMixin: Any = _base.ClassNamePrefixFeaturesOutMixin


class CharagramTransformer(_FeatureNamesMixin, _TransformerMixin, _BaseEstimator):
    """Turns texts into embeddings; it needs no fitting.

    Loads the model when it is first needed; all transformers of a process share the last model.
    Copies and pickles hold the path of the model, not its weights.

    Args:
        model: Run folder, model folder, or name of a model.

    Examples:
        `make_pipeline(CharagramTransformer("runs/mine"), LogisticRegression()).fit(texts, labels)`
    """

    def __init__(self, model: str | Path) -> None:
        self.model = model

    def fit(self, X: Sequence[str], y: Any = None) -> CharagramTransformer:
        """Checks that there is a model; returns itself.

        Raises:
            RunError: The model is missing or damaged.
        """
        del X, y
        read_config(self.model)
        return self

    def transform(self, X: Sequence[str]) -> np.ndarray:
        """Returns the embeddings of texts, float32 `(num_texts, dim)`.

        Raises:
            ConfigError: `X` is not a list of texts.
            RunError: The model cannot be loaded.
        """
        texts = strings_of(X, "X")
        return self._embedder(num_chars_of(texts)).encode(texts)

    def _embedder(self, num_chars: int) -> Embedder:
        read_config(self.model)
        states = []
        for file in model_files(self.model):
            state = os.stat(file)
            states.append((state.st_mtime_ns, state.st_size))
        return _loaded(str(self.model), tuple(states), num_chars >= MANY_CHARS)

    @property
    def _n_features_out(self) -> int:
        return self._embedder(0).dim

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


@lru_cache(maxsize=1)
def _loaded(model: str, state: tuple[tuple[int, int], ...], is_much: bool) -> Embedder:
    """Loads a model; `state` invalidates the cache when its files change."""
    del state
    return load_embedder(model, MANY_CHARS if is_much else 0)

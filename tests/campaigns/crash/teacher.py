"""A teacher that needs no package, in the place of one of sentence-transformers."""

from __future__ import annotations

import sys
import time
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from tests.campaigns.crash.inputs import vectors_of

_SECONDS_PER_BATCH = 0.05


class _Tensor:
    def __init__(self, values: np.ndarray) -> None:
        self._values = values

    def float(self) -> _Tensor:
        return self

    def cpu(self) -> _Tensor:
        return self

    def numpy(self) -> np.ndarray:
        return self._values


class _SentenceTransformer:
    device = SimpleNamespace(type="cpu")

    def __init__(self, name: str, **options: Any) -> None:
        pass

    def get_embedding_dimension(self) -> int:
        return vectors_of([]).shape[1]

    def encode(self, texts: list[str], **options: Any) -> _Tensor:
        # A teacher is slow, so that many deaths find it at work.
        end = time.thread_time() + _SECONDS_PER_BATCH
        while time.thread_time() < end:
            pass
        return _Tensor(vectors_of(texts))


def stand_in() -> None:
    """Lets `--teacher sentence-transformers:ANY` find it."""
    module = ModuleType("sentence_transformers")
    module.SentenceTransformer = _SentenceTransformer  # type: ignore[attr-defined]
    sys.modules["sentence_transformers"] = module

"""What is served: models of different weights; the texts they are asked; the answers they owe."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.export.serving.servers import NAME
from tests.texts import NASTY, words
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.export.runtime.c_runtime import CRuntime
from tf_charagram.export.serving.inputs import sample_texts
from tf_charagram.export.serving.version import EXTRA_ASSETS
from tf_charagram.export.serving.warmup import write_warmup
from tf_charagram.models.embedder import TextEmbedder, unit_rows
from tf_charagram.text.batches import to_bytes
from tf_charagram.text.vectorizer import NgramVectorizer

DIM = 64
#: Of the largest number of a vector, or of 1: texts of 100 kB have large ones.
TOLERANCE = 1e-5
_SIGNATURES = {"serving_default": ["texts"], "similarity": ["texts_a", "texts_b"]}
# Folded n-grams are summed in another order than in Python: rounding, over 100,000 rows.
_REORDERED = 1e-3


@dataclass(frozen=True)
class Pool:
    """The texts of a campaign, and which of them a request may ask for together.

    Attributes:
        texts: All of them.
        kinds: Name -> positions of its texts.
    """

    texts: list[bytes]
    kinds: dict[str, range]


def make_pool(seed: int) -> Pool:
    """Returns words, sentences, and texts that are hard to read or 100 kB long."""
    kinds = {
        "words": words(300, seed),
        "sentences": sample_texts("embedder")[:300],
        "odd": _odd_texts(random.Random(seed)),
    }
    texts: list[bytes] = []
    ranges = {}
    for name, group in kinds.items():
        ranges[name] = range(len(texts), len(texts) + len(group))
        texts += map(to_bytes, group)
    return Pool(texts, ranges)


def _odd_texts(rng: random.Random) -> list[str | bytes]:
    short = [text for name, text in NASTY.items() if not name.startswith("long")]
    size = 100_000
    emoji = "".join(chr(rng.randrange(0x1F300, 0x1FAFF)) for _ in range(size // 4))
    return [
        *short,
        "cat dog " * (size // 8),
        "x" * size,
        rng.randbytes(size),
        rng.randbytes(50),
        b"\0" * 1000,
        emoji,
        emoji[:20],
    ]


@dataclass(frozen=True)
class Exported:
    """A SavedModel, and what it must answer.

    Attributes:
        folder: The SavedModel.
        vectors: Of all texts, each in a batch of its own, float32 `(num_texts, DIM)`.
        units: The same, each of length 1 or 0.
    """

    folder: Path
    vectors: np.ndarray
    units: np.ndarray


def export_models(folder: Path, pool: Pool, number: int) -> list[Exported]:
    """Exports models that differ in their weights alone.

    Raises:
        RuntimeError: A SavedModel gives other vectors than the model it was made of.
    """
    vectorizer = NgramVectorizer.from_texts(
        [text.decode("utf-8", "replace") for text in pool.texts]
    )
    exports = []
    for seed in range(number):
        encoder = Charagram(num_rows=vectorizer.num_rows, dim=DIM, seed=seed)
        embedder = TextEmbedder(vectorizer, encoder)
        path = folder / f"export-{seed}"
        embedder.export(path)
        write_warmup(path / EXTRA_ASSETS, NAME, _SIGNATURES, pool.texts)
        with CRuntime(path) as runtime:
            vectors = np.concatenate([_vector(runtime, text) for text in pool.texts])
        if (difference := differs(vectors, embedder.encode(pool.texts))) > _REORDERED:
            raise RuntimeError(f"{path} differs from the model in Python by {difference:.2g}.")
        exports.append(Exported(path, vectors, unit_rows(vectors)))
    return exports


def _vector(runtime: CRuntime, text: bytes) -> np.ndarray:
    return runtime.run("serving_default", {"texts": [text]})["embedding"]


def differs(answer: np.ndarray, expected: np.ndarray) -> float:
    """Returns the largest difference of a row, as a share of its largest number or of 1."""
    if answer.shape != expected.shape:
        return float("inf")
    if not answer.size:
        return 0.0
    answer, expected = (values.reshape(len(values), -1) for values in (answer, expected))
    size = np.maximum(np.abs(expected).max(axis=1, keepdims=True), 1)
    worst = np.max(np.abs(answer - expected) / size)
    return float("inf") if np.isnan(worst) else float(worst)

"""Golden vectors: what a version must give for some texts, wherever it is loaded."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path

from tf_charagram.files import whole_file
from tf_charagram.models.embedder import TextEmbedder

GOLDEN = "golden.json"
_NUM_TEXTS = 50
#: Besides real texts: what is hard to read in the same way everywhere.
_HARD = (
    b"", b" ", b"a", b"caf\xc3\xa9", b"caf\xe9", b"a\0b", b"\xef\xbb\xbfbom", b"two\r\nlines",
    "\u05e9\u05dc\u05d5\u05dd".encode(), "\u4f60\u597d".encode(), "\U0001f44d\U0001f3fd".encode(),
)  # fmt: skip


def write_golden(path: str | Path, embedder: TextEmbedder, texts: Sequence[bytes]) -> None:
    """Writes texts with their vectors as Python computes them.

    Args:
        path: Folder `assets.extra` of the version.
        embedder: The model that was exported.
        texts: Real texts; the first 50 count.
    """
    chosen = [*texts[:_NUM_TEXTS], *_HARD]
    vectors = embedder.encode(chosen)
    golden = {
        "texts": [base64.b64encode(text).decode() for text in chosen],
        # Seven digits are what a float32 has.
        "embedding": [[float(f"{value:.7g}") for value in vector] for vector in vectors.tolist()],
    }
    with whole_file(Path(path) / GOLDEN, "w") as file:
        json.dump(golden, file)


def most_golden_bytes(texts: Sequence[bytes], dim: int) -> int:
    """Returns a size in bytes that the file will not exceed; arguments as of `write_golden`."""
    chosen = [*texts[:_NUM_TEXTS], *_HARD]
    return sum(2 * len(text) + 16 + 16 * dim for text in chosen)


def read_golden(path: str | Path) -> tuple[list[bytes], list[list[float]]]:
    """Returns the texts and vectors that `write_golden` wrote."""
    golden = json.loads((Path(path) / GOLDEN).read_text(encoding="utf-8"))
    return [base64.b64decode(text) for text in golden["texts"]], golden["embedding"]

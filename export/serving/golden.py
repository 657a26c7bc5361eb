"""Golden vectors and answers: what a version must give for some texts, wherever it is loaded."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf

from tf_charagram.export.check.probe import encode_array, encode_inputs
from tf_charagram.export.serving.inputs import dtype_of, make_inputs
from tf_charagram.files import whole_file
from tf_charagram.models.base import HeadedModel
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


def write_golden_answers(
    path: str | Path,
    model: HeadedModel,
    signatures: Mapping[str, Iterable[str]],
    texts: Sequence[bytes],
) -> None:
    """Writes what each signature is asked and what it answers in Python, as `{"calls": [...]}`.

    A call has `signature`, `inputs` and `outputs`; strings are in base64, as `probe` takes them.

    Args:
        path: Folder `assets.extra` of the version.
        model: The model that was exported.
        signatures: Names of the inputs of each signature.
        texts: Real texts; the first 50 count. Each makes a pair with the next.
    """
    chosen = [*texts[:_NUM_TEXTS], *_HARD]
    functions, calls = model.signatures(), []
    for name, names in signatures.items():
        inputs = make_inputs(names, chosen, [*chosen[1:], chosen[0]])
        answer = functions[name](
            **{key: tf.constant(values, dtype_of(key)) for key, values in inputs.items()}
        )
        outputs = {key: encode_array(value.numpy()) for key, value in answer.items()}
        calls.append({"signature": name, "inputs": encode_inputs(inputs), "outputs": outputs})
    with whole_file(Path(path) / GOLDEN, "w") as file:
        json.dump({"calls": calls}, file)


def read_golden_answers(path: str | Path) -> list[dict[str, Any]]:
    """Returns the calls that `write_golden_answers` wrote."""
    golden = json.loads((Path(path) / GOLDEN).read_text(encoding="utf-8"))
    return [
        {"signature": call["signature"], "inputs": {**call["inputs"]}, "outputs": {
            name: {"shape": tuple(one["shape"]), "value": [*one["value"]]}
            for name, one in call["outputs"].items()
        }}
        for call in golden["calls"]
    ]  # fmt: skip

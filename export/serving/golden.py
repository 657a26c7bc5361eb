"""Golden vectors and answers: what a version must give for some texts, wherever it is loaded.

The file of a model that gives vectors has its texts and vectors; that of any other has calls.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tf_charagram.export.check.probe import encode_array, encode_inputs
from tf_charagram.export.serving.inputs import dtype_of, make_inputs
from tf_charagram.files.json_files import read_json
from tf_charagram.files.writing import whole_file
from tf_charagram.models.base import TextModel
from tf_charagram.models.embedder import unit_rows

GOLDEN = "golden.json"
#: What a signature is asked and what it must answer: `signature`, `inputs` and `outputs`, with
#: strings in base64, as `probe` takes them.
GoldenCall = dict[str, Any]
_NUM_TEXTS = 50
#: Besides real texts: what is hard to read the same way everywhere.
_HARD = (
    b"", b" ", b"a", b"caf\xc3\xa9", b"caf\xe9", b"a\0b", b"\xef\xbb\xbfbom", b"two\r\nlines",
    "\u05e9\u05dc\u05d5\u05dd".encode(), "\u4f60\u597d".encode(), "\U0001f44d\U0001f3fd".encode(),
)  # fmt: skip


def write_golden(
    path: str | Path,
    model: TextModel,
    signatures: Mapping[str, Iterable[str]],
    texts: Sequence[bytes],
) -> None:
    """Writes texts with their vectors, or calls with their answers, as Python computes them.

    Args:
        path: Folder `assets.extra` of the version.
        model: The model that was exported.
        signatures: Names of the inputs of each signature.
        texts: Real texts; the first 50 count. In a call, each makes a pair with the next.
    """
    chosen = [*texts[:_NUM_TEXTS], *_HARD]
    if model.gives_vectors:
        golden = _texts_and_vectors(model, chosen)
    else:
        golden = {"calls": _calls(model, signatures, chosen)}
    with whole_file(Path(path) / GOLDEN, "w") as file:
        json.dump(golden, file)


def most_golden_bytes(texts: Sequence[bytes], dim: int) -> int:
    """Returns a size that the file of a model that gives vectors will not exceed.

    Args:
        texts: As of `write_golden`.
        dim: Width of the vectors.
    """
    chosen = [*texts[:_NUM_TEXTS], *_HARD]
    return sum(2 * len(text) + 16 + 16 * dim for text in chosen)


def read_golden(path: str | Path) -> list[GoldenCall]:
    """Returns the calls that `write_golden` wrote, or those that its texts and vectors stand for.

    Args:
        path: Folder `assets.extra` of the version.
    """
    golden = read_json(Path(path) / GOLDEN)
    if "calls" not in golden:
        texts = [base64.b64decode(text) for text in golden["texts"]]
        return vector_calls(texts, np.array(golden["embedding"], np.float32))
    return [
        {"signature": call["signature"], "inputs": {**call["inputs"]}, "outputs": {
            name: {"shape": tuple(output["shape"]), "value": [*output["value"]]}
            for name, output in call["outputs"].items()
        }}
        for call in golden["calls"]
    ]  # fmt: skip


def vector_calls(texts: Sequence[bytes], vectors: np.ndarray) -> list[GoldenCall]:
    """Returns calls for the vectors of texts, and for their cosines in the opposite order.

    Args:
        texts: At least one.
        vectors: float32 `(num_texts, dim)`.

    Raises:
        ValueError: There are no texts, or the number of vectors differs.
    """
    num_texts, _ = vectors.shape
    if num_texts != len(texts):
        raise ValueError(
            f"Number of texts ({len(texts)}) does not match number of vectors ({num_texts})."
        )
    unit = unit_rows(vectors)
    cosines = np.sum(unit * unit[::-1], axis=1)
    return [
        {
            "signature": "serving_default",
            "inputs": encode_inputs({"texts": texts}),
            "outputs": {"embedding": encode_array(vectors)},
        },
        {
            "signature": "similarity",
            "inputs": encode_inputs({"texts_a": texts, "texts_b": texts[::-1]}),
            "outputs": {"cosine": encode_array(cosines)},
        },
    ]


def _texts_and_vectors(embedder: Any, texts: Sequence[bytes]) -> dict[str, Any]:
    vectors = embedder.encode(texts)
    return {
        "texts": [base64.b64encode(text).decode() for text in texts],
        # Not exact: clients compare with a tolerance.
        "embedding": [[float(f"{value:.7g}") for value in vector] for vector in vectors.tolist()],
    }


def _calls(
    model: TextModel, signatures: Mapping[str, Iterable[str]], texts: Sequence[bytes]
) -> list[GoldenCall]:
    functions, calls = model.signatures(), []
    for signature, names in signatures.items():
        inputs = make_inputs(names, texts, [*texts[1:], texts[0]])
        tensors = {name: tf.constant(value, dtype_of(name)) for name, value in inputs.items()}
        answer = functions[signature](**tensors)
        outputs = {name: encode_array(value.numpy()) for name, value in answer.items()}
        calls.append({"signature": signature, "inputs": encode_inputs(inputs), "outputs": outputs})
    return calls

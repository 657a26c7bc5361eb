"""One version of a served model: the SavedModel, golden answers, warm-up requests, and a page."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from tf_charagram.export.serving import config
from tf_charagram.export.serving.card import PAGE, page
from tf_charagram.export.serving.folder import ServingFolder
from tf_charagram.export.serving.samples import Inputs, dtype_of, make_inputs
from tf_charagram.files.json_files import read_json
from tf_charagram.files.writing import (
    partial_folder,
    temporary_folder,
    tensorflow_writing,
    whole_file,
)
from tf_charagram.models.base import TextModel
from tf_charagram.models.saved_model import MODEL_CARD

EXTRA_ASSETS = "assets.extra"
GOLDEN = "golden.json"
WARMUP = "tf_serving_warmup_requests"
_NUM_GOLDEN = 50
# Texts that are hard to read the same way everywhere.
_HARD_TEXTS = (
    b"", b" ", b"a", b"caf\xc3\xa9", b"caf\xe9", b"a\0b", b"\xef\xbb\xbfbom", b"two\r\nlines",
    "\u05e9\u05dc\u05d5\u05dd".encode(), "\u4f60\u597d".encode(), "\U0001f44d\U0001f3fd".encode(),
)  # fmt: skip
_WARMUP_SIZES = (1, 8, 32)


def write_version(
    model: TextModel, folder: ServingFolder, about: dict[str, Any], texts: Sequence[bytes]
) -> Path:
    """Writes the next version of a model, which appears only once it is complete.

    Args:
        model: The model to serve.
        folder: The versions of the model.
        about: More entries of the model card, see `about_run`.
        texts: Real texts, at least one, for golden answers and warm-up requests.

    Returns:
        Folder of the version.

    Raises:
        RunError: The disk is full or the folder cannot be written; older versions are untouched.
    """
    with partial_folder(folder.path / "new") as partial:
        model.write_saved_model(partial, about)
        card = read_json(partial / MODEL_CARD)
        write_assets(partial, model, folder.name, texts)
        if config.is_batchable(card):
            with whole_file(partial / config.BATCHING_PARAMETERS) as file:
                file.write(config.batching_parameters(folder.path.parent))
        with whole_file(partial / PAGE, "w") as file:
            file.write(page(card, folder.name, folder.next_version))
        return folder.publish(partial)


def write_assets(folder: Path, model: TextModel, name: str, texts: Sequence[bytes]) -> None:
    """Writes golden answers and warm-up requests into `assets.extra` of a version."""
    write_golden(folder / EXTRA_ASSETS / GOLDEN, model, texts)
    signatures = {key: _input_names(value) for key, value in model.signatures().items()}
    write_warmup(folder / EXTRA_ASSETS / WARMUP, name, signatures, texts)


def assets_bytes(model: TextModel, name: str, texts: Sequence[bytes]) -> int:
    """Returns the size of the files that `write_assets` writes, by writing them."""
    with temporary_folder() as folder:
        write_assets(folder, model, name, texts)
        return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _input_names(function: Any) -> list[str]:
    return [spec.name for spec in function.input_signature]


class GoldenCall(NamedTuple):
    """A call of a signature with the answer it must give."""

    signature: str
    inputs: Inputs
    outputs: dict[str, np.ndarray]


def write_golden(path: Path, model: TextModel, texts: Sequence[bytes]) -> None:
    """Writes calls of all signatures with their answers, as Python computes them.

    The file is JSON with strings in base64 and numbers with seven digits.
    """
    texts, calls = [*texts[:_NUM_GOLDEN], *_HARD_TEXTS], []
    for signature, function in model.signatures().items():
        inputs = make_inputs(_input_names(function), texts, [*texts[1:], texts[0]])
        answer = function(
            **{name: tf.constant(values, dtype_of(name)) for name, values in inputs.items()}
        )
        calls.append({
            "signature": signature,
            "inputs": {name: [*map(_encode, values)] for name, values in inputs.items()},
            "outputs": {name: _encode(value.numpy().tolist()) for name, value in answer.items()},
        })  # fmt: skip
    with whole_file(path, "w") as file:
        json.dump(calls, file)


def read_golden(path: Path) -> list[GoldenCall]:
    """Reads the calls that `write_golden` wrote."""
    return [
        GoldenCall(call["signature"], _decode(call["inputs"]), {
            name: _array(_decode(value)) for name, value in call["outputs"].items()
        })
        for call in read_json(path)
    ]  # fmt: skip


def _array(values: list[Any]) -> np.ndarray:
    # NumPy's own type of strings drops NULs at their ends.
    array = np.array(values)
    return np.array(values, object) if array.dtype.kind == "S" else array


def _encode(value: Any) -> Any:
    if isinstance(value, list):
        return [*map(_encode, value)]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return float(f"{value:.7g}") if isinstance(value, float) else value


def _decode(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _decode(part) for key, part in value.items()}
    if isinstance(value, list):
        return [*map(_decode, value)]
    return base64.b64decode(value) if isinstance(value, str) else value


def write_warmup(
    path: Path, name: str, signatures: Mapping[str, list[str]], texts: Sequence[bytes]
) -> None:
    """Writes requests to all signatures, in batches of several sizes.

    TensorFlow Serving answers them before it serves a version, so that no user waits for the first
    calls.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tensorflow_writing(path), tf.io.TFRecordWriter(str(path)) as writer:
        for signature, names in signatures.items():
            for size in _WARMUP_SIZES:
                batch = list(islice(cycle(texts), size))
                inputs = make_inputs(names, batch, batch)
                writer.write(prediction_log(name, signature, inputs))


def prediction_log(name: str, signature: str, inputs: Inputs) -> bytes:
    """Serializes a request as a `tensorflow.serving.PredictionLog`.

    Its class is in the package tensorflow-serving-api, which export does not need.
    """
    # ModelSpec: name = 1, signature_name = 3. PredictRequest: model_spec = 1, inputs = 2.
    # PredictLog: request = 1. PredictionLog: predict_log = 6.
    request = _field(1, _field(1, name.encode()) + _field(3, signature.encode()))
    for key, values in inputs.items():
        tensor = tf.make_tensor_proto(values, dtype_of(key), [len(values)])
        request += _field(2, _field(1, key.encode()) + _field(2, tensor.SerializeToString()))
    return _field(6, _field(1, request))


def _field(number: int, value: bytes) -> bytes:
    """Serializes a field of a protobuf message: key, length as a varint, bytes."""
    encoded, length = bytearray([number << 3 | 2]), len(value)
    while length > 0x7F:
        encoded.append(length & 0x7F | 0x80)
        length >>= 7
    return bytes([*encoded, length]) + value

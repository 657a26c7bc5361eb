"""Requests that TensorFlow Serving answers before it serves a version, so that no user waits.

A TFRecord file of `tensorflow.serving.PredictionLog` messages. They are assembled here field
by field: the package with their classes, `tensorflow-serving-api`, is not needed to export.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import tensorflow as tf

from tf_charagram.export.runtime.wire import field
from tf_charagram.export.serving.inputs import dtype_of, make_inputs
from tf_charagram.files.writing import temporary_folder, tensorflow_writing

WARMUP = "tf_serving_warmup_requests"
# TensorFlow Serving reads no more than this.
_MOST_REQUESTS = 1000
_SIZES = (1, 1, 8, 32)


def write_warmup(
    path: str | Path,
    name: str,
    signatures: Mapping[str, Iterable[str]],
    texts: Sequence[bytes],
    number: int = 16,
) -> int:
    """Writes requests to the signatures in turn, made from texts, in batches of several sizes.

    Args:
        path: Folder `assets.extra` of the version.
        name: Name of the model.
        signatures: Names of the inputs of each signature.
        texts: Real texts, at least one; taken in turn, again from the beginning at their end.
        number: Requests, at most 1,000.

    Returns:
        The number of requests written.

    Raises:
        RunError: The file cannot be written.
    """
    path = Path(path)
    path.mkdir(parents=True, exist_ok=True)
    number = min(number, _MOST_REQUESTS)
    names, stream = list(signatures), cycle(texts)

    def take(size: int) -> list[bytes]:
        return list(islice(stream, size))

    file = path / WARMUP
    with tensorflow_writing(file), tf.io.TFRecordWriter(str(file)) as writer:
        for index in range(number):
            signature = names[index % len(names)]
            size = _SIZES[index // len(names) % len(_SIZES)]
            inputs = make_inputs(signatures[signature], take(size), take(size))
            writer.write(prediction_log(name, signature, inputs))
    return number


def warmup_bytes(
    name: str, signatures: Mapping[str, Iterable[str]], texts: Sequence[bytes], number: int
) -> int:
    """Returns the size of what `write_warmup` writes, by writing it."""
    with temporary_folder() as folder:
        write_warmup(folder, name, signatures, texts, number)
        return (folder / WARMUP).stat().st_size


def prediction_log(name: str, signature: str, inputs: Mapping[str, Sequence[Any]]) -> bytes:
    """Returns a serialized `PredictionLog` of one request.

    Args:
        name: Name of the model.
        signature: Name of the signature.
        inputs: Values of each of its inputs.
    """
    # ModelSpec: name = 1, signature_name = 3. PredictRequest: model_spec = 1, inputs = 2.
    # PredictLog: request = 1. PredictionLog: predict_log = 6.
    request = field(1, field(1, name.encode()) + field(3, signature.encode()))
    for key, values in inputs.items():
        tensor = tf.make_tensor_proto(list(values), dtype_of(key), [len(values)])
        request += field(2, field(1, key.encode()) + field(2, tensor.SerializeToString()))
    return field(6, field(1, request))

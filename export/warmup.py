"""Requests that TensorFlow Serving answers before it serves a version, so that no user waits.

A TFRecord file of `tensorflow.serving.PredictionLog` messages. They are put together here, field
by field: the package with their classes, `tensorflow-serving-api`, is not needed to export.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import tensorflow as tf

from tf_charagram.export._wire import field

WARMUP = "tf_serving_warmup_requests"
# TensorFlow Serving reads no more than this.
_MOST_REQUESTS = 1000
_SIZES = (1, 1, 8, 32)


def write_warmup(path: str | Path, name: str, texts: Sequence[bytes], number: int = 16) -> int:
    """Writes requests to both signatures, made from texts, in batches of several sizes.

    Args:
        path: Folder `assets.extra` of the version.
        name: Name of the model.
        texts: Real texts, at least one; taken in turn, again from the beginning at their end.
        number: Requests, at most 1,000.

    Returns:
        The number of requests written.
    """
    path = Path(path)
    path.mkdir(parents=True, exist_ok=True)
    number, place = min(number, _MOST_REQUESTS), 0

    def take(size: int) -> list[bytes]:
        nonlocal place
        taken = [texts[(place + i) % len(texts)] for i in range(size)]
        place += size
        return taken

    with tf.io.TFRecordWriter(str(path / WARMUP)) as writer:
        for index in range(number):
            size = _SIZES[index // 2 % len(_SIZES)]
            if index % 2:
                inputs = {"texts_a": take(size), "texts_b": take(size)}
                writer.write(prediction_log(name, "similarity", inputs))
            else:
                writer.write(prediction_log(name, "serving_default", {"texts": take(size)}))
    return number


def prediction_log(name: str, signature: str, inputs: Mapping[str, Sequence[bytes]]) -> bytes:
    """Returns a serialized `PredictionLog` of one request.

    Args:
        name: Name of the model.
        signature: Name of the signature.
        inputs: Texts for each of its inputs.
    """
    # ModelSpec: name = 1, signature_name = 3. PredictRequest: model_spec = 1, inputs = 2.
    # PredictLog: request = 1. PredictionLog: predict_log = 6.
    request = field(1, field(1, name.encode()) + field(3, signature.encode()))
    for key, texts in inputs.items():
        tensor = tf.make_tensor_proto(list(texts), tf.string, [len(texts)]).SerializeToString()
        request += field(2, field(1, key.encode()) + field(2, tensor))
    return field(6, field(1, request))

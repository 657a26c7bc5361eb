"""Requests to exported models: golden ones with their answers, and warm-up requests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import chain, cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from tf_charagram._files.json_files import read_json
from tf_charagram._files.writing import tensorflow_writing, whole_file
from tf_charagram.data.starter import sentences, train_pairs
from tf_charagram.models.base import TextModel

# Texts that users send by mistake or on purpose, and that are hard to read the same way everywhere.
_HARD_TEXTS = (
    b"",
    b"a",
    " \t\r\n\N{NO-BREAK SPACE}\N{IDEOGRAPHIC SPACE}".encode(),
    b"\0",
    b"cat\0dog\0",
    b"\xef\xbb\xbfbyte order mark",
    b"broken \xe9 \xff\xfe\xc3",
    b"overlong \xc0\xaf\xed\xa0\x80\xf5\x80\x80\x80",
    "caf\N{LATIN SMALL LETTER E WITH ACUTE}".encode(),
    "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL} \N{THUMBS UP SIGN}\U0001f3fd".encode(),
    "right \u05e9\u05dc\u05d5\u05dd \u202e\u0645\u0631\u062d\u0628\u0627 to left".encode(),
    "\u4f60\u597d\u3000\u4e16\u754c".encode(),
    ("e" + "\u0301" * 50).encode(),
    "a\nb\r\nc\u2028d\u0085e".encode(),
    "\uffff\U0010ffff".encode(),
)
#: Texts of a golden call, besides the hard ones. Warm-up requests need fewer.
NUM_GOLDEN = 50
_WARMUP_SIZES = (1, 8, 32)
#: Values of each input, by its name.
Inputs = dict[str, list[bytes] | list[int]]


def sample_texts(model_class: type[TextModel], max_texts: int = 5000) -> list[bytes]:
    """Returns English texts of the starter sets: words for embedders, sentences for others.

    Args:
        model_class: Class of the model.
        max_texts: Maximum number of texts.
    """
    texts: Iterable[str] = sentences()
    if model_class.gives_vectors:
        # Words in the order of the pairs; each is in several pairs.
        texts = dict.fromkeys(chain.from_iterable(train_pairs()))
    return [text.encode() for text in islice(texts, max_texts)]


def make_inputs(names: Iterable[str], texts: Sequence[bytes], others: Sequence[bytes]) -> Inputs:
    """Makes the inputs of a signature from texts, or from pairs of texts.

    Args:
        names: Names of the inputs.
        texts: The texts, or the left texts of pairs.
        others: The right texts of pairs.

    Examples:
        >>> make_inputs(["tokens", "row_lengths"], [b"a cat", b"", b"it"], [])
        {'tokens': [b'a', b'cat', b'it'], 'row_lengths': [2, 0, 1]}
    """
    rows = [text.split() for text in texts]
    inputs: Inputs = {
        "texts": list(texts),
        "texts_a": list(texts),
        "texts_b": list(others),
        # A ragged batch of words, in the two arrays that a signature can take.
        "tokens": list(chain.from_iterable(rows)),
        "row_lengths": [len(row) for row in rows],
    }
    return {name: inputs[name] for name in names}


def _input_names(function: Any) -> list[str]:
    return [spec.name for spec in function.input_signature]


def _dtype_of(name: str) -> str:
    return "int64" if name == "row_lengths" else "string"


class GoldenCall(NamedTuple):
    """A call of a signature with the answer it must give."""

    signature: str
    inputs: Inputs
    outputs: dict[str, np.ndarray]


def write_golden(path: Path, model: TextModel, texts: Sequence[bytes]) -> None:
    """Writes calls of all signatures with their answers, as Python computes them.

    The file is JSON with a character for each byte of a string, and numbers with seven digits.
    """
    texts = [*texts[:NUM_GOLDEN], *_HARD_TEXTS]
    # Pairs of different texts: each with the next one.
    others = [*texts[1:], texts[0]]
    calls = []
    for signature, function in model.signatures().items():
        inputs = make_inputs(_input_names(function), texts, others)
        tensors = {}
        for name, values in inputs.items():
            tensors[name] = tf.constant(values, _dtype_of(name))
        outputs = {}
        for name, value in function(*tensors.values()).items():
            outputs[name] = _rounded(value.numpy())
        calls.append([signature, inputs, outputs])
    with whole_file(path, "w") as file:
        json.dump(calls, file, default=lambda value: value.decode("latin-1"))


def _rounded(array: np.ndarray) -> Any:
    if array.dtype.kind != "f":
        return array.tolist()
    # Through text: `np.round` takes decimals, not digits.
    return np.char.mod("%.7g", array).astype(float).tolist()


def read_golden(path: Path) -> list[GoldenCall]:
    """Reads the calls that `write_golden` wrote."""
    calls = []
    for signature, inputs, outputs in read_json(path):
        values = {name: _to_bytes(listed) for name, listed in inputs.items()}
        arrays = {name: _array(listed) for name, listed in outputs.items()}
        calls.append(GoldenCall(signature, values, arrays))
    return calls


def _array(values: list[Any]) -> np.ndarray:
    array = np.array(values)
    if array.dtype.kind != "U":
        return array
    # NumPy's own type of strings drops NULs at their ends.
    return np.array(_to_bytes(values), object)


def _to_bytes(values: list[Any]) -> list[Any]:
    """Encodes strings as `write_golden` decoded them: a character is a byte."""
    return [value.encode("latin-1") if isinstance(value, str) else value for value in values]


def write_warmup(path: Path, name: str, model: TextModel, texts: Sequence[bytes]) -> None:
    """Writes requests to all signatures, in batches of several sizes.

    TensorFlow Serving answers them before it serves a version, so that no user waits for the first
    calls.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tensorflow_writing(path), tf.io.TFRecordWriter(str(path)) as writer:
        for signature, function in model.signatures().items():
            names = _input_names(function)
            for size in _WARMUP_SIZES:
                batch = list(islice(cycle(texts), size))
                inputs = make_inputs(names, batch, batch)
                writer.write(_prediction_log(name, signature, inputs))


def _prediction_log(name: str, signature: str, inputs: Inputs) -> bytes:
    """Serializes a request as a `tensorflow.serving.PredictionLog`.

    Its class is in the package tensorflow-serving-api, which export does not need.
    """
    # ModelSpec: name = 1, signature_name = 3. PredictRequest: model_spec = 1, inputs = 2.
    # PredictLog: request = 1. PredictionLog: predict_log = 6.
    name_field = _field(1, name.encode())
    signature_field = _field(3, signature.encode())
    request = _field(1, name_field + signature_field)
    for key, values in inputs.items():
        tensor = tf.make_tensor_proto(values, _dtype_of(key), [len(values)])
        # An entry of a map: key = 1, value = 2.
        key_field = _field(1, key.encode())
        value_field = _field(2, tensor.SerializeToString())
        request += _field(2, key_field + value_field)
    return _field(6, _field(1, request))


def _field(number: int, value: bytes) -> bytes:
    """Serializes a field of a protobuf message: key, length as a varint, bytes."""
    # The key has the number of the field, and 2 for a value with a length.
    field = bytearray([number << 3 | 2])
    length = len(value)
    # A varint has seven bits in a byte, the lowest first; the top bit is set if more follow.
    while length > 0x7F:
        field.append(length & 0x7F | 0x80)
        length >>= 7
    field.append(length)
    return bytes(field) + value

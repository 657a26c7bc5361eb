"""Calls the signatures of a model and measures their latency.

As a program, `probe.py RUNTIME REQUEST ANSWER`, it does so in a process with only that runtime, so
this file imports nothing of `tf_charagram` itself. Both files are JSON.
"""

from __future__ import annotations

import base64
import importlib
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

#: The signature that all models have, and whose latency is measured.
SERVING = "serving_default"
_NUM_WARMUP, _MIN_CALLS = 5, 20
_MAX_MESSAGE = 300
#: Calls a signature: takes its name, and the values of each input by keyword.
Call = Callable[..., Mapping[str, np.ndarray]]


def measure(load: Callable[[], Call], request: Mapping[str, Any]) -> dict[str, Any]:
    """Loads a model, calls its signatures and measures the latency of `serving_default`.

    Args:
        load: Loads the model; returns a function that calls a signature.
        request: `calls`, by name, each with `signature` and `inputs`, strings in base64;
            `text_inputs`, the inputs of `serving_default`; `texts`, for batches of the sizes
            `batches`; `seconds`, how long to time each size, which takes at least 20 calls.

    Returns:
        `load_s`; `answers`, for each call its outputs as `{"shape", "value"}`, or `{"error"}`; and
        `latency`, a list of rows. Only `{"error"}` if the model does not load.
    """
    start = time.perf_counter()
    try:
        call = load()
    except Exception as error:
        return {"error": _message(error)}

    def ask(texts: Sequence[bytes]) -> object:
        return call(SERVING, **dict.fromkeys(request["text_inputs"], texts))

    return {
        "load_s": time.perf_counter() - start,
        "answers": {name: _answer(call, **asked) for name, asked in request["calls"].items()},
        "latency": [_latency(ask, request, batch) for batch in request["batches"]],
    }


def _answer(call: Call, signature: str, inputs: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    decoded = {
        name: [base64.b64decode(value) if isinstance(value, str) else value for value in values]
        for name, values in inputs.items()
    }
    try:
        outputs = call(signature, **decoded)
    except Exception as error:
        return {"error": _message(error)}
    return {name: encode_array(array) for name, array in outputs.items()}


def encode_inputs(inputs: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """Encodes the strings of inputs in base64."""
    return {name: [_encode(value) for value in values] for name, values in inputs.items()}


def encode_array(array: np.ndarray) -> dict[str, Any]:
    """Encodes an array for JSON: strings in base64, numbers with seven digits."""
    return {"shape": array.shape, "value": [_encode(value) for value in array.ravel().tolist()]}


def _encode(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return float(f"{value:.7g}") if isinstance(value, float) else value


def _latency(
    ask: Callable[[Sequence[bytes]], object], request: Mapping[str, Any], batch: int
) -> dict[str, Any]:
    """Measures calls of one batch size, with other texts each time."""
    stream = cycle([text.encode() for text in request["texts"]])
    times: list[float] = []
    try:
        for _ in range(_NUM_WARMUP):
            ask(list(islice(stream, batch)))
        end = time.perf_counter() + request["seconds"]
        while len(times) < _MIN_CALLS or time.perf_counter() < end:
            texts = list(islice(stream, batch))
            start = time.perf_counter()
            ask(texts)
            times.append(time.perf_counter() - start)
    except Exception as error:
        return {"batch": batch, "error": _message(error)}
    return {
        "batch": batch,
        "calls": len(times),
        "p50_ms": float(np.percentile(times, 50) * 1e3),
        "p99_ms": float(np.percentile(times, 99) * 1e3),
        "texts_per_second": batch * len(times) / sum(times),
    }


def _message(error: Exception) -> str:
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= _MAX_MESSAGE else f"{text[: _MAX_MESSAGE - 3]}..."


def _tensorflow(libraries: Sequence[str]) -> Callable[[str], Call]:
    """Imports TensorFlow and the packages that the model needs; returns a loader."""
    # tensorflow-text imports Keras.
    _forbid("tf_charagram", *(() if libraries else ("keras", "tensorflow_text")))
    tf = importlib.import_module("tensorflow")
    for name in libraries:
        importlib.import_module(name)

    return lambda folder: saved_model(tf, folder)


def saved_model(tf: Any, folder: str) -> Call:
    """Loads a SavedModel with the module `tensorflow`."""
    model = tf.saved_model.load(folder)

    def call(name: str, **inputs: Sequence[Any]) -> dict[str, np.ndarray]:
        signature = model.signatures[name]
        specs = signature.structured_input_signature[1]
        tensors = {
            key: tf.constant(values, specs[key].dtype, [len(values)])
            for key, values in inputs.items()
        }
        return {key: value.numpy() for key, value in signature(**tensors).items()}

    return call


def _c_library(libraries: Sequence[str]) -> Callable[[str], Call]:
    """Opens TensorFlow's C library; returns a loader."""
    del libraries
    from tf_charagram.export.check import c_runtime

    c_runtime.library()  # Finds the package `tensorflow`, but does not import it.
    _forbid("tensorflow", "keras")

    def load(folder: str) -> Call:
        runtime = c_runtime.CRuntime(folder)
        return lambda name, **inputs: runtime.run(name, inputs)

    return load


def _forbid(*names: str) -> None:
    """Makes importing packages an error."""
    for name in names:
        if name in sys.modules:
            raise ImportError(f"{name} is already imported.")
        sys.modules[name] = None  # type: ignore[assignment]


RUNTIMES = {"tensorflow": _tensorflow, "c_library": _c_library}


def main(runtime: str, request_path: str, answer_path: str) -> None:
    """Measures a SavedModel in this process."""
    request = json.loads(Path(request_path).read_text(encoding="utf-8"))
    load = RUNTIMES[runtime](request["libraries"])
    answer = measure(lambda: load(request["folder"]), request)
    Path(answer_path).write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

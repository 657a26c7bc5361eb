"""Calls the signatures of a model and times it; what it answers is judged elsewhere.

As a program, `probe.py RUNTIME REQUEST ANSWER`, it does so in a process that has only that runtime:
this file imports nothing of `tf_charagram` for itself. Both files are JSON.
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

_NUM_WARMUPS = 10
_FEWEST_CALLS = 20
_LONGEST = 300


#: Calls a signature: its name, and the values of each input by keyword.
Call = Callable[..., Mapping[str, np.ndarray]]


def measure(load: Callable[[], Call], request: Mapping[str, Any]) -> dict[str, Any]:
    """Loads a model, calls its signatures and times `serving_default`.

    Args:
        load: Returns what calls a signature.
        request: `calls`, by name, each with `signature` and `inputs`, strings in base64;
            `text_inputs`, the inputs of `serving_default`; `words`, texts to time it with in
            batches of the sizes `batches`, each `repeats` times or until `seconds` are over, but
            not fewer than 20 times.

    Returns:
        `load_s`; under `answers`, for each call, its outputs as `{"shape", "value"}`, or
        `{"error"}`; and under `latency` a list. `{"error"}` alone if the model does not load.
    """
    start = time.perf_counter()
    try:
        call = load()
    except Exception as error:
        return {"error": _message(error)}

    def ask(texts: Sequence[bytes]) -> object:
        return call("serving_default", **dict.fromkeys(request["text_inputs"], texts))

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
    except Exception as error:  # Whatever it is, it is the finding.
        return {"error": _message(error)}
    return {name: encode_array(array) for name, array in outputs.items()}


def encode_inputs(inputs: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """Returns inputs with strings in base64, as `measure` takes them."""
    return {name: [_encode(value) for value in values] for name, values in inputs.items()}


def encode_array(array: np.ndarray) -> dict[str, Any]:
    """Returns an array for JSON; strings in base64."""
    return {"shape": array.shape, "value": [_encode(value) for value in array.ravel().tolist()]}


def _encode(value: Any) -> Any:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _latency(
    ask: Callable[[Sequence[bytes]], object], request: Mapping[str, Any], batch: int
) -> dict[str, Any]:
    """Times calls with one batch size, with other words each time."""
    stream = cycle([word.encode() for word in request["words"]])
    repeats, seconds = request["repeats"], request["seconds"]
    times: list[float] = []
    try:
        for _ in range(min(repeats, _NUM_WARMUPS)):
            ask(list(islice(stream, batch)))
        end = time.perf_counter() + seconds
        while len(times) < repeats and (len(times) < _FEWEST_CALLS or time.perf_counter() < end):
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
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _tensorflow(libraries: Sequence[str]) -> Callable[[str], Call]:
    """Imports TensorFlow and what the model needs besides; returns what loads a SavedModel."""
    # tensorflow-text imports Keras.
    _forbid("tf_charagram", *(() if libraries else ("keras", "tensorflow_text")))
    tf = importlib.import_module("tensorflow")
    for name in libraries:
        importlib.import_module(name)

    return lambda folder: saved_model(tf, folder)


def saved_model(tf: Any, folder: str) -> Call:
    """Loads a SavedModel by the module `tensorflow`."""
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
    """Opens TensorFlow's C library, which loads no other; returns what loads a SavedModel."""
    del libraries
    from tf_charagram.export.runtime import c_api
    from tf_charagram.export.runtime.c_runtime import CRuntime

    c_api.library()  # Looks for the package `tensorflow`, and imports none of it.
    _forbid("tensorflow", "keras")

    def load(folder: str) -> Call:
        runtime = CRuntime(folder)
        return lambda name, **inputs: runtime.run(name, inputs)

    return load


def _forbid(*names: str) -> None:
    """Makes the import of packages an error from now on."""
    for name in names:
        if name in sys.modules:
            raise ImportError(f"{name} is imported already.")
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

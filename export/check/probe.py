"""Calls the signatures of a model and measures its latency.

As a program, `probe.py RUNTIME REQUEST ANSWER`, it does so in a process with only that runtime, so
this file imports nothing of `tf_charagram` itself. Both files are pickles.
"""

from __future__ import annotations

import importlib
import pickle
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

#: The signature that all models have, and whose latency is measured.
SERVING = "serving_default"
_BATCH_SIZES = (1, 32, 1000)
_NUM_WARMUP, _MIN_CALLS = 3, 10
_MAX_MESSAGE = 300
#: Calls a signature: takes its name, and the values of each input by keyword.
Call = Callable[..., Mapping[str, np.ndarray]]


def measure(load: Callable[[], Call], request: Mapping[str, Any]) -> dict[str, Any]:
    """Loads a model, calls its signatures and measures the latency of `serving_default`.

    Args:
        load: Loads the model; returns a function that calls a signature.
        request: `calls`, by name, each a signature and its inputs; `text_inputs`, the inputs of
            `serving_default`; `texts` for batches of 1, 32 and 1,000; and `seconds`, how long to
            time each size, which takes at least 10 calls.

    Returns:
        `load_s`; `answers`, for each call its outputs, or the message of an error; and `latency`,
        the median and the 99th percentile in seconds for each size, or the message of an error.
        Only the message if the model does not load.
    """
    start = time.perf_counter()
    try:
        call = load()
    except Exception as error:
        return {"error": _message(error)}
    load_s = time.perf_counter() - start
    stream = cycle(request["texts"])

    def ask(size: int) -> float:
        texts = list(islice(stream, size))
        start = time.perf_counter()
        call(SERVING, **dict.fromkeys(request["text_inputs"], texts))
        return time.perf_counter() - start

    def answer(signature: str, inputs: Mapping[str, Sequence[Any]]) -> dict[str, Any] | str:
        try:
            return dict(call(signature, **inputs))
        except Exception as error:
            return _message(error)

    return {
        "load_s": load_s,
        "answers": {name: answer(*asked) for name, asked in request["calls"].items()},
        "latency": {size: _latency(ask, size, request["seconds"]) for size in _BATCH_SIZES},
    }


def _latency(ask: Callable[[int], float], size: int, seconds: float) -> list[float] | str:
    """Measures calls with batches of one size, with other texts each time."""
    times: list[float] = []
    try:
        for _ in range(_NUM_WARMUP):
            ask(size)
        end = time.perf_counter() + seconds
        while len(times) < _MIN_CALLS or time.perf_counter() < end:
            times.append(ask(size))
    except Exception as error:
        return _message(error)
    return np.percentile(times, [50, 99]).tolist()


def _message(error: Exception) -> str:
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= _MAX_MESSAGE else f"{text[: _MAX_MESSAGE - 3]}..."


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


def _loader(runtime: str, libraries: Sequence[str]) -> Callable[[str], Call]:
    """Imports only a runtime, with the packages that the model needs; returns its loader."""
    if runtime == "c_library":
        from tf_charagram.export.check import c_runtime

        c_runtime.library()  # Finds the package `tensorflow`, but does not import it.
        _forbid("tensorflow", "keras")

        def load(folder: str) -> Call:
            model = c_runtime.CRuntime(folder)
            return lambda name, **inputs: model.run(name, inputs)

        return load
    # tensorflow-text imports Keras.
    _forbid("tf_charagram", *(() if libraries else ("keras", "tensorflow_text")))
    tf = importlib.import_module("tensorflow")
    for name in libraries:
        importlib.import_module(name)
    return lambda folder: saved_model(tf, folder)


def _forbid(*names: str) -> None:
    """Makes importing packages an error."""
    for name in names:
        if name in sys.modules:
            raise ImportError(f"{name} is already imported.")
        sys.modules[name] = None  # type: ignore[assignment]


def main(runtime: str, request_path: str, answer_path: str) -> None:
    """Measures a SavedModel in this process."""
    request = pickle.loads(Path(request_path).read_bytes())
    load = _loader(runtime, request["libraries"])
    answer = measure(lambda: load(request["folder"]), request)
    Path(answer_path).write_bytes(pickle.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])

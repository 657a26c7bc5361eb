"""Calls the signatures of a model and measures its latency.

As a program, `probe.py RUNTIME REQUEST ANSWER`, it does so in a process with only that runtime, so
this file imports nothing of `tf_charagram` itself. Both files are pickles.
"""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
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

    def latency(size: int) -> list[float]:
        for _ in range(_NUM_WARMUP):
            ask(size)
        times: list[float] = []
        end = time.perf_counter() + request["seconds"]
        while len(times) < _MIN_CALLS or time.perf_counter() < end:
            times.append(ask(size))
        return np.percentile(times, [50, 99]).tolist()

    return {
        "load_s": load_s,
        "answers": {
            name: _tried(call, signature, **inputs)
            for name, (signature, inputs) in request["calls"].items()
        },
        "latency": {size: _tried(latency, size) for size in _BATCH_SIZES},
    }


def _tried(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Returns the result of a call, or the message of its error."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return _message(error)


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


def _forbid(*names: str) -> None:
    """Makes importing packages an error."""
    sys.modules.update(dict.fromkeys(names))  # type: ignore[arg-type]


def main(runtime: str, request_path: str, answer_path: str) -> None:
    """Measures a SavedModel in this process."""
    request = pickle.loads(Path(request_path).read_bytes())
    folder, packages = request["folder"], request["packages"]
    if runtime == "c_library":
        from tf_charagram.export.check.c_runtime import CRuntime, library

        library()  # Finds the package `tensorflow`, but does not import it.
        _forbid("tensorflow", "keras")
        load: Callable[[], Call] = partial(CRuntime, folder)
    else:
        # tensorflow-text imports Keras.
        _forbid("tf_charagram", *(() if packages else ("keras", "tensorflow_text")))
        tf = import_module("tensorflow")
        for name in packages:
            import_module(name.replace("-", "_"))
        load = partial(saved_model, tf, folder)
    Path(answer_path).write_bytes(pickle.dumps(measure(load, request)))


if __name__ == "__main__":
    main(*sys.argv[1:])

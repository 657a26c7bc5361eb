"""Calls the signatures of a model and measures its latency.

As a program, `probe.py REQUEST ANSWER`, it does so in a process with only `tensorflow`, so this
file imports nothing of `tf_charagram`. Both files are pickles.
"""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

#: The signature that all models have, and whose latency is measured.
SERVING = "serving_default"
_BATCH_SIZES = (1, 32, 1000)
# The first calls allocate memory and start threads.
_NUM_WARMUP = 3
_MIN_CALLS = 10
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
    answers = {}
    for name, (signature, inputs) in request["calls"].items():
        answers[name] = _tried(call, signature, **inputs)
    # All batches differ, so that no cache makes the later ones faster.
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

    latencies = {size: _tried(latency, size) for size in _BATCH_SIZES}
    return {"load_s": load_s, "answers": answers, "latency": latencies}


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
        tensors = {}
        for key, values in inputs.items():
            # Without them, an empty list would be a tensor of floats.
            dtype = specs[key].dtype
            tensors[key] = tf.constant(values, dtype, [len(values)])
        return {key: value.numpy() for key, value in signature(**tensors).items()}

    return call


def _main(request_path: str, answer_path: str) -> None:
    """Measures a SavedModel in this process."""
    request = pickle.loads(Path(request_path).read_bytes())
    packages = request["packages"]
    forbidden = ["tf_charagram"]
    if not packages:
        # tensorflow-text imports Keras, so a model that needs it may import both.
        forbidden += ["keras", "tensorflow_text"]
    for name in forbidden:
        # Python raises ImportError for a module that is `None` here.
        sys.modules[name] = None  # type: ignore[assignment]
    tf = import_module("tensorflow")
    for name in packages:
        import_module(name.replace("-", "_"))
    answer = measure(lambda: saved_model(tf, request["folder"]), request)
    Path(answer_path).write_bytes(pickle.dumps(answer))


if __name__ == "__main__":
    _main(*sys.argv[1:])

"""Asks a model for vectors and times it; what the answers are worth is judged elsewhere.

`measure` takes anything with `embed` and `similarity`. As a program, `probe.py RUNTIME REQUEST
ANSWER`, it does so in a process that has only that runtime: this file imports nothing of
`tf_charagram` for itself. Both files are JSON.
"""

from __future__ import annotations

import base64
import importlib
import json
import sys
import time
from collections.abc import Callable, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np

_NUM_WARMUPS = 10
_FEWEST_CALLS = 20
_LONGEST = 300


class Model(Protocol):
    """What can be measured."""

    def embed(self, texts: Sequence[bytes]) -> np.ndarray:
        """Returns float32 `(num_texts, dim)`."""

    def similarity(self, left: Sequence[bytes], right: Sequence[bytes]) -> np.ndarray:
        """Returns the cosines of corresponding texts, float32 `(num_texts,)`."""


def measure(load: Callable[[], Model], request: dict[str, Any]) -> dict[str, Any]:
    """Loads a model, asks it for vectors and times it.

    Args:
        load: Returns the model.
        request: `golden`, a list of texts in base64; `bad`, texts in base64 by name; `words`,
            texts to time the model with in batches of the sizes `batches`, each `repeats` times or
            until `seconds` are over, but not fewer than 20 times.

    Returns:
        `load_s`, and under `golden`, `similarity`, `alone`, `together` and `empty` arrays as
        `{"shape", "value"}`, and under `latency` a list; or `{"error"}` in place of any of these.
        `{"error"}` alone if the model does not load.
    """
    golden = [base64.b64decode(text) for text in request["golden"]]
    bad = {name: base64.b64decode(text) for name, text in request["bad"].items()}
    start = time.perf_counter()
    try:
        model = load()
    except Exception as error:
        return {"error": _message(error)}
    return {
        "load_s": time.perf_counter() - start,
        "golden": _attempt(model.embed, golden),
        "similarity": _attempt(model.similarity, golden, golden[::-1]),
        "alone": {name: _attempt(model.embed, [text]) for name, text in bad.items()},
        "together": _attempt(model.embed, list(bad.values())),
        "empty": _attempt(model.embed, []),
        "latency": [
            _latency(model, request["words"], batch, request["repeats"], request["seconds"])
            for batch in request["batches"]
        ],
    }


def _attempt(call: Callable[..., np.ndarray], *texts: Sequence[bytes]) -> dict[str, Any]:
    try:
        array = call(*texts)
    except Exception as error:  # Whatever it is, it is the finding.
        return {"error": _message(error)}
    return {"shape": array.shape, "value": array.ravel().tolist()}


def _latency(
    model: Model, words: Sequence[str], batch: int, repeats: int, seconds: float
) -> dict[str, Any]:
    """Times calls with one batch size; other words come each time."""
    stream = cycle([word.encode() for word in words])
    times: list[float] = []
    try:
        for _ in range(min(repeats, _NUM_WARMUPS)):
            model.embed(list(islice(stream, batch)))
        end = time.perf_counter() + seconds
        while len(times) < repeats and (len(times) < _FEWEST_CALLS or time.perf_counter() < end):
            texts = list(islice(stream, batch))
            start = time.perf_counter()
            model.embed(texts)
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


class _Signatures:
    """A model by what calls its signatures."""

    def __init__(self, call: Callable[..., dict[str, np.ndarray]]) -> None:
        self._call = call

    def embed(self, texts: Sequence[bytes]) -> np.ndarray:
        return self._call("serving_default", texts=texts)["embedding"]

    def similarity(self, left: Sequence[bytes], right: Sequence[bytes]) -> np.ndarray:
        return self._call("similarity", texts_a=left, texts_b=right)["cosine"]


def _tensorflow(libraries: Sequence[str]) -> Callable[[str], Model]:
    """Imports TensorFlow and what the model needs besides; returns what loads a SavedModel."""
    # tensorflow-text imports Keras.
    _forbid("tf_charagram", *(() if libraries else ("keras", "tensorflow_text")))
    tf = importlib.import_module("tensorflow")
    for name in libraries:
        importlib.import_module(name)

    def load(folder: str) -> Model:
        model = tf.saved_model.load(folder)

        def call(name: str, **texts: Sequence[bytes]) -> dict[str, np.ndarray]:
            inputs = {
                key: tf.constant(value, tf.string, [len(value)]) for key, value in texts.items()
            }
            outputs = model.signatures[name](**inputs)
            return {key: value.numpy() for key, value in outputs.items()}

        return _Signatures(call)

    return load


def _c_library(libraries: Sequence[str]) -> Callable[[str], Model]:
    """Opens TensorFlow's C library, which loads no other; returns what loads a SavedModel."""
    del libraries
    from tf_charagram.export import _c_api
    from tf_charagram.export.c_runtime import CRuntime

    _c_api.library()  # Looks for the package `tensorflow`, and imports none of it.
    _forbid("tensorflow", "keras")

    def load(folder: str) -> Model:
        runtime = CRuntime(folder)
        return _Signatures(lambda name, **texts: runtime.run(name, texts))

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

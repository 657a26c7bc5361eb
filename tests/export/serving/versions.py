"""The versions of a model in a folder, loaded when they appear and dropped when they vanish."""

from __future__ import annotations

import multiprocessing
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import tensorflow as tf

from tests.export.serving.allocator import return_free_pages
from tests.export.serving.servers import Inputs, Refused, inputs_of, not_found, predictor
from tf_charagram.errors import CharagramError
from tf_charagram.export.runtime.c_runtime import CRuntime
from tf_charagram.export.serving.folder import ServingFolder
from tf_charagram.export.serving.version import EXTRA_ASSETS
from tf_charagram.export.serving.warmup import WARMUP

POLL_S = 0.2
# What a runtime raises for inputs that do not fit.
_MISTAKES = (CharagramError, KeyError, RuntimeError, TypeError, ValueError, tf.errors.OpError)


class Runtime(Protocol):
    """A SavedModel that is loaded."""

    def run(self, signature: str, inputs: Inputs) -> dict[str, np.ndarray]: ...

    def close(self) -> None: ...


class PythonRuntime:
    """A SavedModel loaded by `tf.saved_model.load`."""

    def __init__(self, folder: Path) -> None:
        self._predict = predictor(folder)

    def run(self, signature: str, inputs: Inputs) -> dict[str, np.ndarray]:
        return self._predict(signature, inputs)

    def close(self) -> None:
        del self._predict


class PythonProcess:
    """A SavedModel loaded by `tf.saved_model.load` in a process that ends with it.

    A process does not get back all memory of such a SavedModel: of TensorFlow 2.21 it keeps about
    the size of `saved_model.pb`.
    """

    def __init__(self, folder: Path) -> None:
        # Forked from a process that has imported TensorFlow, and done nothing else.
        fork = multiprocessing.get_context("forkserver")
        fork.set_forkserver_preload([__name__])
        self._connection, theirs = fork.Pipe()
        self._process = fork.Process(target=_answer, args=(folder, theirs), daemon=True)
        self._process.start()
        theirs.close()
        self._lock = threading.Lock()
        self._receive()

    def run(self, signature: str, inputs: Inputs) -> dict[str, np.ndarray]:
        with self._lock:
            self._connection.send((signature, inputs))
            return self._receive()

    def _receive(self) -> Any:
        is_answer, value = self._connection.recv()
        if is_answer:
            return value
        raise RuntimeError(value)

    def close(self) -> None:
        self._connection.close()
        self._process.join()


def _answer(folder: Path, connection: Connection) -> None:
    """Loads a SavedModel and answers until the other end is closed."""
    try:
        model = PythonRuntime(folder)
    except Exception as error:
        return connection.send((False, f"{type(error).__name__}: {error}"))
    connection.send((True, None))
    while True:
        try:
            answer: tuple[bool, Any] = True, model.run(*connection.recv())
        except EOFError:
            return
        except Exception as error:
            answer = False, f"{type(error).__name__}: {error}"
        connection.send(answer)


RUNTIMES: dict[str, Callable[[Path], Runtime]] = {
    "c_library": CRuntime,
    "python": PythonProcess,
    "python_here": PythonRuntime,
}


def warm_up(folder: Path, runtime: Runtime) -> None:
    """Has a runtime answer the warm-up requests of a SavedModel, so that no client waits."""
    from tensorflow_serving.apis.prediction_log_pb2 import PredictionLog

    path = folder / EXTRA_ASSETS / WARMUP
    for record in read_records(path.read_bytes()) if path.exists() else ():
        request = PredictionLog.FromString(record).predict_log.request
        runtime.run(request.model_spec.signature_name, inputs_of(request))


def read_records(content: bytes) -> Iterator[bytes]:
    """Yields the records of a TFRecord file.

    `tf.data` reads them too, but keeps some memory each time, 50 kB of TensorFlow 2.21.
    """
    at = 0
    while at < len(content):
        # The length, its checksum, the record, and its checksum.
        (length,) = struct.unpack_from("<Q", content, at)
        yield content[at + 12 : at + 12 + length]
        at += 16 + length


@dataclass
class _Loaded:
    """A version, and how many requests are at it."""

    runtime: Runtime
    num_users: int = 0


class Versions:
    """What a server serves of a folder, as TensorFlow Serving does when told to serve `all`.

    A request that names no version is answered by the largest number. A version that vanishes
    finishes the requests it has. Use as a context manager.
    """

    def __init__(self, folder: ServingFolder, load: Callable[[Path], Runtime]) -> None:
        self._folder, self._load = folder, load
        self._loaded: dict[int, _Loaded] = {}
        self._leaving: set[int] = set()
        self._failed: set[int] = set()
        self._lock = threading.Condition()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Versions:
        self._look()
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop.set()
        self._thread.join()
        for version in list(self._loaded):
            self._drop(version)

    def predict(
        self, name: str, version: int | None, signature: str, inputs: Inputs
    ) -> tuple[int, dict[str, np.ndarray]]:
        with self._version(name, version) as (number, runtime):
            try:
                return number, runtime.run(signature, inputs)
            except _MISTAKES as error:
                raise Refused("INVALID_ARGUMENT", f"{type(error).__name__}: {error}") from error

    def states(self, name: str) -> dict[int, str]:
        if name != self._folder.name:
            raise not_found(name, None)
        with self._lock:
            return {
                **dict.fromkeys(self._failed, "END"),
                **dict.fromkeys(self._leaving, "UNLOADING"),
                **dict.fromkeys(self._loaded, "AVAILABLE"),
            }

    @contextmanager
    def _version(self, name: str, version: int | None) -> Iterator[tuple[int, Runtime]]:
        with self._lock:
            number = max(self._loaded, default=0) if version is None else version
            if name != self._folder.name or number not in self._loaded:
                raise not_found(name, version)
            loaded = self._loaded[number]
            loaded.num_users += 1
        try:
            yield number, loaded.runtime
        finally:
            with self._lock:
                loaded.num_users -= 1
                self._lock.notify_all()

    def _watch(self) -> None:
        while not self._stop.wait(POLL_S):
            self._look()

    def _look(self) -> None:
        found = set(self._folder.versions)
        for number in sorted(found - self._loaded.keys() - self._failed):
            try:
                path = self._folder.path / str(number)
                loaded = _Loaded(self._load(path))
                warm_up(path, loaded.runtime)
            except (*_MISTAKES, OSError):
                self._failed.add(number)
                continue
            with self._lock:
                self._loaded[number] = loaded
        for number in self._loaded.keys() - found:
            self._drop(number)

    def _drop(self, number: int) -> None:
        """Closes a version once it has answered the requests it has."""
        with self._lock:
            loaded = self._loaded.pop(number)
            self._leaving.add(number)
            self._lock.wait_for(lambda: not loaded.num_users)
        loaded.runtime.close()
        return_free_pages()
        with self._lock:
            self._leaving.remove(number)

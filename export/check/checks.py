"""Checks a version, or servers that serve it."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from tensorflow.core.protobuf import saved_model_pb2

from tf_charagram.errors import ConfigError, DataError, RunError
from tf_charagram.export.check import probe
from tf_charagram.export.check.judge import Judge, Result
from tf_charagram.export.serving.card import class_of
from tf_charagram.export.serving.client import ServingClient
from tf_charagram.export.serving.samples import sample_texts, signatures_of
from tf_charagram.export.serving.version import EXTRA_ASSETS, GOLDEN, read_golden
from tf_charagram.files.json_files import read_json
from tf_charagram.files.writing import temporary_folder
from tf_charagram.models.saved_model import MODEL_CARD, required_ops

CLEAN, RUNTIME = "only tensorflow", "C++ runtime"
_SAVED_MODEL = "saved_model.pb"
_TIMEOUT_S = 1800


def version_folder(path: str | Path) -> Path:
    """Returns the folder of a SavedModel.

    Args:
        path: A version; or the folder of the versions or a run folder, for the last version.

    Raises:
        RunError: There is no SavedModel.
    """
    path = Path(path)
    if (path / _SAVED_MODEL).is_file():
        return path
    files = [*path.glob(f"*/{_SAVED_MODEL}"), *path.glob(f"saved_model/*/{_SAVED_MODEL}")]
    versions = [file.parent for file in files if file.parent.name.isdecimal()]
    if not versions:
        raise RunError(f"{path} has no {_SAVED_MODEL}. Give a version, such as models/NAME/1.")
    return max(versions, key=lambda version: int(version.name))


class VersionChecks:
    """Checks one version and collects the results.

    Args:
        folder: Folder of the version.
        seconds: How long to time each batch size.

    Attributes:
        judge: Checks the answers of the model.
        request: Calls and texts for `probe.measure`.
        results: Result of each check.

    Raises:
        DataError: The model card is missing, or it or the golden file is damaged.
    """

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder = folder
        self.results: list[Result] = []
        if not (folder / MODEL_CARD).is_file():
            advice = "is missing. Check a version that `charagram export` wrote."
            raise DataError(folder / MODEL_CARD, advice)
        path = folder / EXTRA_ASSETS / GOLDEN
        with _damaged(path):
            golden = read_golden(path) if path.is_file() else []
        with _damaged(folder / MODEL_CARD):
            self._card = dict(read_json(folder / MODEL_CARD))
            self._model_class = class_of(self._card)
            self._packages = sorted(self._card["required_ops"])
            signatures = signatures_of(self._card)
            self.judge = Judge(signatures, golden, self._model_class.max_checked_bytes)
            self.request: dict[str, Any] = {
                "folder": str(folder),
                "seconds": seconds,
                "calls": self.judge.calls(),
                "text_inputs": signatures[probe.SERVING],
                "texts": sample_texts(self._model_class.kind),
            }

    def check_graph(self) -> None:
        """Checks that the model card names the packages of all operations."""
        try:
            self.results.append(check_operations(self.folder, self._packages))
        except DecodeError as error:
            self.results.append(Result("graph", "operations", False, f"damaged: {error}"))

    def check_runtimes(self) -> None:
        """Loads the model in fresh processes."""
        packages = self._packages
        request = {**self.request, "libraries": [name.replace("-", "_") for name in packages]}
        measured = measure_in_process("tensorflow", request)
        self.results += self.judge.results(" and ".join([CLEAN, *packages]), measured)
        if packages:
            detail = f"skipped, because it does not load {', '.join(packages)}"
            self.results.append(Result(RUNTIME, "loads", None, detail))
        else:
            measured = measure_in_process("c_library", request)
            self.results += self.judge.results(RUNTIME, measured)

    def check_server(self, client: ServingClient) -> None:
        """Checks the answers of a server.

        Raises:
            ConfigError: The version is not an embedder.
        """
        if not self._model_class.gives_vectors:
            raise ConfigError(
                f"`url` is for embedders, and {self.folder} is of the kind "
                f"'{self._model_class.kind}'. Check the folder without it."
            )

        def call(signature: str, **inputs: Sequence[bytes]) -> Mapping[str, np.ndarray]:
            if signature == probe.SERVING:
                return {"embedding": client.embed(**inputs)}
            return {"cosine": client.similarity(*inputs.values())}

        def load() -> probe.Call:
            client.embed([b"a"])
            return call

        self.results += self.judge.results(client.address, probe.measure(load, self.request))


@contextmanager
def _damaged(path: Path) -> Iterator[None]:
    """Turns errors that JSON of another form raises into `DataError`."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
        raise DataError(path, f"is damaged ({error!r}). Export the model again.") from error


def check_operations(folder: Path, packages: Sequence[str]) -> Result:
    """Fails for operations that neither TensorFlow nor one of some packages provides.

    Raises:
        DecodeError: The file is not a SavedModel.
    """
    message = saved_model_pb2.SavedModel()
    message.ParseFromString((folder / _SAVED_MODEL).read_bytes())
    if not message.meta_graphs:
        raise DecodeError("There is no graph in it.")
    if packages:
        # The operations of a package are known once it is imported.
        with suppress(ImportError):
            import_module("tensorflow_text")
    foreign = required_ops(message.meta_graphs[0])
    found = [f"{', '.join(names)} of {owner}" for owner, names in foreign.items()]
    is_ok = foreign.keys() <= {*packages}
    return Result("graph", "operations", is_ok, "; ".join(found) or "all are TensorFlow's own")


def measure_in_process(runtime: str, request: dict[str, Any]) -> dict[str, Any]:
    """Runs `probe.measure` in a process of its own; `{"error"}` if the process fails.

    Args:
        runtime: `"tensorflow"` or `"c_library"`.
        request: As for `probe.measure`, with the `folder` of the SavedModel and `libraries`, the
            Python packages that provide its operations.
    """
    with temporary_folder() as folder:
        asked, answered = folder / "request", folder / "answer"
        asked.write_bytes(pickle.dumps(request))
        # `-P` keeps the folder of the program out of `sys.path`.
        command = [sys.executable, "-P", probe.__file__, runtime, str(asked), str(answered)]
        try:
            ended = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                errors="replace", timeout=_TIMEOUT_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return {"error": f"No answer within {_TIMEOUT_S} s."}
        if ended.returncode or not answered.is_file():
            lines = ended.stderr.strip().splitlines() or ["no message"]
            return {"error": f"The process ended with status {ended.returncode}: {lines[-1]}"}
        answer: dict[str, Any] = pickle.loads(answered.read_bytes())
        return answer

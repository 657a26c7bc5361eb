"""Checks a version, or servers that serve it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
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
from tf_charagram.export.serving.version import EXTRA_ASSETS, GOLDEN, GoldenCall, read_golden
from tf_charagram.files.json_files import read_json
from tf_charagram.files.writing import temporary_folder
from tf_charagram.models.saved_model import MODEL_CARD, required_ops

CLEAN, RUNTIME = "only tensorflow", "C++ runtime"
CORE, PYTHON, UNKNOWN = "TensorFlow", "Python", "unknown"
_SAVED_MODEL = "saved_model.pb"
# They call the Python process that made the graph, which no server has.
_PYTHON_OPS = frozenset({"EagerPyFunc", "PyFunc", "PyFuncStateless"})
_TIMEOUT_S = 1800
# Errors that JSON of another form raises.
_DAMAGE = (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError)


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
        batches: Batch sizes to time.
        seconds: How long to time each of them.

    Attributes:
        judge: Checks the answers of the model.
        request: Calls and texts for `probe.measure`.
        unit: `"words"` or `"sentences"`, the kind of texts that are timed.
        results: Result of each check.
        operations: Operations of the graph, by the package that provides them.
        latency: One row for each batch size in each runtime or server.

    Raises:
        DataError: The model card is missing, or it or the golden file is damaged.
    """

    def __init__(self, folder: Path, *, batches: Sequence[int], seconds: float) -> None:
        self.folder = folder
        self.results: list[Result] = []
        self.operations: dict[str, list[str]] = {}
        self.latency: list[dict[str, Any]] = []
        try:
            self._card = dict(read_json(folder / MODEL_CARD))
            self._model_class = class_of(self._card)
            signatures = signatures_of(self._card)
            self.judge = Judge(
                signatures, _read_golden(folder), self._model_class.max_checked_bytes
            )
            self.request: dict[str, Any] = {
                "folder": str(folder),
                "batches": list(batches),
                "seconds": seconds,
                "calls": self.judge.calls(),
                "text_inputs": signatures[probe.SERVING],
                "texts": [text.decode() for text in sample_texts(self._model_class.kind)],
            }
        except DataError:
            raise
        except FileNotFoundError as error:
            raise DataError(
                folder / MODEL_CARD, "is missing. Check a version that `charagram export` wrote."
            ) from error
        except _DAMAGE as error:
            raise DataError(
                folder / MODEL_CARD, f"is damaged ({error}). Export the model again."
            ) from error
        self.unit = "words" if self._model_class.reads == "words" else "sentences"

    def check_graph(self) -> None:
        """Checks the operations of the graph."""
        try:
            self.operations = read_operations(self.folder)
        except DecodeError as error:
            self.results.append(Result("graph", "operations", False, f"damaged: {error}"))
        else:
            self.results.append(check_operations(self.operations, self._card))

    def check_runtimes(self) -> None:
        """Loads the model in fresh processes; call `check_graph` first."""
        packages = sorted(set(self.operations) - {CORE, PYTHON, UNKNOWN})
        request = {**self.request, "libraries": [name.replace("-", "_") for name in packages]}
        self._add(" and ".join([CLEAN, *packages]), measure_in_process("tensorflow", request))
        if packages:
            detail = f"skipped, because it does not load {', '.join(packages)}"
            self.results.append(Result(RUNTIME, "loads", None, detail))
        else:
            self._add(RUNTIME, measure_in_process("c_library", request))

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

        self._add(client.address, probe.measure(load, self.request))

    def _add(self, where: str, measured: dict[str, Any]) -> None:
        self.results += self.judge.results(where, measured)
        rows = [row for row in measured.get("latency", []) if "error" not in row]
        self.latency += [{"where": where, **row} for row in rows]


def _read_golden(folder: Path) -> list[GoldenCall]:
    """Reads the golden calls of a version; empty if it has none."""
    path = folder / EXTRA_ASSETS / GOLDEN
    try:
        return read_golden(path) if path.is_file() else []
    except _DAMAGE as error:
        raise DataError(path, f"is damaged ({error!r}). Export the model again.") from error


def read_operations(folder: Path) -> dict[str, list[str]]:
    """Returns the operations of a SavedModel by their provider, such as `"TensorFlow"`.

    Raises:
        DecodeError: The file is not a SavedModel.
    """
    message = saved_model_pb2.SavedModel()
    message.ParseFromString((folder / _SAVED_MODEL).read_bytes())
    if not message.meta_graphs:
        raise DecodeError("There is no graph in it.")
    graph = message.meta_graphs[0]
    foreign = required_ops(graph)
    if UNKNOWN in foreign:
        # The operations of a package are known once it is imported.
        with suppress(ImportError):
            import_module("tensorflow_text")
            foreign = required_ops(graph)
    library = graph.graph_def.library
    nodes = [*graph.graph_def.node, *(node for f in library.function for node in f.node_def)]
    names = {node.op for node in nodes} - {f.signature.name for f in library.function}
    names -= {name for group in foreign.values() for name in group}
    groups = {CORE: sorted(names - _PYTHON_OPS), PYTHON: sorted(names & _PYTHON_OPS), **foreign}
    return {owner: group for owner, group in groups.items() if group}


def check_operations(operations: Mapping[str, Sequence[str]], card: Mapping[str, Any]) -> Result:
    """Fails for operations that no server has, and packages missing in the model card.

    Args:
        operations: Result of `read_operations`.
        card: The model card.
    """
    counts = ", ".join(f"{len(names)} of {owner}" for owner, names in operations.items())
    problems = [
        f"{', '.join(operations[owner])} cannot be served ({owner})"
        for owner in (PYTHON, UNKNOWN)
        if owner in operations
    ]
    missing = set(operations) - {CORE, PYTHON, UNKNOWN} - set(card.get("required_ops") or ())
    if missing:
        problems.append(f"the model card does not name {', '.join(sorted(missing))}")
    return Result("graph", "operations", not problems, "; ".join([counts, *problems]))


def measure_in_process(runtime: str, request: dict[str, Any]) -> dict[str, Any]:
    """Runs `probe.measure` in a process of its own; `{"error"}` if the process fails.

    Args:
        runtime: `"tensorflow"` or `"c_library"`.
        request: As for `probe.measure`, with the `folder` of the SavedModel and `libraries`, the
            Python packages that provide its operations.
    """
    with temporary_folder() as folder:
        asked, answered = folder / "request.json", folder / "answer.json"
        asked.write_text(json.dumps(request), encoding="utf-8")
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
        answer: dict[str, Any] = json.loads(answered.read_text(encoding="utf-8"))
        return answer

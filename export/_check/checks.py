"""Checks a version, or servers that serve it."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tf_charagram._files.json_files import read_json
from tf_charagram.errors import ConfigError, DataError, RunError
from tf_charagram.export._check import probe
from tf_charagram.export._check.judge import Outcome, judged, questions
from tf_charagram.export._serving.requests import read_golden, sample_texts
from tf_charagram.export._serving.version import GOLDEN
from tf_charagram.export.client import RestClient
from tf_charagram.models._storage.locations import EMBEDDER, model_class
from tf_charagram.models._storage.saved_model import MODEL_CARD

_CLEAN = "only tensorflow"
_SAVED_MODEL = "saved_model.pb"
_TIMEOUT_S = 1800
# How long each batch size is timed.
_SECONDS = 5.0


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
    # A run folder has its versions in the folder `saved_model`.
    folders = [*path.glob("*"), *path.glob("saved_model/*")]
    # Other names are of versions that are being written.
    versions = [folder for folder in folders if folder.name.isdecimal()]
    complete = [version for version in versions if (version / _SAVED_MODEL).is_file()]
    if not complete:
        raise RunError(f"{path} has no {_SAVED_MODEL}. Give a version, such as models/NAME/1.")
    return max(complete, key=lambda version: int(version.name))


class VersionChecks:
    """Checks one version.

    Args:
        folder: Folder of the version.

    Attributes:
        golden: Calls with the outputs they must give.
        request: Calls and texts for `probe.measure`.

    Raises:
        DataError: The model card is missing, or it or the golden file is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        card_path = folder / MODEL_CARD
        golden_path = folder / GOLDEN
        if not card_path.is_file():
            advice = "is missing. Check a version that `charagram export` wrote."
            raise DataError(card_path, advice)
        path = golden_path
        # Any value of a damaged file can be of a wrong type.
        try:
            self.golden = read_golden(golden_path) if golden_path.is_file() else []
            path = card_path
            card = read_json(card_path)
            self._model_class = model_class(card.get("kind", EMBEDDER))
            text_inputs = list(card["signatures"][probe.SERVING]["inputs"])
            self.request: dict[str, Any] = {
                "folder": str(folder),
                "packages": sorted(card["required_ops"]),
                "seconds": _SECONDS,
                "calls": questions(text_inputs, self.golden, self._model_class.max_checked_bytes),
                "text_inputs": text_inputs,
                "texts": sample_texts(self._model_class),
            }
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise DataError(path, f"is damaged ({error!r}). Export the model again.") from error

    def check_in_process(self) -> list[Outcome]:
        """Checks the answers of a fresh process, which has only `tensorflow`."""
        where = " and ".join([_CLEAN, *self.request["packages"]])
        return judged(where, _measure_in_process(self.request), self.golden)

    def check_server(self, client: RestClient) -> list[Outcome]:
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
            output = "text" if signature == "read_as" else "cosine"
            return {output: client.predict(signature, inputs, output)}

        def load() -> probe.Call:
            # Fails now if there is no server, and not once for each question.
            client.embed([b"a"])
            return call

        return judged(client.url, probe.measure(load, self.request), self.golden)


def _measure_in_process(request: dict[str, Any]) -> dict[str, Any]:
    """Runs `probe.measure` in a process of its own; `{"error"}` if the process fails.

    Args:
        request: The request of `probe.measure`, with the `folder` of the SavedModel and the
            `packages` that have its operations.
    """
    with TemporaryDirectory() as folder:
        request_path = Path(folder) / "request"
        answer_path = Path(folder) / "answer"
        request_path.write_bytes(pickle.dumps(request))
        # `-P` keeps the folder of the program out of `sys.path`.
        command = [sys.executable, "-P", probe.__file__, str(request_path), str(answer_path)]
        try:
            ended = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {"error": f"No answer within {_TIMEOUT_S} s."}
        if ended.returncode:
            lines = ended.stderr.strip().splitlines() or ["no message"]
            return {"error": f"The process ended with status {ended.returncode}: {lines[-1]}"}
        answer: dict[str, Any] = pickle.loads(answer_path.read_bytes())
        return answer

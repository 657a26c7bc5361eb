"""All checks of a version, or of servers that serve it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from tf_charagram.errors import ConfigError, DataError
from tf_charagram.export.check.judge import SERVING, Judge
from tf_charagram.export.check.operations import (
    CORE,
    PYTHON,
    UNKNOWN,
    check_operations,
    read_operations,
)
from tf_charagram.export.check.probe import Call, measure
from tf_charagram.export.check.process import measure_in_process
from tf_charagram.export.check.result import Result
from tf_charagram.export.check.vectors import VectorJudge
from tf_charagram.export.serving.card import class_of
from tf_charagram.export.serving.client import ServingClient
from tf_charagram.export.serving.golden import GOLDEN, GoldenCall, read_golden
from tf_charagram.export.serving.inputs import samples_of, signatures_of
from tf_charagram.export.serving.version import EXTRA_ASSETS
from tf_charagram.files.json_files import read_json
from tf_charagram.models.base import TextModel
from tf_charagram.models.saved_model import MODEL_CARD

CLEAN, RUNTIME = "only tensorflow", "C++ runtime"
# What reading JSON of another form raises.
_DAMAGES = (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError)
_AGAIN = "Export the model again."


class VersionChecks:
    """Checks one version; what they find adds up in the attributes.

    Args:
        folder: Of the version.
        batches: Batch sizes to time.
        repeats: Most calls of each size.
        seconds: Time after which a size is called no more, once it was called 20 times.

    Attributes:
        judge: Of the answers of the model.
        request: What the model is asked, as `probe.measure` takes it.
        unit: What the texts that it is timed with are.
        results: What each check found.
        operations: Who provides operations -> their names.
        latency: One row for each batch size in each runtime or server.

    Raises:
        DataError: The card or the golden file is damaged, or the card names an unknown kind.
    """

    def __init__(
        self, folder: Path, *, batches: Sequence[int], repeats: int, seconds: float
    ) -> None:
        self.folder = folder
        self.results: list[Result] = []
        self.operations: dict[str, list[str]] = {}
        self.latency: list[dict[str, Any]] = []
        self._card = _read_card(folder)
        golden = _read_golden_calls(folder)
        try:
            self._model_class, self.judge = _read_as(self._card or {}, golden)
            calls = self.judge.calls()
        except ConfigError as error:
            raise DataError(folder / MODEL_CARD, str(error)) from error
        except _DAMAGES as error:
            raise DataError(folder / MODEL_CARD, f"is damaged ({error!r}). {_AGAIN}") from error
        samples = samples_of(self._model_class.kind)
        self.unit = samples.unit
        self.request: dict[str, Any] = {
            "batches": list(batches), "repeats": repeats, "seconds": seconds,
            "calls": calls,
            "text_inputs": self.judge.signatures[SERVING],
            "words": samples.timed_texts(),
        }  # fmt: skip

    def check_graph(self) -> None:
        """Looks at the operations."""
        try:
            self.operations = read_operations(self.folder)
        except DecodeError as error:
            self.results.append(Result("graph", "operations", False, f"damaged: {error}"))
        else:
            self.results.append(check_operations(self.operations, self._card))

    def check_runtimes(self) -> None:
        """Loads the model in processes of their own; after `check_graph`."""
        packages = sorted(set(self.operations) - {CORE, PYTHON, UNKNOWN})
        libraries = [package.replace("-", "_") for package in packages]
        request = {**self.request, "folder": str(self.folder), "libraries": libraries}
        where = " and ".join([CLEAN, *packages])
        self._add(where, measure_in_process("tensorflow", request))
        if packages:
            detail = f"not asked, for it does not load {', '.join(packages)}"
            self.results.append(Result(RUNTIME, "loads", None, detail))
        else:
            self._add(RUNTIME, measure_in_process("c_library", request))

    def check_server(self, client: ServingClient) -> None:
        """Asks a server.

        Raises:
            ConfigError: The version is not an embedder.
        """
        if not self._model_class.gives_vectors:
            raise ConfigError(
                f"`url` is for embedders, and {self.folder} is of the kind "
                f"'{self._model_class.kind}'. Check the folder without it."
            )

        def load() -> Call:
            client.embed([b"a"])
            return lambda signature, **inputs: _ask_server(client, signature, inputs)

        self._add(client.address, measure(load, self.request))

    def _add(self, where: str, measured: dict[str, Any]) -> None:
        self.results += self.judge.results(where, measured)
        rows = [row for row in measured.get("latency", []) if "error" not in row]
        self.latency += [{"where": where, **row} for row in rows]


def _ask_server(
    client: ServingClient, signature: str, inputs: dict[str, Sequence[bytes]]
) -> dict[str, np.ndarray]:
    """Calls a signature of an embedder by the method of the client that stands for it."""
    if signature == SERVING:
        return {"embedding": client.embed(**inputs)}
    return {"cosine": client.similarity(*inputs.values())}


def _read_as(card: dict[str, Any], golden: Sequence[GoldenCall]) -> tuple[type[TextModel], Judge]:
    """Returns the class of the model that a card describes, and the judge of its answers."""
    model_class = class_of(card)
    if model_class.gives_vectors:
        return model_class, VectorJudge(golden, card.get("dim"))
    return model_class, Judge(signatures_of(card), golden, model_class.max_checked_bytes)


def _read_card(folder: Path) -> dict[str, Any] | None:
    """Returns the model's card, or `None` if there is none."""
    path = folder / MODEL_CARD
    if not path.is_file():
        return None
    try:
        return dict(read_json(path))
    except (ValueError, TypeError) as error:
        raise DataError(path, f"is damaged ({error}). {_AGAIN}") from error


def _read_golden_calls(folder: Path) -> list[GoldenCall]:
    """Returns the golden calls of a version; an empty list if there are none."""
    path = folder / EXTRA_ASSETS / GOLDEN
    if not path.is_file():
        return []
    try:
        return read_golden(path.parent)
    except _DAMAGES as error:
        raise DataError(path, f"is damaged ({error!r}). {_AGAIN}") from error

"""All checks of a version, or of servers that serve it."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from tf_charagram.export.check.operations import (
    CORE,
    PYTHON,
    UNKNOWN,
    check_operations,
    read_operations,
)
from tf_charagram.export.check.probe import measure
from tf_charagram.export.check.process import measure_in_process
from tf_charagram.export.check.result import Result
from tf_charagram.export.check.texts import BAD_TEXTS, words
from tf_charagram.export.check.vectors import check_vectors
from tf_charagram.export.check.version import read_card, read_golden_vectors
from tf_charagram.export.client import ServingClient

CLEAN, RUNTIME = "only tensorflow", "C++ runtime"
_NUM_WORDS = 5000


class VersionChecks:
    """Checks one version; what they find adds up in the attributes.

    Args:
        folder: Of the version.
        batches: Batch sizes to time.
        repeats: Most calls of each size.
        seconds: No more calls of a size after so long, but for the first 20.

    Attributes:
        results: What each check found.
        operations: Who brings operations -> their names.
        latency: A row for each batch size of each place.

    Raises:
        DataError: The card or the golden vectors are damaged.
    """

    def __init__(
        self, folder: Path, *, batches: Sequence[int], repeats: int, seconds: float
    ) -> None:
        self.folder = folder
        self.results: list[Result] = []
        self.operations: dict[str, list[str]] = {}
        self.latency: list[dict[str, Any]] = []
        self._card = read_card(folder)
        self._golden: np.ndarray | None
        texts, self._golden = read_golden_vectors(folder) or ([], None)
        self._request = {
            "golden": [base64.b64encode(text).decode() for text in texts],
            "bad": {name: base64.b64encode(text).decode() for name, text in BAD_TEXTS.items()},
            "words": words(_NUM_WORDS),
            "batches": list(batches),
            "repeats": repeats,
            "seconds": seconds,
        }

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
        request = {**self._request, "folder": str(self.folder), "libraries": libraries}
        where = " and ".join([CLEAN, *packages])
        self._add(where, measure_in_process("tensorflow", request))
        if packages:
            detail = f"not asked, for it does not load {', '.join(packages)}"
            self.results.append(Result(RUNTIME, "loads", None, detail))
        else:
            self._add(RUNTIME, measure_in_process("c_library", request))

    def check_server(self, client: ServingClient) -> None:
        """Asks a server."""

        def load() -> ServingClient:
            client.embed([b"a"])
            return client

        self._add(client.address, measure(load, self._request))

    def _add(self, where: str, measured: dict[str, Any]) -> None:
        dim: int | None = (self._card or {}).get("dim")
        if self._golden is not None:
            dim = self._golden.shape[1]
        self.results += check_vectors(where, measured, self._golden, dim)
        rows = [row for row in measured.get("latency", []) if "error" not in row]
        self.latency += [{"where": where, **row} for row in rows]

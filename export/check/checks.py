"""All checks of a version, or of servers that serve it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from tf_charagram.errors import ConfigError
from tf_charagram.export.check.answers import calls_of, check_answers
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
from tf_charagram.export.check.version import (
    read_card,
    read_golden_calls,
    read_golden_vectors,
)
from tf_charagram.export.serving.client import ServingClient
from tf_charagram.export.serving.inputs import sample_texts, signatures_of
from tf_charagram.serialization.model_folder import EMBEDDER

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
        kind: Of the model.
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
        self._judge: Callable[[str, dict[str, Any]], list[Result]]
        self.results: list[Result] = []
        self.operations: dict[str, list[str]] = {}
        self.latency: list[dict[str, Any]] = []
        self._card = read_card(folder)
        self.kind: str = (self._card or {}).get("kind", EMBEDDER)
        self._request: dict[str, Any] = {
            "batches": list(batches), "repeats": repeats, "seconds": seconds,
            **(self._ask_vectors() if self.kind == EMBEDDER else self._ask_answers()),
        }  # fmt: skip

    def _ask_vectors(self) -> dict[str, Any]:
        texts, golden = read_golden_vectors(self.folder) or ([], None)
        dim = (self._card or {}).get("dim") if golden is None else golden.shape[1]
        self._judge = partial(check_vectors, golden=golden, dim=dim)
        return {
            "golden": [base64.b64encode(text).decode() for text in texts],
            "bad": {name: base64.b64encode(text).decode() for name, text in BAD_TEXTS.items()},
            "words": words(_NUM_WORDS),
        }

    def _ask_answers(self) -> dict[str, Any]:
        signatures = signatures_of(self._card or {})
        golden = read_golden_calls(self.folder)
        self._judge = partial(check_answers, golden=golden)
        return {
            "calls": calls_of(self.kind, signatures, golden),
            "text_inputs": signatures["serving_default"],
            "words": [text.decode() for text in sample_texts(self.kind)],
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
        """Asks a server.

        Raises:
            ConfigError: The version is no embedder.
        """
        if self.kind != EMBEDDER:
            raise ConfigError(
                f"`url` is for embedders, and {self.folder} is of the kind '{self.kind}'. "
                "Check the folder without it."
            )

        def load() -> ServingClient:
            client.embed([b"a"])
            return client

        self._add(client.address, measure(load, self._request))

    def _add(self, where: str, measured: dict[str, Any]) -> None:
        self.results += self._judge(where, measured)
        rows = [row for row in measured.get("latency", []) if "error" not in row]
        self.latency += [{"where": where, **row} for row in rows]

"""The twins of encoders in PyTorch, on the same batches; see `torch_twin`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import common
import numpy as np

from tf_charagram.data.pipeline.pair_stream import PairStream

MARGIN = 0.4
_SCRIPT = Path(__file__).with_name("torch_twin.py")


def has_torch() -> bool:
    """Returns whether PyTorch is installed, which is not imported here."""
    if find_spec("torch") is not None:
        return True
    print("torch is not installed; leaving it out")
    return False


class TorchTwin:
    """A process that trains in PyTorch; entered while it is used, and called to train once.

    Args:
        name: `"cse"`, or of an `EmbeddingBag` its mode, `"sum"` or `"mean"`.
        num_rows: Rows of the table.
        dim: Width of the embedding.
        stream: Gives the batches.
        num_steps: How many of them.

    Attributes:
        num_threads: Threads it runs with, one or two, whichever is faster.
    """

    def __init__(
        self, name: str, num_rows: int, dim: int, stream: PairStream, num_steps: int
    ) -> None:
        self._folder = tempfile.TemporaryDirectory()
        path = Path(self._folder.name) / "batches.npz"
        np.savez(path, **_batches_of(stream, num_steps))
        self._process = subprocess.Popen(
            [sys.executable, _SCRIPT, name, str(num_rows), str(dim), path],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.num_threads = int(self._answer())

    def __enter__(self) -> TorchTwin:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.communicate()
        self._folder.cleanup()

    def __call__(self) -> None:
        """Trains on all batches once."""
        self._process.stdin.write("train\n")
        self._process.stdin.flush()
        self._answer()

    def _answer(self) -> str:
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{_SCRIPT.name} ended with status {self._process.wait()}.")
        return line


def compare(
    rounds: int, ours: Callable[[], object], twin: tuple[Any, ...] | None, work: float
) -> dict:
    """Returns what `common.compare` does of a run and its twin.

    Args:
        rounds: How often.
        ours: The run.
        twin: The arguments of its `TorchTwin`, or `None` to leave that out.
        work: What is done in a run.
    """
    if twin is None:
        return common.compare(rounds, {"ours": ours}, work)
    with TorchTwin(*twin) as torch:
        rates = common.compare(rounds, {"ours": ours, "torch": torch}, work)
    return {**rates, "torch_threads": torch.num_threads}


def _batches_of(stream: PairStream, num_steps: int) -> dict[str, np.ndarray]:
    """Returns the first batches of a stream: flat ids, row splits and keys, as int32 and int64."""
    arrays = {}
    batches = (
        batch for segment in stream.segments(0, num_steps) for batch in stream.dataset(segment)
    )
    for number, (ids, keys) in enumerate(batches):
        arrays[f"ids_{number}"] = ids.values.numpy()
        arrays[f"splits_{number}"] = ids.row_splits.numpy().astype(np.int32)
        arrays[f"keys_{number}"] = keys.numpy()
    return arrays

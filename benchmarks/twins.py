"""The twins of encoders in PyTorch, on the same batches; see `torch_twin`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import common
import numpy as np
from processes import Contender

if TYPE_CHECKING:  # Who only starts the twin has no TensorFlow.
    from tf_charagram.tasks.paraphrase._corpus.pair_stream import PairStream

MARGIN = 0.4
_SCRIPT = Path(__file__).with_name("torch_twin.py")


def torch_twin(python: str, name: str, num_rows: int, dim: int, batches: Path) -> Contender:
    """Returns a process that trains in PyTorch on all batches of a file, whenever it is called.

    Its `facts` have the `num_threads` it runs with, one or two, whichever is faster.

    Args:
        python: The interpreter.
        name: `"cse"`, or of an `EmbeddingBag` its mode, `"sum"` or `"mean"`.
        num_rows: Rows of the table.
        dim: Width of the embedding.
        batches: The file, of `write_batches`.
    """
    return Contender([python, _SCRIPT, name, str(num_rows), str(dim), batches])


@contextmanager
def twin_of(
    python: str, name: str, num_rows: int, dim: int, stream: PairStream, num_steps: int
) -> Iterator[Contender]:
    """Gives the `torch_twin` of the first batches of a stream."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "batches.npz")
        write_batches(path, stream, num_steps)
        with torch_twin(python, name, num_rows, dim, path) as twin:
            yield twin


def compare(
    rounds: int, ours: Callable[[], object], twin: tuple[Any, ...] | None, work: float
) -> dict:
    """Returns the comparison of a run and its twin.

    Args:
        rounds: How often.
        ours: The run.
        twin: The arguments of `twin_of`, or `None` to leave that out.
        work: Pairs in a run.
    """
    if twin is None:
        return common.compare(rounds, {"ours": ours}, work, "pairs/s")
    with twin_of(*twin) as torch:
        rates = common.compare(rounds, {"ours": ours, "torch": torch}, work, "pairs/s")
    return {**rates, "torch_threads": torch.facts["num_threads"]}


def write_batches(path: str | Path, stream: PairStream, num_steps: int) -> None:
    """Writes the first batches of a stream: flat ids, row splits and keys, as int32 and int64."""
    arrays = {}
    batches = (
        batch for segment in stream.segments(0, num_steps) for batch in stream.dataset(segment)
    )
    for number, (ids, keys) in enumerate(batches):
        arrays[f"ids_{number}"] = ids.values.numpy()
        arrays[f"splits_{number}"] = ids.row_splits.numpy().astype(np.int32)
        arrays[f"keys_{number}"] = keys.numpy()
    np.savez(path, **arrays)

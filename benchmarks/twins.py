"""The twins of encoders in PyTorch, on the same batches; see `torch_twin`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from processes import Contender

if TYPE_CHECKING:  # Who only starts the twin has no TensorFlow.
    from tf_charagram.tasks.paraphrase._corpus.pair_stream import PairStream

MARGIN = 0.4
_SCRIPT = Path(__file__).with_name("torch_twin.py")


def torch_twin(
    python: str, name: str, num_rows: int, dim: int, batches: str | Path, device: str = "cpu"
) -> Contender:
    """Returns a process that trains in PyTorch on all batches of a file, whenever it is called.

    On the CPU, its `facts` have the `torch_threads` it runs with, one or two, whichever is faster.

    Args:
        python: The interpreter.
        name: A key of `torch_twin.TWINS`.
        num_rows: Rows of the table.
        dim: Width of the embedding.
        batches: The file, of `write_batches`.
        device: Where it trains, `"cpu"` or `"cuda"`.
    """
    return Contender([python, _SCRIPT, name, str(num_rows), str(dim), batches, device])


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

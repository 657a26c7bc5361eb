"""The same training in PyTorch: margin loss with the most similar text of the batch.

    python benchmarks/torch_twin.py NAME NUM_ROWS DIM BATCHES.npz

A `processes.Contender`, which `twins` starts: PyTorch and TensorFlow may bring libraries that abort
a process with both. Each time it trains on all batches once.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import processes
import torch

MARGIN = 0.4
WIDTHS = (1, 2, 3)

Batch = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
Embed = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def read_batches(path: str) -> list[Batch]:
    """Returns flat ids, row splits and keys of each batch, as `twins.write_batches` wrote them."""
    with np.load(path) as arrays:
        names = ("ids", "splits", "keys")
        return [
            tuple(torch.from_numpy(arrays[f"{name}_{number}"]) for name in names)
            for number in range(len(arrays) // len(names))
        ]


def bag(num_rows: int, dim: int, mode: str) -> tuple[Embed, Sequence[Any]]:
    """Returns `EmbeddingBag(sparse=True)` and `SparseAdam`; mode `sum` or `mean`."""
    table = torch.nn.EmbeddingBag(num_rows, dim, mode=mode, sparse=True)
    torch.nn.init.uniform_(table.weight, -0.05, 0.05)
    optimizer = torch.optim.SparseAdam(table.parameters(), lr=0.001)
    return lambda ids, splits: table(ids, splits[:-1]), [optimizer]


def cse(num_rows: int, dim: int) -> tuple[Embed, Sequence[Any]]:
    """Returns a sparse table with sums of convolutions, and Adam for both."""
    table = torch.nn.Embedding(num_rows, dim, sparse=True)
    torch.nn.init.uniform_(table.weight, -0.05, 0.05)
    filters = torch.nn.ModuleList(
        torch.nn.Conv1d(dim, dim // len(WIDTHS), width) for width in WIDTHS
    )

    def embed(ids: torch.Tensor, splits: torch.Tensor) -> torch.Tensor:
        texts = torch.split(ids, torch.diff(splits).tolist())
        padded = torch.nn.utils.rnn.pad_sequence(texts, batch_first=True)
        lengths = torch.diff(splits).clamp(min=1)[:, None]
        steps = torch.arange(padded.shape[1])
        # One row longer at least than the widest filter, and zero behind each text.
        vectors = (table(padded) * (steps < lengths)[:, :, None]).transpose(1, 2)
        vectors = torch.nn.functional.pad(vectors, (0, max(0, WIDTHS[-1] - padded.shape[1])))
        sums = []
        for width, convolution in zip(WIDTHS, filters, strict=True):
            outputs = convolution(vectors)
            fits = torch.arange(outputs.shape[2]) < (lengths - width + 1).clamp(min=1)
            sums.append((outputs * fits[:, None]).sum(dim=2))
        return torch.cat(sums, dim=1)

    optimizers = [
        torch.optim.SparseAdam(table.parameters(), lr=0.001),
        torch.optim.Adam(filters.parameters(), lr=0.001),
    ]
    return embed, optimizers


def train(embed: Embed, optimizers: Sequence[Any], batches: Sequence[Batch]) -> None:
    """Takes a step on each batch."""
    for ids, splits, keys in batches:
        loss = _loss(embed(ids, splits), keys)
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()


def _loss(embeddings: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    pairs = len(keys) // 2
    vectors = torch.nn.functional.normalize(embeddings, dim=1)
    with torch.no_grad():
        cosines = vectors @ vectors.T
        partners = torch.cat([keys[pairs:], keys[:pairs]])
        same = (keys[:, None] == keys) | (partners[:, None] == keys)
        negatives = cosines.masked_fill(same, -2).argmax(dim=1)
    positive = (vectors[:pairs] * vectors[pairs:]).sum(dim=1).repeat(2)
    negative = (vectors * vectors[negatives]).sum(dim=1)
    return torch.relu(MARGIN - positive + negative).sum() / pairs


def faster_num_threads(run: Callable[[], None]) -> int:
    """Returns one or two, whichever a run is faster with.

    Where other programs want the cores, two threads can be ten times slower than one.
    """

    def tried(num_threads: int) -> float:
        torch.set_num_threads(num_threads)
        run()
        times = []
        for _ in range(3):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        return statistics.median(times)

    return min((1, 2), key=tried)


def main() -> None:
    """Trains whenever it is told to."""
    answers = processes.protocol_file()
    name, num_rows, dim, path = sys.argv[1:]
    sizes = int(num_rows), int(dim)
    batches = read_batches(path)
    embed, optimizers = cse(*sizes) if name == "cse" else bag(*sizes, mode=name)
    num_threads = faster_num_threads(lambda: train(embed, optimizers, batches[:10]))
    torch.set_num_threads(num_threads)
    facts = {"num_threads": num_threads}
    processes.serve(facts, lambda _: train(embed, optimizers, batches), answers)


if __name__ == "__main__":
    main()

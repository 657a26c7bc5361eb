"""The same training in PyTorch: margin loss with the most similar text of the batch.

    python benchmarks/torch_twin.py NAME NUM_ROWS DIM BATCHES.npz [DEVICE]

A `processes.Contender`, which `twins` starts: PyTorch and TensorFlow may bring libraries that abort
a process with both. Each time it trains on all batches once.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import processes
import torch

MARGIN = 0.4
WIDTHS = (1, 2, 3)
# Width and number of the filters of `char_cnn`.
CHAR_FILTERS = {2: 175, 3: 175, 4: 175}


class Batch(NamedTuple):
    """The texts of pairs, lefts first; both forms of ids are made before the clock starts.

    Attributes:
        ids: Ids of all texts.
        starts: Position of the first id of each text.
        padded: The same ids, `(texts, longest)`, 0 after the end of a text.
        lengths: Number of ids of each text.
        keys: Equal for equal texts.
    """

    ids: torch.Tensor
    starts: torch.Tensor
    padded: torch.Tensor
    lengths: torch.Tensor
    keys: torch.Tensor

    @classmethod
    def of(cls, ids: np.ndarray, splits: np.ndarray, keys: np.ndarray) -> Batch:
        """Makes a batch from flat ids and row splits."""
        flat, lengths = torch.from_numpy(ids), torch.from_numpy(np.diff(splits))
        texts = torch.split(flat, lengths.tolist())
        padded = torch.nn.utils.rnn.pad_sequence(texts, batch_first=True)
        return cls(flat, torch.from_numpy(splits[:-1]), padded, lengths, torch.from_numpy(keys))


Embed = Callable[[Batch], torch.Tensor]


def read_batches(path: str) -> list[Batch]:
    """Reads the batches that `twins.write_batches` wrote."""
    with np.load(path) as arrays:
        names = ("ids", "splits", "keys")
        return [
            Batch.of(*(arrays[f"{name}_{number}"] for name in names))
            for number in range(len(arrays) // len(names))
        ]


def bag(num_rows: int, dim: int, mode: str) -> tuple[Embed, Sequence[Any]]:
    """Returns `EmbeddingBag(sparse=True)` and `SparseAdam`; mode `sum` or `mean`."""
    table = torch.nn.EmbeddingBag(num_rows, dim, mode=mode, sparse=True)
    torch.nn.init.uniform_(table.weight, -0.05, 0.05)
    optimizer = torch.optim.SparseAdam(table.parameters(), lr=0.001)
    return lambda batch: table(batch.ids, batch.starts), [optimizer]


def cse(num_rows: int, dim: int) -> tuple[Embed, Sequence[Any]]:
    """Returns a sparse table with sums of convolutions, and Adam for both."""
    table = torch.nn.Embedding(num_rows, dim, sparse=True)
    filters = torch.nn.ModuleList(
        torch.nn.Conv1d(dim, dim // len(WIDTHS), width) for width in WIDTHS
    )

    def embed(batch: Batch) -> torch.Tensor:
        vectors = vectors_of(table, batch)
        # As long as the widest filter, at least.
        missing = max(0, WIDTHS[-1] - vectors.shape[1])
        vectors = torch.nn.functional.pad(vectors.transpose(1, 2), (0, missing))
        sums = []
        for width, convolution in zip(WIDTHS, filters, strict=True):
            outputs = convolution(vectors)
            num_windows = (batch.lengths[:, None] - width + 1).clamp(min=1)
            fits = torch.arange(outputs.shape[2]) < num_windows
            sums.append((outputs * fits[:, None]).sum(dim=2))
        return torch.cat(sums, dim=1)

    return embed, _optimizers(table, filters)


def vectors_of(table: torch.nn.Embedding, batch: Batch) -> torch.Tensor:
    """Returns the vectors of the ids of texts, `(texts, longest, dim)`, zeros after the end."""
    steps = torch.arange(batch.padded.shape[1], device=batch.padded.device)
    return table(batch.padded) * (steps < batch.lengths[:, None])[:, :, None]


def char_cnn(num_rows: int, dim: int) -> tuple[Embed, Sequence[Any]]:
    """Returns convolutions over characters, the maximum of each filter and a dense layer."""
    table = torch.nn.Embedding(num_rows, dim, sparse=True)
    filters = torch.nn.ModuleList(
        torch.nn.Conv1d(dim, number, width, padding=width - 1)
        for width, number in CHAR_FILTERS.items()
    )
    dense = torch.nn.Linear(sum(CHAR_FILTERS.values()), dim)

    def embed(batch: Batch) -> torch.Tensor:
        vectors = vectors_of(table, batch).transpose(1, 2)
        outputs = [layer(vectors).amax(dim=2) for layer in filters]
        return torch.tanh(dense(torch.relu(torch.cat(outputs, dim=1))))

    return embed, _optimizers(table, filters, dense)


def recurrent(num_rows: int, dim: int, cell: type[torch.nn.RNNBase]) -> tuple[Embed, Sequence[Any]]:
    """Returns the last state of `torch.nn.RNN` or `torch.nn.LSTM` over word vectors."""
    table = torch.nn.Embedding(num_rows, dim, sparse=True)
    layer = cell(dim, dim, batch_first=True)

    def embed(batch: Batch) -> torch.Tensor:
        packed = torch.nn.utils.rnn.pack_padded_sequence(
            vectors_of(table, batch),
            batch.lengths.clamp(min=1).cpu(),
            batch_first=True,
            enforce_sorted=False,
        )
        _, state = layer(packed)
        return (state[0] if isinstance(state, tuple) else state)[-1]

    return embed, _optimizers(table, layer)


def _optimizers(table: torch.nn.Embedding, *layers: torch.nn.Module) -> Sequence[Any]:
    """Returns sparse Adam for a table, and Adam for other layers."""
    torch.nn.init.uniform_(table.weight, -0.05, 0.05)
    weights = [weight for layer in layers for weight in layer.parameters()]
    return [
        torch.optim.SparseAdam(table.parameters(), lr=0.001),
        torch.optim.Adam(weights, lr=0.001),
    ]


#: Twin of an encoder by name.
TWINS: dict[str, Callable[[int, int], tuple[Embed, Sequence[Any]]]] = {
    "sum": lambda num_rows, dim: bag(num_rows, dim, "sum"),
    "mean": lambda num_rows, dim: bag(num_rows, dim, "mean"),
    "cse": cse,
    "char_cnn": char_cnn,
    "rnn": lambda num_rows, dim: recurrent(num_rows, dim, torch.nn.RNN),
    "lstm": lambda num_rows, dim: recurrent(num_rows, dim, torch.nn.LSTM),
}


def train(embed: Embed, optimizers: Sequence[Any], batches: Sequence[Batch]) -> None:
    """Takes a step on each batch."""
    for batch in batches:
        loss = _loss(embed(batch), batch.keys)
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()


def train_and_wait(embed: Embed, optimizers: Sequence[Any], batches: Sequence[Batch]) -> None:
    """Takes a step on each batch, and waits until the GPU has done them."""
    train(embed, optimizers, batches)
    torch.cuda.synchronize()


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
    name, num_rows, dim, path, *device = sys.argv[1:]
    batches = read_batches(path)
    if device:
        # Tables, layers and all that is computed from them are on the device.
        torch.set_default_device(*device)
        batches = [Batch(*(part.to(*device) for part in batch)) for batch in batches]
    embed, optimizers = TWINS[name](int(num_rows), int(dim))
    if device:
        train(embed, optimizers, batches)
        processes.serve({}, lambda _: train_and_wait(embed, optimizers, batches), answers)
        return
    num_threads = faster_num_threads(lambda: train(embed, optimizers, batches[:10]))
    torch.set_num_threads(num_threads)
    facts = {"num_threads": num_threads}
    processes.serve(facts, lambda _: train(embed, optimizers, batches), answers)


if __name__ == "__main__":
    main()

"""The same training in PyTorch: margin loss with the most similar text of the batch.

    python benchmarks/torch_twin.py NAME NUM_ROWS DIM BATCHES.npz DEVICE

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
# How long a number of threads is tried; a step can take milliseconds or seconds.
_TRY_SECONDS = 0.5
# Width and number of the filters of `char_cnn`.
CHAR_FILTERS = {2: 175, 3: 175, 4: 175}


class Batch(NamedTuple):
    """The texts of pairs, lefts first; both forms of ids are made before the clock starts.

    Attributes:
        ids: Ids of all texts.
        starts: Position of the first id of each text.
        padded: The same ids, `(texts, longest)`, 0 after the end of a text.
        mask: 1 for each of them, 0 after the end, float32 `(texts, longest, 1)`.
        lengths: Number of ids of each text, at least 1; on the CPU, where packing reads them.
        keys: Equal for equal texts.
    """

    ids: torch.Tensor
    starts: torch.Tensor
    padded: torch.Tensor
    mask: torch.Tensor
    lengths: torch.Tensor
    keys: torch.Tensor

    @classmethod
    def of(cls, ids: np.ndarray, splits: np.ndarray, keys: np.ndarray) -> Batch:
        """Makes a batch from flat ids and row splits."""
        flat, lengths = torch.from_numpy(ids), torch.from_numpy(np.diff(splits))
        texts = torch.split(flat, lengths.tolist())
        padded = torch.nn.utils.rnn.pad_sequence(texts, batch_first=True)
        is_id = torch.arange(padded.shape[1]) < lengths[:, None]
        starts, every_key = torch.from_numpy(splits[:-1]), torch.from_numpy(keys)
        mask = is_id[:, :, None].float()
        return cls(flat, starts, padded, mask, lengths.clamp(min=1), every_key)

    def on(self, device: str) -> Batch:
        """Returns the batch on a device, but for the lengths."""
        parts = [part.to(device) for part in self]
        return Batch(*parts)._replace(lengths=self.lengths)


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


def averaged(num_rows: int, dim: int, activation: Embed) -> tuple[Embed, Sequence[Any]]:
    """Returns a dense layer over means."""
    table = torch.nn.EmbeddingBag(num_rows, dim, mode="mean", sparse=True)
    dense = torch.nn.Linear(dim, dim)
    optimizers = _optimizers(table, dense)
    return lambda batch: activation(dense(table(batch.ids, batch.starts))), optimizers


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
        lengths = batch.mask.sum(dim=1)
        sums = []
        for width, convolution in zip(WIDTHS, filters, strict=True):
            outputs = convolution(vectors)
            num_windows = (lengths - width + 1).clamp(min=1)
            fits = torch.arange(outputs.shape[2], device=outputs.device) < num_windows
            sums.append((outputs * fits[:, None]).sum(dim=2))
        return torch.cat(sums, dim=1)

    return embed, _optimizers(table, filters)


def vectors_of(table: torch.nn.Embedding, batch: Batch) -> torch.Tensor:
    """Returns the vectors of the ids of texts, `(texts, longest, dim)`, zeros after the end."""
    return table(batch.padded) * batch.mask


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


def recurrent(
    num_rows: int, dim: int, cell: type[torch.nn.RNNBase], has_gate: bool = False
) -> tuple[Embed, Sequence[Any]]:
    """Returns the last state of `torch.nn.RNN` or `torch.nn.LSTM` over vectors.

    With `has_gate`, the mean of the vectors, each times a gate of itself and its state: GRAN.
    """
    table = torch.nn.Embedding(num_rows, dim, sparse=True)
    layer = cell(dim, dim, batch_first=True)
    gate = torch.nn.Linear(2 * dim, dim)

    def embed(batch: Batch) -> torch.Tensor:
        vectors = vectors_of(table, batch)
        packed = torch.nn.utils.rnn.pack_padded_sequence(
            vectors, batch.lengths, batch_first=True, enforce_sorted=False
        )
        packed_states, state = layer(packed)
        if has_gate:
            states, _ = torch.nn.utils.rnn.pad_packed_sequence(packed_states, batch_first=True)
            gates = torch.sigmoid(gate(torch.cat([vectors, states], dim=2)))
            return (vectors * gates).sum(dim=1) / batch.mask.sum(dim=1).clamp(min=1)
        return (state[0] if isinstance(state, tuple) else state)[-1]

    layers = (layer, gate) if has_gate else (layer,)
    return embed, _optimizers(table, *layers)


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
    "projection": lambda num_rows, dim: averaged(num_rows, dim, torch.nn.Identity()),
    "dan": lambda num_rows, dim: averaged(num_rows, dim, torch.tanh),
    "cse": cse,
    "char_cnn": char_cnn,
    "rnn": lambda num_rows, dim: recurrent(num_rows, dim, torch.nn.RNN),
    "identity_rnn": lambda num_rows, dim: recurrent(num_rows, dim, torch.nn.RNN),
    "lstm": lambda num_rows, dim: recurrent(num_rows, dim, torch.nn.LSTM),
    "gran": lambda num_rows, dim: recurrent(num_rows, dim, torch.nn.LSTM, has_gate=True),
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
    name, num_rows, dim, path, device = sys.argv[1:]
    batches = [batch.on(device) for batch in read_batches(path)]
    with torch.device(device):
        embed, optimizers = TWINS[name](int(num_rows), int(dim))
    if device != "cpu":
        train(embed, optimizers, batches)
        processes.serve({}, lambda _: train_and_wait(embed, optimizers, batches), answers)
        return
    train(embed, optimizers, batches[:1])
    start = time.perf_counter()
    train(embed, optimizers, batches[:1])
    num_tried = max(1, min(10, int(_TRY_SECONDS / (time.perf_counter() - start))))
    num_threads = faster_num_threads(lambda: train(embed, optimizers, batches[:num_tried]))
    torch.set_num_threads(num_threads)
    facts = {"torch_threads": num_threads}
    processes.serve(facts, lambda _: train(embed, optimizers, batches), answers)


if __name__ == "__main__":
    main()

"""The same training in PyTorch: margin loss with the most similar text of the batch."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

import common
import numpy as np

from tf_charagram.data.pipeline.pair_stream import PairStream

MARGIN = 0.4


def batches_of(stream: PairStream, num_steps: int) -> list[tuple[np.ndarray, ...]]:
    """Returns the first batches of a stream: flat ids, row splits and keys, as int32 and int64."""
    return [
        (ids.values.numpy(), ids.row_splits.numpy().astype(np.int32), keys.numpy())
        for segment in stream.segments(0, num_steps)
        for ids, keys in stream.dataset(segment)
    ]


def fit(
    torch: Any,
    embed: Callable[[Any, Any], Any],
    optimizers: Sequence[Any],
    batches: list[tuple[np.ndarray, ...]],
) -> Callable[[], None]:
    """Returns a function that trains on all batches, with one thread or two.

    Both are tried beforehand, and the faster is kept: where other programs want the cores, two
    threads can be ten times slower than one.

    Args:
        torch: The module.
        embed: Embeds flat ids and their row splits.
        optimizers: Those of all its weights.
        batches: As `batches_of` gives them.
    """
    tensors = [tuple(map(torch.from_numpy, batch)) for batch in batches]

    def steps(batches: list[tuple[Any, ...]]) -> None:
        for ids, splits, keys in batches:
            loss = _loss(torch, embed(ids, splits), keys)
            for optimizer in optimizers:
                optimizer.zero_grad()
            loss.backward()
            for optimizer in optimizers:
                optimizer.step()

    def tried(num_threads: int) -> float:
        torch.set_num_threads(num_threads)
        steps(tensors[:10])
        return statistics.median(common.seconds(lambda: steps(tensors[:10])) for _ in range(3))

    torch.set_num_threads(min((1, 2), key=tried))
    return lambda: steps(tensors)


def _loss(torch: Any, embeddings: Any, keys: Any) -> Any:
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


def bag(torch: Any, num_rows: int, dim: int, mode: str, batches: list) -> Callable[[], None]:
    """Returns the run of `EmbeddingBag(sparse=True)` with `SparseAdam`; mode `sum` or `mean`."""
    table = torch.nn.EmbeddingBag(num_rows, dim, mode=mode, sparse=True)
    torch.nn.init.uniform_(table.weight, -0.05, 0.05)
    optimizer = torch.optim.SparseAdam(table.parameters(), lr=0.001)
    return fit(torch, lambda ids, splits: table(ids, splits[:-1]), [optimizer], batches)

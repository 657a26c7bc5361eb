"""Bulk embedding on a Ray cluster: nodes with free cores read files and embed shards.

Every node must see the model, the inputs, the words to keep and the output under the same paths.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import numpy as np

from tf_charagram._common.lazy import extra_module
from tf_charagram.bulk._shards.folder import Record
from tf_charagram.bulk._shards.inputs import Shard
from tf_charagram.bulk.job import EmbedJob
from tf_charagram.errors import DataError, RunError

Batch = dict[str, np.ndarray]


class _ShardActor:
    """Embeds shards as an actor of `ray.data.Dataset.map_batches`.

    Args:
        job: The job of the shards.
    """

    def __init__(self, job: EmbedJob) -> None:
        self._job = job

    def __call__(self, batch: Batch) -> Batch:
        """Takes the columns of `Shard`; returns the column `record`, as JSON."""
        columns = [batch[name].tolist() for name in Shard._fields]
        records = []
        for values in zip(*columns, strict=True):
            record = self._job.embed(Shard(*values), self._job.embedder)
            records.append(json.dumps(record))
        return {"record": np.array(records, object)}


def run_ray(job: EmbedJob, done: dict[str, Record], num_actors: int) -> Iterator[Record]:
    """Embeds the pending shards on Ray; yields the records as they are completed.

    Args:
        job: Model, inputs and output.
        done: Records of the shards that are done, by name.
        num_actors: Number of actors, each with a core and a copy of the model; 0 for one per core
            of the cluster.

    Raises:
        RunError: Reading, embedding or writing failed on a node.
    """
    ray = extra_module("ray", "ray")
    data = extra_module("ray.data", "ray")
    if not ray.is_initialized():
        ray.init(log_to_driver=False, logging_level="ERROR")
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # Errors are raised, too.
    context = data.DataContext.get_current().copy()
    context.enable_progress_bars = False
    context.target_max_block_size = 1  # One shard per block, so that all actors work.

    def read(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
        try:
            for shard in job.pending_shards(row["item"], done):
                yield shard._asdict()
        except DataError as error:  # It cannot be unpickled: its constructor takes other arguments.
            raise RunError(str(error)) from None

    numbers = list(range(len(job.inputs)))
    actors = data.ActorPoolStrategy(size=num_actors or int(ray.cluster_resources()["CPU"]))
    with data.DataContext.current(context):
        files = data.from_items(numbers, override_num_blocks=len(numbers))
        # Readers take no core: the actors may hold them all.
        records = files.flat_map(read, num_cpus=0).map_batches(
            _ShardActor, fn_constructor_args=(job,), batch_size=1, compute=actors, num_cpus=1
        )
    try:
        for row in records.iter_rows():
            yield json.loads(row["record"])
    except ray.exceptions.RayTaskError as error:
        # Ray appends advice on how to retry.
        raise RunError(str(error.cause).partition("\n")[0]) from error

"""Embeds files into a folder of shards, on this machine or on Ray."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain

from tf_charagram._common.lazy import extra_module
from tf_charagram._files.writing import FolderLock
from tf_charagram.bulk._shards.folder import Record, ShardFolder
from tf_charagram.bulk._shards.inputs import LineProgress
from tf_charagram.bulk.job import EmbedJob
from tf_charagram.bulk.ray_engine import run_ray
from tf_charagram.errors import ConfigError
from tf_charagram.models._storage.choice import Embedder
from tf_charagram.text._algorithm.batches import in_threads

# While one shard is written to disk, the next one is embedded.
_SHARDS_AT_ONCE = 2


def embed_files(
    job: EmbedJob,
    *,
    ray: int | None = None,
    resume: bool = False,
    overwrite: bool = False,
) -> ShardFolder:
    """Embeds the lines of files into a folder of shards, each line once, even if interrupted.

    Args:
        job: Model, inputs and output.
        ray: Number of Ray actors, 0 for one per core of the cluster. Default: no Ray, but all cores
            of this machine.
        resume: Keep the shards in the folder; damaged shards are embedded again.
        overwrite: Replace the shards in the folder.

    Returns:
        The complete folder.

    Raises:
        ConfigError: `ray` is negative, Ray is not installed, or arguments contradict each other.
        DataError: An input cannot be read, or has changed.
        RunError: The model cannot be loaded, the folder cannot be used, or another process writes
            to it.
    """
    if resume and overwrite:
        raise ConfigError("Give one of `resume` and `overwrite`.")
    if ray is None:
        run = partial(run_local, embedder=job.embedder)
    elif ray < 0:
        raise ConfigError(f"`ray` must be at least 0. Received: ray={ray}")
    else:
        extra_module("ray.data", "ray")
        run = partial(run_ray, num_actors=ray)
    with FolderLock(job.output):
        folder = ShardFolder(job.output, job.identity(), resume=resume, overwrite=overwrite)
        done = dict(folder.records)
        bytes_done = sum(record["text_bytes"] for record in done.values())
        with LineProgress(job.inputs, bytes_done) as progress:
            for path in folder.damaged:
                progress.say(f"{path} is damaged; embedding it again")
            for record in run(job, done):
                folder.add(record)
                progress.advance(record["num_lines"], record["text_bytes"])
        folder.complete()
        before = f"; {len(done):,} shards were there" if done else ""
        progress.say(f"{progress.summary()} -> {folder.path}{before}")
    return folder


def run_local(job: EmbedJob, done: dict[str, Record], embedder: Embedder) -> Iterator[Record]:
    """Embeds the pending shards on all cores of this machine; yields their records in order."""
    numbers = range(len(job.inputs))
    shards = chain.from_iterable(job.pending_shards(number, done) for number in numbers)
    embed = partial(job.embed, embedder=embedder)
    for _, record in in_threads(embed, shards, _SHARDS_AT_ONCE, num_waiting=_SHARDS_AT_ONCE):
        yield record

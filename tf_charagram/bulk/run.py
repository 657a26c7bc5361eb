"""Bulk embedding from start to end, with either engine."""

from __future__ import annotations

from functools import partial

from tf_charagram.bulk.folder import ShardFolder
from tf_charagram.bulk.job import EmbedJob, run_local
from tf_charagram.bulk.progress import LineProgress
from tf_charagram.bulk.ray_engine import check_ray, run_ray
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.files.locks import FolderLock
from tf_charagram.models.embedder import TextEmbedder

ENGINES = ("local", "ray")


def embed_files(
    job: EmbedJob, *, engine: str = "local", workers: int | None = None, resume: bool = False,
    overwrite: bool = False,
) -> ShardFolder:  # fmt: skip
    """Embeds the lines of files into a folder of shards, each line once, even if interrupted.

    Args:
        job: Model, inputs and output.
        engine: `"local"`, all cores of this machine, or `"ray"`.
        workers: Number of Ray actors; `None` for one per core of the cluster.
        resume: Keep the shards in the folder; damaged ones are embedded again.
        overwrite: Replace the shards in the folder.

    Returns:
        The folder, complete.

    Raises:
        ConfigError: The engine does not exist or lacks what it needs.
        DataError: An input cannot be read, or has changed.
        RunError: The model cannot be loaded, the folder cannot be used as asked, or another process
            writes to it.
    """
    if engine not in ENGINES:
        raise ConfigError(unknown_name("engine", engine, ENGINES))
    if resume and overwrite:
        raise ConfigError("Give one of `resume` and `overwrite`.")
    if workers is not None and engine != "ray":
        raise ConfigError("`workers` is for the engine ray; local uses all cores.")
    if engine == "ray":
        check_ray(workers)
        run = partial(run_ray, workers=workers)
    else:
        run = partial(run_local, embedder=TextEmbedder.load(job.model, folded=True))
    with FolderLock(job.output):
        folder = job.open_folder(resume=resume, overwrite=overwrite)
        done = dict(folder.records)
        bytes_done = sum(record["text_bytes"] for record in done.values())
        with LineProgress(job.inputs, bytes_done) as progress:
            for problem in folder.damaged:
                progress.say(f"{problem}; embedding it again")
            for record in run(job, done):
                folder.add(record)
                progress.advance(record["num_lines"], record["text_bytes"])
        folder.complete()
        before = f"; {len(done):,} shards were there" if done else ""
        progress.say(f"{progress.summary()} -> {folder.path}{before}")
    return folder

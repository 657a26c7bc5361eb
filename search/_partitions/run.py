"""Runs the steps: in this process, in some processes of this machine, or on Ray."""

from __future__ import annotations

import multiprocessing
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from tf_charagram._common.lazy import extra_module
from tf_charagram._common.reporting import ProgressLine
from tf_charagram._files.identity import changes_since
from tf_charagram._files.json_files import read_json, write_json
from tf_charagram._files.writing import FolderLock, remove
from tf_charagram.errors import CharagramError, ConfigError, DataError, RunError
from tf_charagram.search._partitions.in_memory import is_in_memory
from tf_charagram.search._partitions.job import Job, forget
from tf_charagram.search._partitions.rivals import forget_rivals, prior_of
from tf_charagram.search._partitions.steps import Step, steps_of
from tf_charagram.search._partitions.writing import summary_of
from tf_charagram.search.linkage._fellegi_sunter.text_odds import TextOdds
from tf_charagram.search.linkage.linker import Linker
from tf_charagram.text._algorithm.batches import num_threads

# Runs tasks of a step: the job, the number of the step, and the numbers of its tasks.
_Runner = Callable[[Job, int, Sequence[int]], Iterable[object]]
_MANIFEST = "partitions.json"
# Rows of a job that are not worth the start of processes.
_FEW_BYTES = 5_000_000
# Seconds until a node of Ray must answer.
_ANSWER_S = 5
# The start of a connection of HTTP/2, which Ray speaks, with empty settings; a server answers with
# its own settings (RFC 9113, section 3.4).
_HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
# Where the kind of a frame is, and the kind of settings.
_KIND = slice(3, 4)
_SETTINGS = b"\x04"
# Tasks of Ray that are started before others are done, per core.
_AHEAD = 2


def run_job(
    job: Job,
    *,
    resume: bool = False,
    overwrite: bool = False,
    ray: str | None = None,
    shows_progress: bool = False,
    report: Callable[[dict[str, Any]], None] | None = None,
) -> dict[str, Any]:
    """Runs all steps that are not done yet; the files of the steps are deleted at the end.

    Args:
        job: Inputs, settings and output.
        resume: Continue a run that was stopped.
        overwrite: Replace the result of another run.
        ray: Address of a Ray cluster, `auto` for the one of this machine, or `local` to start one.
            All nodes see the inputs and the output under the same paths. Default: the cores of this
            machine.
        shows_progress: Whether progress is shown on standard error, if it is a terminal.
        report: Called after each task with the name of the `step`, `num_done` of `num_tasks`,
            `rows_per_second` (`None` while rows are not counted) and `seconds_left` of the step.

    Returns:
        Number of rows, of groups or partners, notes about columns, and seconds by step.

    Raises:
        ConfigError: Arguments contradict each other, or a package is missing.
        DataError: An input cannot be read, or has changed.
        RunError: The folder cannot be used, or another process writes to it.
    """
    if resume and overwrite:
        raise ConfigError("Give one of `resume` and `overwrite`.")
    extra_module("pyarrow", "parquet")
    output = Path(job.output)
    manifest = output / _MANIFEST
    identity = _identity(job)
    with FolderLock(output), ExitStack() as stack:
        done = _open(job, manifest, identity, resume, overwrite)
        if done is not None:
            return done
        forget()
        forget_rivals()
        if ray is not None:
            # Nodes have working folders of their own.
            left = tuple(map(os.path.abspath, job.left))
            right = tuple(map(os.path.abspath, job.right))
            job = replace(job, output=os.path.abspath(job.output), left=left, right=right)
        runner = _runner(job, ray, stack)
        seconds: dict[str, float] = {}
        for number, step in enumerate(steps_of(job)):
            if not step.num_tasks(job):
                # Few rows are compared in memory, and most rows not as a whole.
                continue
            start = time.perf_counter()
            _run_step(job, number, step, runner, shows_progress, report)
            seconds[step.name] = round(time.perf_counter() - start, 2)
        summary = {**summary_of(job), "seconds": seconds}
        if not job.is_text:
            # For rows that come later.
            linker = Linker.load(job.path("linker.json"))
            if isinstance(linker.mixture, TextOdds) and not (job.right or is_in_memory(job)):
                linker.mixture.prior = prior_of(job)
            linker.save(output / "linker.json")
        write_json(manifest, {**identity, "is_complete": True, "summary": summary})
        _remove_steps(job)
    return summary


def _identity(job: Job) -> dict[str, Any]:
    settings = {name: getattr(job, name) for name in job.__dataclass_fields__}
    # The folder may have been moved.
    del settings["output"]
    return {
        "settings": settings,
        "data_files": {path: os.stat(path).st_size for path in job.inputs},
    }


def _open(
    job: Job, manifest: Path, identity: dict[str, Any], resume: bool, overwrite: bool
) -> dict[str, Any] | None:
    """Prepares the folder; returns the summary if it is complete."""
    output = manifest.parent
    if any(output.glob("[!.]*")):
        if not (resume or overwrite):
            raise RunError(
                f"{output} exists. Add --resume to continue it, --overwrite to start again, or "
                "give another --output."
            )
        if not manifest.is_file():
            raise RunError(f"{output} has other files, so nothing is written there.")
        if resume:
            changed = changes_since(manifest, identity)
            if changed:
                raise RunError(
                    f"{output} was started with other settings: {', '.join(changed)}. Resume with "
                    "the same, start again with --overwrite, or give another --output."
                )
            before = read_json(manifest)
            if before["is_complete"]:
                _remove_steps(job)
                summary: dict[str, Any] = before["summary"]
                return summary
            return None
        # A process that is killed now leaves files of two runs, which no settings may continue.
        write_json(manifest, {"settings": {}, "data_files": {}, "is_complete": False})
    _remove_steps(job)
    for number in range(len(job.left)):
        with suppress(FileNotFoundError):
            job.output_of(number).unlink()
    write_json(manifest, {**identity, "is_complete": False})
    return None


def _remove_steps(job: Job) -> None:
    if job.path().exists():
        remove(job.path())


def _run_step(
    job: Job,
    number: int,
    step: Step,
    runner: _Runner,
    shows_progress: bool,
    report: Callable[[dict[str, Any]], None] | None,
) -> None:
    """Runs tasks, with a line of progress."""
    num_tasks = step.num_tasks(job)
    tasks = [task for task in range(num_tasks) if not step.path(job, task).exists()]
    num_rows = 0
    if step.name != "reading":
        num_rows = job.num_rows
        if not num_rows:
            raise DataError(job.inputs[0], "no rows found in it and the other inputs")
    with ProgressLine(num_tasks, num_tasks - len(tasks), is_wanted=shows_progress) as progress:
        start = time.perf_counter()
        progress.update(step.name, (), advance=0)
        for done, _ in enumerate(runner(job, number, tasks), start=1):
            seconds = max(time.perf_counter() - start, 1e-3)
            rate = num_rows * done / num_tasks / seconds
            facts = [f"{rate:,.0f} rows/s"] if num_rows else []
            progress.update(step.name, facts, advance=1)
            if report is not None:
                num_left = len(tasks) - done
                report(
                    {
                        "step": step.name,
                        "num_done": num_tasks - num_left,
                        "num_tasks": num_tasks,
                        "rows_per_second": round(rate) if num_rows else None,
                        "seconds_left": round(seconds / done * num_left, 1),
                    }
                )


def run_task(job: Job, number: int, task: int) -> None:
    """Runs a task of a step; a task that is repeated writes the same file."""
    steps_of(job)[number].run(job, task)


def _runner(job: Job, ray: str | None, stack: ExitStack) -> _Runner:
    """Chooses the function that runs the tasks of a step."""
    if ray is not None:
        return _ray_runner(ray)
    size = sum(os.stat(path).st_size for path in job.inputs)
    num_processes = num_threads()
    if size < _FEW_BYTES or num_processes == 1:
        return _run_here
    pool = ProcessPoolExecutor(num_processes, multiprocessing.get_context("spawn"), _start_process)
    stack.callback(pool.shutdown, cancel_futures=True)

    def run(job: Job, number: int, tasks: Sequence[int]) -> Iterator[object]:
        if len(tasks) == 1:
            # The only process that needs much memory.
            yield from _run_here(job, number, tasks)
            return
        futures: list[Future[None]] = [pool.submit(run_task, job, number, task) for task in tasks]
        left = set(futures)
        while left:
            finished, left = wait(left, return_when=FIRST_COMPLETED)
            for future in finished:
                yield future.result()

    return run


def _start_process() -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Ends this process if its parent is killed: it would wait for tasks forever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run_here(job: Job, number: int, tasks: Sequence[int]) -> Iterator[object]:
    for task in tasks:
        run_task(job, number, task)
        yield task


def _check_answers(address: str) -> None:
    """Checks that Ray may answer at an address: Ray itself would try for up to two minutes.

    Raises:
        ConnectionError: Nothing does, or something else.
        ValueError: A Ray Client address has no port.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if address.startswith("ray://") and not host:
        raise ValueError(f"its port is missing, as in {address}:10001")
    if port.isdecimal():
        try:
            with socket.create_connection((host.strip("[]"), int(port)), _ANSWER_S) as connection:
                connection.sendall(_HTTP2)
                answer = connection.recv(9)
        except (OSError, OverflowError) as error:
            raise ConnectionError(str(error)) from error
        if answer[_KIND] != _SETTINGS and os.environ.get("RAY_USE_TLS", "0") == "0":
            raise ConnectionError("something else answers there")


def _ray_runner(address: str) -> _Runner:
    """Connects to Ray, which repeats the tasks of a node that fails."""
    ray = extra_module("ray", "ray")
    if not ray.is_initialized():
        given = {} if address == "local" else {"address": address}
        try:
            _check_answers(address)
            ray.init(**given, log_to_driver=False, logging_level="ERROR")
        except (ConnectionError, ValueError) as error:
            raise RunError(
                f"There is no Ray cluster at {address} ({error}). Start one with `ray start "
                "--head` and add --resume, or use --ray local."
            ) from error
    remote = ray.remote(num_cpus=1, max_retries=5)(run_task)

    def run(job: Job, number: int, tasks: Sequence[int]) -> Iterator[object]:
        ahead = _AHEAD * int(ray.cluster_resources().get("CPU", 1))
        rest = iter(tasks)
        pending = [remote.remote(job, number, task) for task in islice(rest, ahead)]
        while pending:
            [finished], pending = ray.wait(pending)
            try:
                yield ray.get(finished)
            except ray.exceptions.RayTaskError as error:
                if isinstance(error.cause, CharagramError):
                    raise error.cause from None
                # Ray appends advice on how to retry.
                raise RunError(str(error.cause).partition("\n")[0]) from error
            pending += [remote.remote(job, number, task) for task in islice(rest, 1)]

    return run

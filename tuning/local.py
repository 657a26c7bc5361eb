"""Workers on this machine, started again where they die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable

from tf_charagram.errors import RunError
from tf_charagram.text.batches import num_threads
from tf_charagram.tuning.chief import ID, IP, PORT, serving
from tf_charagram.tuning.oracles import SafeOracle
from tf_charagram.tuning.results import FAILED, Result, read_result
from tf_charagram.tuning.search import Search, SearchFolder

_HOST = "127.0.0.1"
_TICK_S = 0.5
_MOST_DEATHS = 3
_PATIENCE_S = 60.0


class LocalWorker:
    """One process that runs trials.

    Args:
        tuner_id: Its name.
        folder: Where the search lives.
        port: Where the chief serves.
        num_threads: Threads it may compute with.
    """

    def __init__(self, tuner_id: str, folder: SearchFolder, port: int, num_threads: int) -> None:
        self.tuner_id = tuner_id
        self.log = folder.path / "workers" / f"{tuner_id}.log"
        self._command = [sys.executable, "-m", "tf_charagram.tuning.worker", str(folder.path)]
        self._environment = {
            **os.environ,
            ID: tuner_id, IP: _HOST, PORT: str(port),
            "TF_NUM_INTRAOP_THREADS": str(num_threads),
            # Idle threads look for work, and take the core of another worker to do so.
            "TF_NUM_INTEROP_THREADS": str(num_threads),
            # Else the first worker takes all memory of a GPU.
            "TF_FORCE_GPU_ALLOW_GROWTH": "true",
        }  # fmt: skip
        self.start()

    def start(self) -> None:
        """Starts the process; it ends when this one does."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with open(self.log, "ab") as log:
            # Its own session: Ctrl-C is for this process, which hands it on once.
            self.process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=log, stderr=log,
                env=self._environment, start_new_session=True,
            )  # fmt: skip

    def restart(self) -> None:
        """Starts the process again, after it was killed."""
        self.wait()
        self.start()

    @property
    def is_done(self) -> bool:
        """Whether the process has ended because there are no more trials."""
        return self.process.poll() == 0

    @property
    def was_killed(self) -> bool:
        """Whether a signal has ended the process."""
        status = self.process.poll()
        return status is not None and status < 0

    def check(self) -> None:
        """Checks that the process has not ended with an error.

        Raises:
            RunError: It has; the message is the last line of its log.
        """
        if (self.process.poll() or 0) > 0:
            lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            raise RunError(
                f"{self.tuner_id} ended: {lines[-1] if lines else 'it did not say why'} "
                f"(see {self.log})"
            )

    def interrupt(self) -> None:
        """Asks the process to end, after a checkpoint."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)

    def wait(self) -> None:
        """Waits for the process to end, and ends it if that takes long."""
        if self.process.poll() is None:
            try:
                self.process.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()


def run_local(
    search: Search,
    folder: SearchFolder,
    oracle: SafeOracle,
    num_workers: int,
    on_progress: Callable[[], None],
) -> None:
    """Runs a search with some workers, which divide the cores among them.

    A worker that is killed is started again and goes on with its trial; a trial whose worker
    died three times has failed.

    Args:
        search: The search.
        folder: Where it lives.
        oracle: Its oracle.
        num_workers: How many.
        on_progress: Called now and then.

    Raises:
        RunError: A worker ended with an error, or dies before it has a trial.
        KeyboardInterrupt: After the workers wrote checkpoints.
    """
    threads_each = max(1, num_threads() // num_workers)
    deaths: Counter[str] = Counter()
    with serving(oracle, f"{_HOST}:0") as (port, _):
        workers: list[LocalWorker] = []
        try:
            for number in range(num_workers):
                workers.append(LocalWorker(f"worker-{number}", folder, port, threads_each))
            while not all(worker.is_done for worker in workers):
                on_progress()
                time.sleep(_TICK_S)
                for worker in workers:
                    if worker.was_killed:
                        _count_death(search, folder, oracle, worker, deaths)
                        worker.restart()
                    worker.check()
        finally:
            for worker in workers:
                worker.interrupt()
            for worker in workers:
                worker.wait()
    on_progress()


def _count_death(
    search: Search,
    folder: SearchFolder,
    oracle: SafeOracle,
    worker: LocalWorker,
    deaths: Counter[str],
) -> None:
    """Counts the death of a worker against its trial, which fails at the third."""
    trial = oracle.ongoing_trials.get(worker.tuner_id)
    name = worker.tuner_id if trial is None else trial.trial_id
    deaths[name] += 1
    if deaths[name] < _MOST_DEATHS:
        return
    reason = f"its process died {_MOST_DEATHS} times, by signal {-worker.process.returncode}"
    if trial is None:
        raise RunError(f"{name}: {reason}. See {worker.log}.")
    if read_result(folder.trials / trial.trial_id) is not None:
        return  # It had an end before its worker died.
    values = search.values(trial.hyperparameters.values)
    Result(trial.trial_id, FAILED, values, reason=reason).write(folder.trials / trial.trial_id)

"""Two workers with one thread each against one worker with one thread.

    python benchmarks/workers.py [--data FILE ...] [--batch-size 500] [--encoder charagram]

Trains on the same pairs as `charagram train` does, one after the other, in turn, and prints the
time of a step and the ratio.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time

import common

from tf_charagram.training.workers import cluster_of, connect, local_clusters, start_worker

_WARM_UP = 20


def work(arguments: argparse.Namespace) -> None:
    """Trains as one of the workers, and prints the measurements of the chief."""
    import fitting
    import tensorflow as tf

    from tf_charagram.tasks import make_task, settings_class
    from tf_charagram.training.processor import set_threads
    from tf_charagram.training.run import TrainingRun

    with tempfile.TemporaryDirectory() as folder:
        config = settings_class("sentences").from_dict({
            "task": "sentences", "encoder": arguments.encoder, "data": tuple(arguments.data),
            "eval_data": arguments.eval_data, "batch_size": arguments.batch_size,
            "out": f"{folder}/run",
        })  # fmt: skip
        set_threads(config, 2)
        run = TrainingRun(
            make_task(config), resume=False, overwrite=False, exchange=connect(cluster_of())
        )
        run.stream.open()
        model = run.loop.model
        fitting.train(model, run.stream, _WARM_UP)
        times, busy = [], []
        for _ in range(arguments.rounds):
            start, used = time.perf_counter(), time.process_time()
            fitting.train(model, run.stream, arguments.steps)
            times.append((time.perf_counter() - start) / arguments.steps)
            busy.append((time.process_time() - used) / arguments.steps)
        run.exchange.wait()
        if run.exchange.is_chief:
            seconds = statistics.median(times)
            print(json.dumps({
                "ms": 1000 * seconds, "busy_ms": 1000 * statistics.median(busy),
                "pairs": arguments.batch_size / seconds,
                "version": tf.__version__,
            }))  # fmt: skip


def measured(size: int) -> dict[str, float]:
    """Returns the measurements of the chief."""
    command = [sys.executable, __file__, *sys.argv[1:], "--worker"]
    processes = [
        start_worker(command, cluster, text=True, stdout=subprocess.PIPE)
        for cluster in local_clusters(size)
    ]
    outputs = [process.communicate()[0] for process in processes]
    return json.loads(outputs[0].splitlines()[-1])


def main() -> None:
    """Prints the table."""
    parser = common.make_parser(__doc__, rounds=5)
    found = sorted(map(str, common.SHARED.glob("sentences/*.tsv")))
    parser.add_argument("--data", nargs="+", default=found)
    parser.add_argument("--eval-data", default=None)
    parser.add_argument("--encoder", default="charagram")
    parser.add_argument("--batch-size", type=int, default=500)
    parser.add_argument("--steps", type=int, default=20, help="steps of a timed round")
    parser.add_argument("--turns", type=int, default=3, help="how often the two take turns")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work(arguments)
        return
    turns = []
    for _ in range(arguments.turns):
        one, two = measured(1), measured(2)
        turns.append((one, two))
        print(
            f"1 worker {one['ms']:.1f} ms a step, 2 workers {two['ms']:.1f}: "
            f"{two['pairs'] / one['pairs']:.2f}",
            flush=True,
        )
    one, two = (
        common.Sample([turn["pairs"] for turn in side], "pairs/s")
        for side in zip(*turns, strict=True)
    )
    common.finish("workers", {
        "encoder": arguments.encoder, "batch_size": arguments.batch_size,
        "one": one, "two": two, "two/one": two.over(one),
    }, arguments)  # fmt: skip


if __name__ == "__main__":
    main()

"""What a tuner costs a trial, and what two workers gain.

    python benchmarks/tuning.py [PAIRS] [--eval-data PLACE] [--trials 4] [--rounds 5]

Overhead: a search against the same training runs made one by one, in turn in one process; both read
their pairs once, neither exports. Workers: `charagram tune` with one and with two, timed from start
to end. Without a file of pairs they are made up, and the starter set is scored on.
"""

from __future__ import annotations

import argparse
import gc
import shutil
import statistics
import subprocess
import sys
import tempfile
from contextlib import redirect_stderr
from itertools import count
from pathlib import Path

import common

from tf_charagram.bad_lines import BadLines
from tf_charagram.config import ParaphraseConfig
from tf_charagram.evaluation.scores import score_names
from tf_charagram.evaluation.sets import evaluation_sets
from tf_charagram.training.run import TrainingRun
from tf_charagram.training.tasks import task_class
from tf_charagram.tuning.running import run_search
from tf_charagram.tuning.search import Search, SearchFolder
from tf_charagram.tuning.spaces import paper_space


def measure_overhead(search: Search, folder: Path, rounds: int) -> dict[str, float]:
    """Returns the seconds of a trial, of the run outside, and the median of the ratios."""
    numbers = count()
    num_trials = search.num_trials or 0

    def alone() -> None:
        task = task_class(search.config.task)(search.config, BadLines("error"))
        task.read()
        for index in range(num_trials):
            out = folder / f"run-{next(numbers)}"
            config = search.trial_config(search.combination(index), out)
            with open(folder / "log.txt", "a", encoding="utf-8") as log, redirect_stderr(log):
                run = TrainingRun(config, resume=False, overwrite=False, previous=task)
                run.run(resume=False, export=False)
            del run
            gc.collect()
            shutil.rmtree(out)

    def tuned() -> None:
        place = SearchFolder(folder / f"search-{next(numbers)}")
        place.begin({"settings": search.settings(), "data_files": {}})
        run_search(search, place)
        shutil.rmtree(place.path)

    alone()
    times = []
    for _ in range(rounds):
        times.append((common.seconds(alone), common.seconds(tuned)))
        print("alone {:.1f} s, tuned {:.1f} s".format(*times[-1]), flush=True)
    run_s, trial_s = (statistics.median(column) / num_trials for column in zip(*times, strict=True))
    return {
        "run_s": round(run_s, 3),
        "trial_s": round(trial_s, 3),
        "overhead": round(statistics.median(b / a for a, b in times) - 1, 4),
    }


def measure_workers(arguments: list[str], folder: Path) -> dict[str, float]:
    """Returns the seconds of the same search with one and with two workers, and the ratio."""
    seconds = {}
    for number in (1, 2):
        command = [
            *(sys.executable, "-m", "tf_charagram.tuning", *arguments),
            *("--workers", str(number), "--out", str(folder / f"workers-{number}")),
        ]
        run = lambda command=command: subprocess.run(  # noqa: E731
            command, check=True, stdout=subprocess.DEVNULL
        )
        seconds[f"workers_{number}_s"] = round(common.seconds(run), 1)
        print(seconds, flush=True)
    seconds["speedup"] = round(seconds["workers_1_s"] / seconds["workers_2_s"], 3)
    return seconds


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", nargs="?")
    parser.add_argument("--eval-data")
    parser.add_argument("--num-pairs", type=int, default=190_000, help="of made-up ones")
    parser.add_argument("--trials", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5, help="of overhead; 0 leaves it out")
    parser.add_argument("--workers", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--dim", type=int, default=300)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        data = arguments.pairs
        if data is None:
            data = str(folder / "pairs.tsv")
            pairs = common.word_pairs(None, arguments.num_pairs)
            Path(data).write_text("".join(f"{a}\t{b}\n" for a, b in pairs), encoding="utf-8")
        select = score_names(evaluation_sets(arguments.eval_data, kinds=("wordsim",)))[0]
        config = ParaphraseConfig(
            data=(data,), eval_data=arguments.eval_data, select=select, dim=arguments.dim, epochs=1
        )
        space = paper_space("words", "charagram")
        search = Search(config, space, max_trials=arguments.trials)
        result = {}
        if arguments.rounds:
            result["overhead"] = measure_overhead(search, folder, arguments.rounds)
            print(result["overhead"], flush=True)
        flags = ["--data", data, "--select", select, "--max-trials", str(arguments.trials)]
        flags += ["--dim", str(arguments.dim)]
        if arguments.eval_data is not None:
            flags += ["--eval-data", arguments.eval_data]
        if arguments.workers:
            result["workers"] = measure_workers(flags, folder)
    common.finish("tuning", result)


if __name__ == "__main__":
    main()

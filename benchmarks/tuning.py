"""What a tuner costs a trial.

    python benchmarks/tuning.py [PAIRS] [--eval-data PLACE] [--trials 4] [--rounds 5]

A search against the same training runs made one by one, in turn in one process, without exports.
Without a file of pairs they are made up, and the starter set is scored on.
"""

from __future__ import annotations

import gc
import shutil
import tempfile
from contextlib import redirect_stderr
from itertools import count, islice, product
from pathlib import Path

import common

from tf_charagram.data.sets import evaluation_sets
from tf_charagram.evaluation._scores.scores import score_names
from tf_charagram.tasks import make_task
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.training.run import TrainingRun
from tf_charagram.tuning._search.search import Search, SearchFolder, TuneConfig
from tf_charagram.tuning._search.spaces import search_space
from tf_charagram.tuning.command import run_search


def measure_overhead(search: Search, folder: Path, rounds: int) -> dict:
    """Returns the seconds of a run outside, of a trial, and their ratios: more is slower."""
    numbers = count()
    num_trials = search.num_trials or 0

    def alone() -> None:
        for combination in islice(product(*search.space.values()), num_trials):
            out = folder / f"run-{next(numbers)}"
            values = dict(zip(search.space, combination, strict=True))
            config = search.config.replace(**values, output=str(out))
            with open(folder / "log.txt", "a", encoding="utf-8") as log, redirect_stderr(log):
                run = TrainingRun(make_task(config), resume=False, overwrite=False)
                run.run(resume=False, export=False)
            del run
            gc.collect()
            shutil.rmtree(out)

    def tuned() -> None:
        place = SearchFolder(folder / f"search-{next(numbers)}")
        place.begin(search.identity())
        run_search(search, place)
        shutil.rmtree(place.path)

    alone()
    times = common.in_turns(rounds, {"run": alone, "trial": tuned})
    run, trial = (
        common.Sample([time / num_trials for time in column], "s") for column in times.values()
    )
    ratios = [b / a for a, b in zip(run.values, trial.values, strict=True)]
    return {"run": run, "trial": trial, "trial/run": common.Sample(ratios, "times")}


def main() -> None:
    """Runs the benchmark."""
    parser = common.make_parser(__doc__, rounds=5)
    parser.add_argument("pairs", nargs="?")
    parser.add_argument("--eval-data")
    parser.add_argument("--num-pairs", type=int, default=190_000, help="of made-up ones")
    parser.add_argument("--trials", type=int, default=4)
    parser.add_argument("--dim", type=int, default=300)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        data = arguments.pairs
        if data is None:
            data = str(folder / "pairs.tsv")
            pairs = common.word_pairs(None, arguments.num_pairs)
            text = "".join(f"{a}\t{b}\n" for a, b in pairs)
            Path(data).write_text(text, encoding="utf-8")
        select = score_names(evaluation_sets(arguments.eval_data, kinds=("wordsim",)))[0]
        config = ParaphraseConfig(
            data=(data,),
            header=False,
            eval_data=arguments.eval_data,
            select=select,
            dim=arguments.dim,
            epochs=1,
        )
        space = search_space("paper", config)
        search = Search(config, space, TuneConfig(max_trials=arguments.trials))
        result = {"overhead": measure_overhead(search, folder, arguments.rounds)}
    common.finish("tuning", result, arguments)


if __name__ == "__main__":
    main()

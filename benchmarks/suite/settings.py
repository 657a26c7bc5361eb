"""What `all.py` runs, and with which settings.

Settings keep a benchmark under about two minutes on two cores; its own defaults are for numbers to
quote. Words in capitals stand for what differs between machines: see `places`.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

_PEER = "--peer-python PYTHON"
_MODELS = f"{_PEER} --minilm MINILM --model2vec MODEL2VEC"


@dataclass(frozen=True)
class Benchmark:
    """A script and its settings.

    Attributes:
        title: Heading of its part of the page.
        flags: Given always.
        quick: Given after them for a smoke run.
        num_rounds: The rounds it takes whatever `--rounds` says; 0 to take those.
        needs: Places that have to be there.
    """

    title: str
    flags: str = ""
    quick: str = ""
    num_rounds: int = 0
    needs: tuple[str, ...] = ()


BENCHMARKS = {
    "embed": Benchmark(
        "Embedding, against other packages", _MODELS,
        "--data PAIRS --contenders english,hashing --kinds words --seconds 0.05",
    ),
    "train_step": Benchmark(
        "Training on words, against PyTorch", _PEER,
        "--data PAIRS --batch-sizes 25 --pairs 500 --keras-steps 1",
    ),
    "ids": Benchmark("Strings to ids", "", "--data PAIRS --number 5000"),
    "startup": Benchmark("Start-up", _MODELS, "--peer-python HERE --processes keras,load"),
    "supervised": Benchmark("Frozen features", "", "--encoders charagram"),
    "encoders": Benchmark(
        "Training on sentences, against PyTorch",
        f"{_PEER} --steps 100 --cse-steps 15 --lstm-steps 3",
        "--encoders word_average --steps 5",
    ),
    "functional_fit": Benchmark(
        "A functional Keras model", "", "--data PAIRS --steps 10",
    ),
    "bulk": Benchmark(
        "Many lines", "--lines 200000 --memory-lines 100000,1000000 --kills 3",
        "--data PAIRS --parts cores,memory --lines 1000 --memory-lines 500,1000",
    ),
    "workers": Benchmark(
        "Two workers", "--data DATA/sentences/wikisplit-tune-val-test.tsv --turns ROUNDS --steps 5",
        "--data SENTENCES --batch-size 20", num_rounds=2,
    ),
    "counting": Benchmark(
        "Counting n-grams", "--chars 100000000 --pieces 1", "--data NOTHING --chars 100000",
        num_rounds=1,
    ),
    "memory": Benchmark(
        "Memory of training", "--pairs 100000,1000000", "--pairs 2000,4000", num_rounds=1
    ),
    "scale": Benchmark("What a step costs", "", "--small", num_rounds=1),
    "scaling": Benchmark(
        "Larger vocabularies", "--sizes 20000,200000 --batch-sizes 25,100 --texts 100000",
        "--sizes 20000 --batch-sizes 1000 --texts 1000",
    ),
    "search": Benchmark("Search", "--queries 50", "--data PAIRS --queries 4"),
    "tagging": Benchmark("Tagging", "--steps 5", "--data NOTHING --steps 1"),
    "tuning": Benchmark(
        "Tuning", "--num-pairs 20000 --trials 2 --dim 100",
        "PAIRS --trials 1 --dim 8 --no-workers",
    ),
    "demo": Benchmark("The page that tries a model", "--words 20", "--data PAIRS --words 2"),
    "encoder_table": Benchmark(
        "Encoders side by side",
        "--encoders charagram,word_average,cse --minutes 0.1 --out TEMPORARY/runs",
        "--encoders word_average --minutes 0.01",
    ),
    "peers": Benchmark(
        "Quality, against model2vec",
        "--sets DATA/sts english=charagram:english model2vec=model2vec:MODEL2VEC@PYTHON",
        num_rounds=1, needs=("DATA/sts", "MODEL2VEC"),
    ),
    "features": Benchmark(
        "Vectors as features",
        "--train DATA/sst/sst.binary.train.tsv --test DATA/sst/sst.binary.test.tsv "
        "english=charagram:english",
        needs=("DATA/sst",),
    ),
    "sizes": Benchmark(
        "Smaller models", "--budgets 20 10 --eval-data DATA/sts", num_rounds=3, needs=("DATA/sts",)
    ),
    "spelling": Benchmark("Spelling", "", "--made-up 400", num_rounds=1),
}  # fmt: skip
#: Those that measure quality on evaluation data, and have nothing quick.
_SLOW = {"peers", "features", "sizes"}


def names(arguments: argparse.Namespace) -> list[str]:
    """Returns what is to be run."""
    if arguments.only:
        return arguments.only.split(",")
    return [name for name in BENCHMARKS if not (arguments.quick and name in _SLOW)]


def places(arguments: argparse.Namespace, shared: Path, temporary: Path) -> dict[str, str]:
    """Returns what the words in capitals stand for."""
    return {
        "PYTHON": arguments.peer_python, "MINILM": arguments.minilm,
        "MODEL2VEC": arguments.model2vec, "DATA": str(shared), "TEMPORARY": str(temporary),
        "PAIRS": str(temporary / "pairs.tsv"), "SENTENCES": str(temporary / "sentences.tsv"),
        "HERE": sys.executable, "NOTHING": "",
    }  # fmt: skip


def command(name: str, rounds: int, is_quick: bool) -> list[str]:
    """Returns the arguments of a script, with the words in capitals."""
    benchmark = BENCHMARKS[name]
    flags = f"--rounds {benchmark.num_rounds or rounds} {benchmark.flags}"
    if is_quick:
        flags += f" {benchmark.quick}"
    return flags.replace("ROUNDS", str(rounds)).split()

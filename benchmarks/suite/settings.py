"""What `all.py` runs, and with which settings.

Settings keep a benchmark under about two minutes on two cores; its own defaults are for numbers to
quote. Words in capitals stand for what differs between machines: see `places`.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

_ROUNDS = "--rounds ROUNDS"
_PEER = f"{_ROUNDS} --peer-python PYTHON"
_MODELS = f"{_PEER} --minilm MINILM --model2vec MODEL2VEC"


@dataclass(frozen=True)
class Benchmark:
    """A script and its settings.

    Attributes:
        title: Heading of its part of the page.
        flags: Given always.
        quick: Flags added for a smoke run; without any, it leaves the benchmark out.
        needs: Places that have to be there, if they are not replaced by `quick`.
    """

    title: str
    flags: str = _ROUNDS
    quick: str = ""
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
    "ids": Benchmark("Strings to ids", quick="--data PAIRS --number 5000"),
    "startup": Benchmark("Start-up", _MODELS, "--processes keras,load"),
    "supervised": Benchmark("Frozen features", quick="--encoders charagram"),
    "encoders": Benchmark(
        "Training of every encoder, against PyTorch", f"{_PEER} --pairs 1000",
        "--cases word_average --pairs 500",
    ),
    "functional_fit": Benchmark("A functional Keras model", quick="--data PAIRS --steps 10"),
    "lazy_adam": Benchmark(
        "Keras embeddings, against Keras' Adam", f"{_ROUNDS} --steps 10",
        "--rows 1000 --steps 2",
    ),
    "bulk": Benchmark(
        "Many lines", f"{_ROUNDS} --lines 200000 --memory-lines 100000,1000000 --kills 3",
        "--data PAIRS --parts cores,memory --lines 1000 --memory-lines 500,1000",
    ),
    "counting": Benchmark(
        "Counting n-grams", "--chars 100000000 --pieces 1", "--data NOTHING --chars 100000"
    ),
    "memory": Benchmark(
        "Memory of training", "--pairs 100000,1000000", "--pairs 2000,4000"
    ),
    "scale": Benchmark("What a step costs", "--rounds 1", "--small"),
    "scaling": Benchmark(
        "Larger vocabularies",
        f"{_ROUNDS} --sizes 20000,200000 --batch-sizes 25,100 --texts 100000",
        "--sizes 20000 --batch-sizes 1000 --texts 1000",
    ),
    "tagging": Benchmark("Tagging", f"{_ROUNDS} --steps 5", "--data NOTHING --steps 1"),
    "tuning": Benchmark(
        "Tuning", f"{_ROUNDS} --num-pairs 20000 --trials 2 --dim 100",
        "PAIRS --trials 1 --dim 8",
    ),
    "encoder_table": Benchmark(
        "Encoders side by side",
        f"{_ROUNDS} --encoders charagram,word_average,cse --minutes 0.1 --data starter "
        "--out TEMPORARY/runs",
        "--encoders word_average --minutes 0.01",
    ),
    "peers": Benchmark(
        "Quality on STS and SICK, against model2vec",
        "--rounds 1 --sets DATA english=charagram:english "
        "model2vec=model2vec:MODEL2VEC@PYTHON",
        needs=("DATA/sts", "DATA/wordsim", "MODEL2VEC"),
    ),
    "features": Benchmark(
        "Vectors as features",
        f"{_ROUNDS} --train DATA/sst/sst.binary.train.tsv --test DATA/sst/sst.binary.test.tsv "
        "english=charagram:english",
        needs=("DATA/sst",),
    ),
    "jobs": Benchmark(
        "Search, matching, intents and topics",
        "--sets DATA/jobs --peers search,english,tfidf-chars", needs=("DATA/jobs",),
    ),
    "records": Benchmark(
        "Tables with columns", "--sets DATA/jobs/records --peer-python PYTHON",
        needs=("DATA/jobs/records",),
    ),
    "sizes": Benchmark(
        "Smaller models", f"{_ROUNDS} --budgets 20 15 --eval-data DATA/sts", needs=("DATA/sts",)
    ),
    "spelling": Benchmark("Spelling", "", "--made-up 400"),
}  # fmt: skip


def names(arguments: argparse.Namespace) -> list[str]:
    """Returns the benchmarks to run."""
    if arguments.only:
        return arguments.only.split(",")
    return [name for name, each in BENCHMARKS.items() if each.quick or not arguments.quick]


def places(arguments: argparse.Namespace, shared: Path, temporary: Path) -> dict[str, str]:
    """Returns the values of placeholders."""
    return {
        "PYTHON": arguments.peer_python, "MINILM": arguments.minilm,
        "MODEL2VEC": arguments.model2vec, "DATA": str(shared), "TEMPORARY": str(temporary),
        "PAIRS": str(temporary / "pairs.tsv"), "SENTENCES": str(temporary / "sentences.tsv"),
        "NOTHING": "",
    }  # fmt: skip


def needs(name: str, is_quick: bool) -> tuple[str, ...]:
    """Returns the places that have to be there, with the words in capitals."""
    benchmark = BENCHMARKS[name]
    return () if is_quick and benchmark.quick else benchmark.needs


def command(name: str, rounds: int, is_quick: bool) -> list[str]:
    """Returns the arguments of a script, with the words in capitals."""
    benchmark = BENCHMARKS[name]
    flags = f"{benchmark.flags} {benchmark.quick}" if is_quick else benchmark.flags
    return flags.replace("ROUNDS", str(rounds)).split()

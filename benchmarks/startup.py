"""Seconds and memory from the start of a process to its end, and the part of TensorFlow's import.

    python benchmarks/startup.py [--model english] [--drop-caches] [--peer-python PYTHON]

Each is a fresh Python; they take turns. `ours` is what comes on top of a process that imports
TensorFlow and Keras and nothing else (`keras`), of the same round; `cpu` is processor time. `load`
loads the model, `encode` embeds a text, too; `reader` does both without TensorFlow, as the commands
do: `embed` is `charagram embed` of a text, `search` is `charagram search` among 1,000 names.
rapidfuzz and scikit-learn (tf-idf of character n-grams) compare a text with three others. Files are
in memory unless `--drop-caches`, for which one must be root, empties the caches of Linux before
each process.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import common
import processes
from embed import MINILM, PEERS

_PACKAGES = str(Path(__file__).with_name("packages.py"))
TEXT = "how do i resett my pasword"
#: What is compared with `BASE`.
OURS = ("load", "encode")
BASE = "keras"
_OTHERS = ["how do i reset my password", "where is my order", "close my account"]
#: Packages that compare texts without a model -> program.
SIMPLE_PEERS = {
    "rapidfuzz": f"from rapidfuzz import process; process.extract({TEXT!r}, {_OTHERS!r})",
    "sklearn": (
        "from sklearn.feature_extraction.text import TfidfVectorizer; "
        "vectorizer = TfidfVectorizer(analyzer='char_wb', ngram_range=(2, 5)); "
        f"vectorizer.fit_transform({_OTHERS!r}) @ vectorizer.transform([{TEXT!r}]).T"
    ),
}


class Time(NamedTuple):
    """Seconds of a process, by the clock and of processors, and its maximum memory in MB."""

    seconds: float
    cpu: float
    memory: float


def run(command: Sequence[str]) -> Time:
    """Runs a command to its end, which must be a good one."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    spent = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"Exit status {process.returncode}: {' '.join(command)}")
    # Linux counts kibibytes, and takes the memory of this process for that of a smaller child.
    return Time(spent, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6)


def drop_caches() -> None:
    """Has Linux forget the files it holds in memory."""
    os.sync()
    Path("/proc/sys/vm/drop_caches").write_text("3")


def commands(model: str, line: Path, names: Path) -> dict[str, list[str]]:
    """Returns name -> command, for a file with a line and one with 1,000 names."""
    load = f"from tf_charagram import TextEmbedder; TextEmbedder.load({model!r})"
    programs = {
        "python": "pass",
        "tensorflow": "import tensorflow",
        BASE: "import tensorflow, keras",
        "tf_charagram": "import tf_charagram",
        "load": load,
        "encode": f"{load}.encode([{TEXT!r}])",
        "reader": (
            f"from tf_charagram import TextReader; TextReader.load({model!r}).encode([{TEXT!r}])"
        ),
        **{name: program for name, program in SIMPLE_PEERS.items() if find_spec(name)},
    }
    charagram = [sys.executable, "-m", "tf_charagram.cli"]
    return {
        **{name: [sys.executable, "-c", program] for name, program in programs.items()},
        "embed": [*charagram, "embed", model, "--input", str(line)],
        "search": [*charagram, "search", str(names), TEXT, "--model", model],
    }


def product_names(number: int) -> list[str]:
    """Returns names of products, a maker and two to four made-up words each."""
    draw = random.Random(0)
    parts = ["sony", "bosch", "lego", "pro", "cable", "drill", "phone", "head", "ton", "mix", "lux"]
    names = []
    for _ in range(number):
        words = ["".join(draw.choices(parts, k=2)) for _ in range(draw.randint(2, 4))]
        names.append(f"{draw.choice(parts)} {' '.join(words)} {draw.randint(1, 999)}")
    return names


def peer_commands(
    arguments: argparse.Namespace, found: dict[str, str], left_out: dict[str, str]
) -> dict[str, list[str]]:
    """Returns the peers that load a model and embed a text; adds the others to `left_out`."""
    start = [arguments.peer_python, _PACKAGES, "once"]
    models = {
        "model2vec": ["model2vec", arguments.model2vec],
        "MiniLM": ["sentence-transformers", arguments.minilm],
    }
    chosen = {}
    for name, spec in models.items():
        command = [*start, *spec, "sentences", TEXT]
        if PEERS[name] in found:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                chosen[name] = command
            else:
                left_out[name] = done.stderr.strip().splitlines()[-1]
                print(f"{name}: left out: {left_out[name]}", flush=True)
    return chosen


def main() -> None:
    """Runs the benchmark."""
    parser = common.make_parser(__doc__, peers=True)
    parser.add_argument("--model", default="english")
    parser.add_argument("--minilm", default=MINILM, help="name or folder")
    parser.add_argument("--model2vec", default="runs/peers/model2vec", help="folder")
    parser.add_argument("--drop-caches", action="store_true")
    parser.add_argument("--processes", help="names, separated by commas; all by default")
    arguments = parser.parse_args()
    chosen_peers = {name: PEERS[name] for name in ("model2vec", "MiniLM")}
    found, facts = processes.peer_facts(arguments.peer_python, chosen_peers)
    with tempfile.TemporaryDirectory() as folder:
        line = Path(folder, "line.txt")
        line.write_text(f"{TEXT}\n", encoding="utf-8")
        names = Path(folder, "names.txt")
        names.write_text("\n".join(product_names(1000)), encoding="utf-8")
        chosen = commands(arguments.model, line, names)
        if arguments.processes:
            chosen = {name: chosen[name] for name in arguments.processes.split(",")}
        else:
            chosen |= peer_commands(arguments, found, facts["left_out"])

        def measure(start: Callable[[], Time]) -> Time:
            if arguments.drop_caches:
                drop_caches()
            return start()

        runs = {name: lambda command=command: run(command) for name, command in chosen.items()}
        common.in_turns(1, runs)
        times = common.in_turns(arguments.rounds, runs, measure)
    samples = {
        name: Time(
            common.Sample([time.seconds for time in rounds], "s"),
            common.Sample([time.cpu for time in rounds], "s"),
            common.Sample([time.memory for time in rounds], "MB"),
        )
        for name, rounds in times.items()
    }
    base = samples[BASE]
    ours = {
        name: {"seconds": samples[name].seconds.minus(base.seconds),
               "cpu": samples[name].cpu.minus(base.cpu)}
        for name in OURS
        if name in samples
    }  # fmt: skip
    result = {
        **facts, "is_cold": arguments.drop_caches, "ours": ours,
        "processes": {name: sample._asdict() for name, sample in samples.items()},
    }  # fmt: skip
    for name, sample in samples.items():
        print(f"{name}: {sample.seconds}, {sample.cpu} of processors, {sample.memory}", flush=True)
    print(f"ours: {ours}")
    common.finish("startup", result, arguments)


if __name__ == "__main__":
    main()

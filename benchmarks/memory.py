"""Peak memory of training on ten times as many pairs, in a process of its own each.

    python benchmarks/memory.py [--pairs 1000000,10000000]

Made-up phrases of one to three words are written to a temporary file, which `charagram train` reads
with hashed n-grams. All ids are computed and stored; then a few hundred steps follow.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import common

NUM_WORDS, BATCH, STEPS, ROWS = 50_000, 100, 300, 200_000


def write_pairs(path: Path, num_pairs: int) -> None:
    """Writes made-up phrase pairs, the same ones every time."""
    rng = random.Random(0)
    words = ["".join(rng.choices(common.LETTERS, k=rng.randint(3, 8))) for _ in range(NUM_WORDS)]

    def phrases() -> Iterator[str]:
        while True:
            drawn = iter(rng.choices(words, k=40_000))
            for length in rng.choices((1, 2, 3), k=10_000):
                yield " ".join(next(drawn) for _ in range(length))

    endless = phrases()
    with open(path, "w", encoding="utf-8") as file:
        file.write("text1\ttext2\n")
        for _ in range(num_pairs):
            file.write(f"{next(endless)}\t{next(endless)}\n")


def train(num_pairs: int, folder: Path) -> dict:
    """Trains on `num_pairs` pairs; returns what `metrics.json` says of time and memory."""
    pairs = folder / "pairs.tsv"
    write_pairs(pairs, num_pairs)
    run = folder / "run"
    start = time.perf_counter()
    command = [
        *(sys.executable, "-m", "tf_charagram.train", "--task", "sentences", "--data", pairs),
        *("--output", run, "--evaluations-per-epoch", 1, "--dim", 100),
        *("--hash-buckets", ROWS, "--batch-size", BATCH, "--epochs", STEPS * BATCH / num_pairs),
    ]
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    metrics = json.loads((run / "metrics.json").read_text(encoding="utf-8"))
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return {
        "peak memory": common.Sample([metrics["peak_memory_mb"]], "MB"),
        "steps": metrics["steps"],
        "time": common.Sample([time.perf_counter() - start], "s"),
    }


def main() -> None:
    """Runs the benchmark."""
    parser = common.make_parser(__doc__, rounds=None)
    parser.add_argument("--pairs", default="1000000,10000000")
    arguments = parser.parse_args()
    result: dict = {}
    with tempfile.TemporaryDirectory() as folder:
        for number in map(int, arguments.pairs.split(",")):
            name = f"{number:,} pairs"
            result[name] = train(number, Path(folder))
            print(f"{name}: {result[name]}", flush=True)
    common.finish("memory", result, arguments)


if __name__ == "__main__":
    main()

"""Bulk embedding into shards: two cores over one, over `encode`, peak memory, and kills.

    python benchmarks/bulk.py [--parts cores,shards,memory,kills]

Lines are the sentences of the STS sets, repeated where more are needed, or made-up ones. `cores`
and `memory` run in processes of their own, which are bound to some cores, embed some lines to warm
up, and are timed from the first byte read to the last shard on disk. `kills` ends the command at
random moments, then lets it finish, and compares its shards with those of a run left alone.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

import common
import numpy as np

from tf_charagram.bulk._shards.folder import ShardFolder
from tf_charagram.bulk._shards.inputs import find_inputs
from tf_charagram.bulk.job import EmbedJob
from tf_charagram.bulk.run import run_local
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.training._loop.building import make_vectorizer

WARM_UP = 20_000


def write_lines(path: Path, lines: list[str], number: int) -> Path:
    """Writes `number` lines, starting over when they end."""
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in islice(cycle(lines), number))
    return path


def embed(embedder: TextEmbedder, model: str, path: Path, out: Path) -> float:
    """Embeds a file into shards; returns the seconds, from the first byte to the manifest."""
    job = EmbedJob(model, tuple(find_inputs([str(path)])), str(out))
    folder = ShardFolder(job.output, job.identity(), resume=False, overwrite=True)

    def run() -> None:
        for record in run_local(job, {}, embedder):
            folder.add(record)
        folder.complete()

    return common.seconds(run)


def child(cores: int, model: str, warm_up: str, path: str, out: str) -> None:
    """Embeds on `cores` cores; prints time and peak memory as JSON."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    embedder = TextEmbedder.load(model, folded=True)
    embed(embedder, model, Path(warm_up), Path(out))
    seconds = embed(embedder, model, Path(path), Path(out))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "peak_memory_mb": round(peak, 1)}))


class Bulk:
    """The parts of the benchmark, in a folder that is deleted afterwards."""

    def __init__(self, folder: Path, arguments: argparse.Namespace) -> None:
        self.folder = folder
        self.out = folder / "out"
        self.arguments = arguments
        texts = common.texts_of(common.word_pairs(arguments.data))
        vectorizer = make_vectorizer(ParaphraseConfig(), texts)
        self.model = str(folder / "model")
        TextEmbedder(vectorizer, Charagram(num_rows=vectorizer.num_rows)).save(self.model)
        self.lines = common.sts_lines()
        self.warm_up = write_lines(folder / "warm_up.txt", self.lines, WARM_UP)

    def run_child(self, cores: int, path: Path) -> dict:
        """Returns time and peak memory of a process of its own."""
        command = [sys.executable, __file__, "--child", str(cores), self.model]
        command += map(str, (self.warm_up, path, self.out))
        ended = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        return json.loads(ended.stdout.splitlines()[-1])

    def cores(self) -> dict:
        """Measures two cores over one."""
        number = self.arguments.lines
        path = write_lines(self.folder / "lines.txt", self.lines, number)
        seconds: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(self.arguments.rounds):
            for cores, times in seconds.items():
                times.append(self.run_child(cores, path)["seconds"])
                print(f"{cores} cores: {number / times[-1]:,.0f} lines/s", flush=True)
        one, two = (
            common.Sample([number / time for time in times], "lines/s")
            for times in seconds.values()
        )
        return {"one": one, "two": two, "two/one": two.over(one)}

    def shards(self) -> dict:
        """Measures the STS sentences as shards, against `encode`."""
        path = write_lines(self.folder / "sts.txt", self.lines, len(self.lines))
        embedder = TextEmbedder.load(self.model, folded=True)
        runs = {
            "encode": lambda: embedder.encode(self.lines),
            "shards": lambda: embed(embedder, self.model, path, self.out),
        }
        rates = common.compare(self.arguments.rounds, runs, len(self.lines), "lines/s")
        return {"num_lines": len(self.lines), **rates}

    def memory(self) -> dict:
        """Measures peak memory on few and on many lines."""
        result: dict = {}
        cores = len(os.sched_getaffinity(0))
        for number in map(int, self.arguments.memory_lines.split(",")):
            path = write_lines(self.folder / "lines.txt", self.lines, number)
            peak = self.run_child(cores, path)["peak_memory_mb"]
            result[f"{number:,} lines"] = common.Sample([peak], "MB")
            print(f"{number:,} lines: {peak} MB", flush=True)
        return result

    def kills(self) -> dict:
        """Kills the command at random moments; counts lines that were lost or doubled."""
        number = self.arguments.lines
        path = write_lines(self.folder / "lines.txt", self.lines, number)
        rng = random.Random(0)
        command = [
            *(sys.executable, "-m", "tf_charagram.cli", "embed", self.model, "--input", str(path)),
            *("--shard-lines", "5000", "--output"),
        ]
        quiet = {"stderr": subprocess.DEVNULL}
        subprocess.run([*command, str(self.folder / "alone") + "/"], check=True, **quiet)
        killed = [*command, str(self.folder / "killed") + "/", "--resume"]
        shards = self.folder / "killed" / "shards.jsonl"

        def num_done() -> int:
            return shards.read_bytes().count(b"\n") if shards.exists() else 0

        done = [0]
        for _ in range(self.arguments.kills):
            with subprocess.Popen(killed, **quiet) as process:
                while num_done() == done[-1] and process.poll() is None:
                    time.sleep(0.01)
                time.sleep(rng.uniform(0, 0.6))
                process.kill()
            done.append(num_done())
            print(f"ended with {process.returncode}, {done[-1]} shards done", flush=True)
        subprocess.run(killed, check=True, **quiet)
        wrong, next_line = 0, 1
        for record in map(json.loads, shards.read_text().splitlines()):
            pair = [np.load(self.folder / run / record["name"]) for run in ("killed", "alone")]
            wrong += record["first_line"] != next_line
            wrong += pair[0].shape != pair[1].shape or not np.allclose(*pair, atol=1e-5)
            next_line += len(pair[0])
        lost = number + 1 - next_line
        return {
            "shards_after_kill": done, "wrong shards": common.Sample([int(wrong)], "wrong"),
            "lost lines": common.Sample([lost], "lost"),
        }  # fmt: skip


def main() -> None:
    """Runs the benchmark."""
    parser = common.make_parser(__doc__, data=common.WORDS, rounds=5)
    parser.add_argument("--parts", default="cores,shards,memory,kills")
    parser.add_argument("--lines", type=int, default=500_000)
    parser.add_argument("--memory-lines", default="100000,10000000")
    parser.add_argument("--kills", type=int, default=10)
    arguments = parser.parse_args()
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        bulk = Bulk(Path(folder), arguments)
        for part in arguments.parts.split(","):
            result[part] = getattr(bulk, part)()
            print(f"{part}: {result[part]}", flush=True)
    common.finish("bulk", result, arguments)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(int(sys.argv[2]), *sys.argv[3:])
    else:
        main()

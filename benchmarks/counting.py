"""Counting n-grams of much text: peak memory, and time over reading it and computing keys.

    python benchmarks/counting.py [--chars 1000000000] [--pieces 3] [--ngrams 2,3,4]

Files of 100,000,000 characters are written to a temporary folder. Their lines are those of the text
files in `--data`, or made-up ones. Where these end they begin again, but varied: the first half of
a line is joined with the second half of a line from elsewhere, and one line in four has one random
letter in the place of another, so that new n-grams keep appearing. The files are then read
as streams, by processes of their own. One computes only keys: it reads the
lines and gives them to as many threads, which compute keys like a vectorizer.
The other counts n-grams and chooses a vocabulary. A few pieces are measured in turn, then all.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import common
import tensorflow as tf

from tf_charagram.data._tables.lines import read_lines
from tf_charagram.text._algorithm import graph
from tf_charagram.text._algorithm.batches import bounded_batches, in_threads, to_bytes
from tf_charagram.text._algorithm.keys import ngram_keys
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary

PIECE = 100_000_000
LETTERS = "etaoinshrdlucmfwypvbgkjqxz0123456789.,-'"


def source_lines(folder: str | None) -> list[str]:
    """Returns the distinct texts of the files in a folder, or made-up sentences."""
    files = sorted(Path(folder).rglob("*.gz")) if folder else []
    texts = (text for path in files for _, line in read_lines(path) for text in line.split("\t"))
    words = common.texts_of(common.word_pairs(None))
    return list(dict.fromkeys(texts)) or common.sentences(words, 200_000)


def endless(lines: list[str], seed: int = 0) -> Iterator[str]:
    """Yields the lines, then varied ones."""
    rng = random.Random(seed)
    yield from lines
    while True:
        for line in lines:
            other = lines[int(rng.random() * len(lines))]
            text = line[: len(line) // 2] + other[len(other) // 2 :]
            if rng.random() < 0.25 and text:
                place = int(rng.random() * len(text))
                letter = LETTERS[int(rng.random() * len(LETTERS))]
                text = text[:place] + letter + text[place + 1 :]
            yield text


def write_pieces(folder: Path, lines: list[str], num_chars: int) -> list[Path]:
    """Writes files of `PIECE` characters, the last one smaller."""
    paths = []
    texts = endless(lines)
    for number, start in enumerate(range(0, num_chars, PIECE)):
        paths.append(folder / f"{number:03}.txt")
        left = min(PIECE, num_chars - start)
        with open(paths[-1], "w", encoding="utf-8", newline="\n") as file:
            while left > 0:
                text = next(texts)
                file.write(f"{text}\n")
                left -= len(text)
    return paths


def lines_of(paths: list[str]) -> Iterator[str]:
    """Streams the lines of files."""
    return (text for path in paths for _, text in read_lines(path))


def compute_keys(paths: list[str], vectorizer: NgramVectorizer) -> None:
    """Reads lines and computes the keys of their n-grams."""
    bits = vectorizer.vocabulary.bits

    def keys(batch: list[str]) -> None:
        texts = vectorizer.reader(tf.constant([to_bytes(text) for text in batch]))
        ngram_keys(graph, texts, vectorizer.orders, bits)

    deque(in_threads(keys, bounded_batches(lines_of(paths), 10_000, 1_000_000)), maxlen=0)


def child(job: str, options: str, *paths: str) -> None:
    """Does one of the two things in this process; prints times, peak memory and size as JSON."""
    counting = json.loads(options)
    first = list(islice(lines_of(list(paths)), 20_000))
    vectorizer = NgramVectorizer.from_texts(first, orders=counting["orders"])
    result: dict[str, float] = {}
    start, cpu_start = time.perf_counter(), time.process_time()
    if job == "keys":
        compute_keys(list(paths), vectorizer)
    else:
        vocabulary = NgramVocabulary.from_texts(lines_of(list(paths)), **counting)
        result["num_ngrams"] = len(vocabulary)
    result["seconds"] = round(time.perf_counter() - start, 1)
    result["cpu_seconds"] = round(time.process_time() - cpu_start, 1)
    # What `getrusage` tells begins with the peak of the process that started this one.
    (kilobytes,) = re.findall(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
    print(json.dumps({**result, "peak_memory_mb": round(int(kilobytes) / 1024)}))


def run_child(job: str, counting: dict, paths: list[Path]) -> dict:
    """Runs a new process; returns its output."""
    command = [sys.executable, __file__, "--child", job, json.dumps(counting), *map(str, paths)]
    ended = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    result = json.loads(ended.stdout.splitlines()[-1])
    print(f"{job}, {len(paths)} files: {result}", flush=True)
    return result


def main() -> None:
    """Runs the benchmark."""
    folder = common.SHARED / "more"
    parser = common.make_parser(__doc__, rounds=None)
    parser.add_argument("--data", default=str(folder) if folder.is_dir() else None)
    parser.add_argument("--chars", type=int, default=1_000_000_000)
    parser.add_argument("--pieces", type=int, default=3, help="files measured in turn before all")
    parser.add_argument("--ngrams", default="2,3,4")
    parser.add_argument("--min-count", type=int, default=1)
    arguments = parser.parse_args()
    counting = {
        "orders": [int(order) for order in arguments.ngrams.split(",")],
        "min_count": arguments.min_count,
    }
    lines = source_lines(arguments.data)
    num_distinct = sum(map(len, lines))
    print(f"{len(lines):,} lines of {num_distinct:,} characters to begin with", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        paths = write_pieces(Path(temporary), lines, arguments.chars)
        del lines
        pieces = paths[:: max(1, len(paths) // arguments.pieces)][: arguments.pieces]
        pairs = [
            [run_child(job, counting, some) for job in ("keys", "count")]
            for some in (*([piece] for piece in pieces), paths)
        ]
    result: dict = {
        "num_chars": arguments.chars,
        **counting,
        "keys": pairs[-1][0],
        "count": pairs[-1][1],
    }
    for name in ("seconds", "cpu_seconds"):
        # Time over that of keys: more is slower.
        *ratios, last = (count[name] / keys[name] for keys, count in pairs)
        result[f"{name}, one file"] = common.Sample(ratios or [last], "times")
        result[f"{name}, all"] = common.Sample([last], "times")
    result["peak memory"] = common.Sample([pairs[-1][1]["peak_memory_mb"]], "MB")
    common.finish("counting", result, arguments)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        main()

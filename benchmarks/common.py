"""What the benchmarks share: data, medians of ratios, the JSON line at the end."""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import keras

from tf_charagram.data.pipeline.corpus import Example
from tf_charagram.data.pipeline.store import PairStore
from tf_charagram.data.pipeline.stream import Stream
from tf_charagram.data.readers.pairs import Pair, read_pairs
from tf_charagram.text.ids import ids_function
from tf_charagram.trainers.base import StepModel

LETTERS = "eeeeeettttaaaooiinnsshhrrdlcumwfgypbvkjxqz"
SHARED = Path(__file__).parents[2] / "shared" / "data"
WORDS = "words/ppdb-xl-lexical.tsv"


def make_parser(
    description: str | None, *, data: str | None = None, rounds: int = 7
) -> argparse.ArgumentParser:
    """Returns a parser of the flags that benchmarks share, for each to add its own.

    Args:
        description: What the benchmark measures.
        data: File below `SHARED` that `--data` defaults to if it is there; `None` for no `--data`.
        rounds: Default of `--rounds`.
    """
    parser = argparse.ArgumentParser(description=description)
    if data is not None:
        path = SHARED / data
        parser.add_argument("--data", default=str(path) if path.is_file() else None)
    parser.add_argument("--rounds", type=int, default=rounds, help="timed calls of each function")
    return parser


def word_pairs(path: str | None, num_pairs: int = 190_000, seed: int = 0) -> list[Pair]:
    """Returns the pairs of a file, or pairs of made-up words with about as many n-grams."""
    if path is not None:
        return [pair for pair in read_pairs(path) if all(text.strip() for text in pair)]
    rng = random.Random(seed)
    words = ["".join(rng.choices(LETTERS, k=rng.randint(4, 14))) for _ in range(num_pairs // 2)]
    return [(rng.choice(words), rng.choice(words)) for _ in range(num_pairs)]


def texts_of(pairs: Iterable[Pair]) -> list[str]:
    """Returns the distinct texts of pairs, in order."""
    return list(dict.fromkeys(text for pair in pairs for text in pair))


def store_of(pairs: list[Pair], vectorizer: keras.layers.Layer) -> PairStore:
    """Returns the ids of pairs, in memory."""
    store = PairStore(len(pairs), len(pairs), Path())
    store.fill((Example(*pair, pair) for pair in pairs), ids_function(vectorizer))
    return store


def train(model: StepModel, stream: Stream, num_steps: int) -> None:
    """Trains a model for `num_steps` more steps."""
    for segment in stream.segments(int(model.step.numpy()), num_steps):
        model.train_on(stream, segment)


def seconds(function: Callable[[], object]) -> float:
    """Returns how long one call takes."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def warm_up(function: Callable[[], object], most: int = 8) -> None:
    """Calls a function until it gets no faster; first touches of memory can take seconds."""
    before = seconds(function)
    for _ in range(most):
        now = seconds(function)
        if now > 0.8 * before:
            return
        before = now


def compare(rounds: int, runs: dict[str, Callable[[], object]], work: float) -> dict[str, float]:
    """Times several functions in turn, again and again, so that noise affects all alike.

    Args:
        rounds: How often each is timed.
        runs: Name to function; ratios are against the first.
        work: Units of work per call.

    Returns:
        For each name the median of units per second, and for all but the first, under
        `"first/name"`, the median over the rounds of how many times faster the first is.
    """
    for function in runs.values():
        warm_up(function)
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, function in runs.items():
            times[name].append(seconds(function))
    first, *others = runs
    result = {name: round(work / statistics.median(values), 1) for name, values in times.items()}
    for name in others:
        ratios = [b / a for a, b in zip(times[first], times[name], strict=True)]
        result[f"{first}/{name}"] = round(statistics.median(ratios), 2)
    return result


def finish(name: str, result: dict) -> None:
    """Prints the JSON line."""
    sys.stdout.flush()
    print(json.dumps({"benchmark": name, **result}))


def optional(name: str):
    """Returns a module, or `None` where it is not installed."""
    try:
        return __import__(name)
    except ImportError:
        print(f"{name} is not installed; leaving it out")
        return None

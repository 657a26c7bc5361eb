"""What the benchmarks share: flags, data, turns of timed calls, the JSON at the end.

Nothing here imports TensorFlow: what only starts processes is not to have its threads.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tf_charagram._files.json_files import write_json
from tf_charagram.data.readers.pairs import Pair, read_pairs

LETTERS = "eeeeeettttaaaooiinnsshhrrdlcumwfgypbvkjxqz"
SHARED = Path(__file__).parents[2] / "shared" / "data"
WORDS = "words/ppdb-xl-lexical.tsv"


@dataclass(frozen=True, repr=False)
class Sample:
    """What was measured, once a round.

    Attributes:
        values: One per round.
        unit: Such as `"texts/s"`; `"x"` of ratios.
    """

    values: Sequence[float]
    unit: str

    @property
    def median(self) -> float:
        """The middle value."""
        return statistics.median(self.values)

    def over(self, other: Sample) -> Sample:
        """Returns the ratios, each of two values of the same round."""
        return Sample([a / b for a, b in zip(self.values, other.values, strict=True)], "x")

    def minus(self, other: Sample) -> Sample:
        """Returns the differences, each of two values of the same round."""
        return Sample([a - b for a, b in zip(self.values, other.values, strict=True)], self.unit)

    def to_json(self) -> dict:
        """Returns the median, the range and all values, with four digits."""
        median, low, high, *values = (
            float(f"{value:.4g}")
            for value in (self.median, min(self.values), max(self.values), *self.values)
        )
        return {"median": median, "low": low, "high": high, "unit": self.unit, "values": values}

    def __repr__(self) -> str:
        return number_text(self.median) + (f" {self.unit}" if self.unit != "x" else "x")


def number_text(number: float) -> str:
    """Returns a number with three digits, or all in front of the point: 0.312, 12.4, 84,947."""
    if number == 0 or abs(number) >= 100:
        return f"{number:,.0f}"
    return f"{number:.{2 if abs(number) >= 1 else 3}f}" if abs(number) < 10 else f"{number:.1f}"


def make_parser(
    description: str | None, *, data: str | None = None, rounds: int | None = 7, peers: bool = False
) -> argparse.ArgumentParser:
    """Returns a parser of the flags that benchmarks share, for each to add its own.

    Args:
        description: What the benchmark measures.
        data: File below `SHARED` that `--data` defaults to if it is there; `None` for no `--data`.
        rounds: Default of `--rounds`; `None` where nothing is repeated.
        peers: Whether other packages are measured, which another interpreter may have.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if data is not None:
        path = SHARED / data
        parser.add_argument(
            "--data", type=lambda text: text or None, default=str(path) if path.is_file() else None,
            help="nothing for made-up data",
        )  # fmt: skip
    if rounds is not None:
        parser.add_argument("--rounds", type=int, default=rounds, help="how often each is timed")
    parser.add_argument("--json", help="file that gets the result")
    if peers:
        parser.add_argument(
            "--peer-python", default=sys.executable, help="interpreter that has the other packages"
        )
    return parser


def word_pairs(path: str | None, num_pairs: int = 190_000, seed: int = 0) -> list[Pair]:
    """Returns the pairs of a file, or pairs of made-up words with about as many n-grams."""
    if path is not None:
        pairs = read_pairs(path, header=False)
        return [pair for pair in pairs if all(text.strip() for text in pair)]
    rng = random.Random(seed)
    words = ["".join(rng.choices(LETTERS, k=rng.randint(4, 14))) for _ in range(num_pairs // 2)]
    return [(rng.choice(words), rng.choice(words)) for _ in range(num_pairs)]


def texts_of(pairs: Iterable[Pair]) -> list[str]:
    """Returns the distinct texts of pairs, in order."""
    return list(dict.fromkeys(text for pair in pairs for text in pair))


def sentences(words: list[str], number: int, length: int = 56) -> list[str]:
    """Returns made-up sentences of about `length` characters."""
    rng = random.Random(0)
    texts = []
    for _ in range(number):
        sentence = rng.choice(words)
        while len(sentence) < length - 4:
            sentence += " " + rng.choice(words)
        texts.append(sentence)
    return texts


def sts_lines() -> list[str]:
    """Returns both sides of the STS sets, or made-up sentences."""
    lines = []
    for path in sorted((SHARED / "sts").glob("*.tsv")):
        for row in path.read_text(encoding="utf-8").split("\n")[:-1]:
            lines += row.split("\t")[1:3]
    return lines or sentences(texts_of(word_pairs(None)), 27_000)


def seconds(function: Callable[[], object]) -> float:
    """Returns the seconds of one call."""
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


def in_turns(
    rounds: int, runs: Mapping[str, Callable[[], object]], measure: Callable = seconds
) -> dict[str, list]:
    """Measures several functions again and again, in another order every round.

    They take turns so that noise affects all alike: values of the same round can be compared.

    Args:
        rounds: How often each is measured.
        runs: Name to function.
        measure: What is told of a function.
    """
    rng = random.Random(0)
    found: dict[str, list] = {name: [] for name in runs}
    for _ in range(rounds):
        for name in rng.sample(list(runs), len(runs)):
            found[name].append(measure(runs[name]))
    return found


def compare(
    rounds: int,
    runs: Mapping[str, Callable[[], object]],
    work: float | Mapping[str, float],
    unit: str,
) -> dict[str, Sample]:
    """Times several functions in turn, after some calls that do not count.

    Args:
        rounds: How often each is timed.
        runs: Name to function; ratios are against the first.
        work: Units of work per call, or those of each function.
        unit: Of the rates, such as `"texts/s"`.

    Returns:
        For each name units per second, and for all but the first, under `"first/name"`, how many
        times faster the first is.
    """
    for function in runs.values():
        warm_up(function)
    amounts = work if isinstance(work, Mapping) else dict.fromkeys(runs, work)
    rates = {
        name: Sample([amounts[name] / time for time in times], unit)
        for name, times in in_turns(rounds, runs).items()
    }
    first, *others = runs
    return rates | {f"{first}/{name}": rates[first].over(rates[name]) for name in others}


def finish(name: str, result: dict, arguments: argparse.Namespace) -> None:
    """Prints the result as a line of JSON, and writes it to the file of `--json`."""
    plain = json.loads(json.dumps({"benchmark": name, **result}, default=Sample.to_json))
    sys.stdout.flush()
    print(json.dumps(plain))
    if arguments.json is not None:
        write_json(arguments.json, plain)

"""Do the odds hold? Estimated precision and recall of `match` and `dedupe` next to the truth.

    python benchmarks/odds.py --sets FOLDER

The sets are the files `NAME-left.csv` and `NAME-right.csv`, or `NAME.csv`, of `--sets`. Equal
values of the column `entity` are the same thing. All other columns are compared, and the first one
alone as a list. Printed are the precision and recall at several thresholds with their estimated
bounds, and how many pairs match of those with similar probabilities, for all sets together. Each
set counts alike.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

import common
import numpy as np
from records import read

from tf_charagram.search import deduplicate, match

THRESHOLDS = (0.5, 0.7, 0.9)
EDGES = np.array([0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 1 + 1e-9])
# Fewer pairs tell nothing.
MIN_PAIRS = 20
MIN_IN_BIN = 5

Table = dict[str, list[str]]
Pairs = set[tuple[int, int]]


def read_sets(folder: Path) -> dict[str, list[Table]]:
    """Returns one or two tables of each set."""
    sets = {}
    for path in sorted(folder.glob("*.csv")):
        name, _, side = path.stem.rpartition("-")
        if side == "left":
            sets[name] = [read(path), read(path.with_name(f"{name}-right.csv"))]
        elif side != "right":
            sets[path.stem] = [read(path)]
    return sets


def answers(tables: list[Table], on: list[str], threshold: float) -> tuple[Pairs, object]:
    """Returns the pairs that are found, and the whole result."""
    chosen = [{name: table[name] for name in on} for table in tables]
    if len(tables) == 2:
        found = match(*chosen, None, on=on, threshold=threshold)
        return {(pair.left, pair.right) for pair in found.pairs}, found
    found = deduplicate(*chosen, None, on=on, threshold=threshold)
    groups = (sorted(group.rows) for group in found.groups)
    return {pair for rows in groups for pair in combinations(rows, 2)}, found


def num_matches(entities: list[list[str]]) -> int:
    """Returns the number of pairs of rows that are the same thing."""
    counts = Counter(entities[-1])
    if len(entities) == 2:
        return sum(counts[entity] for entity in entities[0])
    return sum(count * (count - 1) // 2 for count in counts.values())


def shares_of_matches(found: object, entities: list[list[str]]) -> dict[int, tuple[float, float]]:
    """Returns the mean probability and the share of matches in each bin of probabilities."""
    probabilities = found.links.probabilities
    rows = found.links.pairs
    left, right = np.array(entities[0]), np.array(entities[-1])
    is_match = left[rows[:, 0]] == right[rows[:, 1]]
    bins = np.digitize(probabilities, EDGES) - 1
    shares = {}
    for each in range(len(EDGES) - 1):
        chosen = bins == each
        if chosen.sum() >= MIN_IN_BIN:
            shares[each] = (probabilities[chosen].mean(), is_match[chosen].mean())
    return shares


def measure(name: str, tables: list[Table], on: list[str], counts: Counter) -> dict:
    """Prints a line for each threshold; returns the shares of matches."""
    entities = [table["entity"] for table in tables]
    total = num_matches(entities)
    shares = {}
    for threshold in THRESHOLDS:
        pairs, found = answers(tables, on, threshold)
        [chosen] = [each for each in found.estimates if each.threshold == threshold]
        if chosen.num_pairs < MIN_PAIRS:
            continue
        hits = sum(entities[0][left] == entities[-1][right] for left, right in pairs)
        cells = []
        for truth, bounds in (
            (hits / max(len(pairs), 1), chosen.precision_bounds),
            (hits / max(total, 1), chosen.recall_bounds),
        ):
            lower, upper = bounds
            # Recall is not known of a list.
            is_known = lower == lower
            counts["known"] += is_known
            counts["held"] += is_known and lower <= truth <= upper
            counts["wide"] += is_known and upper - lower > 0.5
            mark = "" if lower <= truth <= upper or not is_known else " !"
            cells.append(f"{truth:.2f} ({lower:.2f}-{upper:.2f}){mark}")
        print(f"| {name} | {threshold} | " + " | ".join(cells) + " |", flush=True)
        shares = shares or shares_of_matches(found, entities)
    return shares


def main() -> None:
    """Measures all sets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=Path, default=common.SHARED / "jobs" / "records")
    arguments = parser.parse_args()
    print("| | threshold | precision (bounds) | recall (bounds) |\n|---|---:|---|---|")
    counts: dict[str, Counter] = defaultdict(Counter)
    bins: dict[str, dict] = defaultdict(lambda: defaultdict(list))
    for name, tables in read_sets(arguments.sets).items():
        on = [column for column in tables[0] if column != "entity"]
        ways = {"columns": on, "list": on[:1]} if len(on) > 1 else {"list": on}
        for way, columns in ways.items():
            found = measure(f"{name}, {way}", tables, columns, counts[way])
            for each, share in found.items():
                bins[way][each].append(share)
    for way, shares in bins.items():
        count = counts[way]
        print(f"\n{way}: {count['held']} of {count['known']} bounds held, {count['wide']} wide")
        for _, values in sorted(shares.items()):
            probability, share = np.mean(values, axis=0)
            print(f"{probability:.2f}: {share:.2f} of the pairs match ({len(values)} sets)")


if __name__ == "__main__":
    main()

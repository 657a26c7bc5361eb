"""Tables with columns: `match` and `dedupe` next to splink and recordlinkage.

    python benchmarks/records.py --peer-python PYTHON --sets FOLDER

Each peer runs in a process of its own, with the same columns. Printed are precision, recall and F1
of pairs at the default threshold, x 100, the F1 of the best threshold, and seconds. Of one table,
the pairs at the default threshold are those of connected groups. The sets are
the files of `--sets`: `febrl2-left.csv` and `febrl2-right.csv`, `febrl3.csv` and `fake1000.csv`,
where equal values of the column `entity` are the same thing.

Others learn from 300 labelled pairs of `pairs-abt-buy` and `pairs-dblp-acm`, in the folder above,
and are scored on the pairs of their test file: `match` with columns, the joined string, and dedupe
(3.0.3 needs BTrees 6.1).
"""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Pairs = dict[tuple[int, int], float]
_THRESHOLD = 0.5
_PEOPLE = ["given_name", "surname", "address", "suburb", "postcode", "date_of_birth"]


class Job(NamedTuple):
    """One or two files, and the columns that are compared."""

    files: list[str]
    on: list[str]


# Pairs with labels that others learn from, and the seed that chooses them.
_NUM_LABELS = 300
_SEED = 0
LABELLED = ("abt-buy", "dblp-acm")
JOBS = {
    "febrl2": Job(["febrl2-left.csv", "febrl2-right.csv"], _PEOPLE),
    "febrl2, 3 columns": Job(
        ["febrl2-left.csv", "febrl2-right.csv"], ["given_name", "surname", "suburb"]
    ),
    "febrl3": Job(["febrl3.csv"], _PEOPLE),
    "fake1000": Job(["fake1000.csv"], ["first_name", "surname", "dob", "city", "email"]),
}


def read(path: Path) -> dict[str, list[str]]:
    """Returns the columns of a file."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] for row in rows] for name in rows[0]}


# Each peer returns pairs of rows with probabilities; of one table, the smaller row is first.


def ours(tables: list[dict[str, list[str]]], on: list[str]) -> Pairs:
    """Links with this package."""
    from tf_charagram.search import deduplicate, match

    if len(tables) == 2:
        return {(pair.left, pair.right): pair.score for pair in match(*tables, on=on).pairs}
    pairs = {}
    for group in deduplicate(tables[0], on=on).groups:
        for place, row in enumerate(group.rows):
            for other in group.rows[:place]:
                pairs[min(row, other), max(row, other)] = 1.0
    return pairs


def splink(tables: list[dict[str, list[str]]], on: list[str]) -> Pairs:
    """Links with splink: unsupervised, blocked on each column."""
    import pandas as pd
    import splink.comparison_library as library
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    def comparison(name: str) -> Any:
        is_code = any(part in name for part in ("birth", "dob", "email", "post"))
        if is_code:
            made = library.LevenshteinAtThresholds(name, [1, 2])
        else:
            made = library.JaroWinklerAtThresholds(name, [0.92, 0.8])
        return made.configure(term_frequency_adjustments=True)

    settings = SettingsCreator(
        link_type="link_only" if len(tables) == 2 else "dedupe_only",
        comparisons=[comparison(name) for name in on],
        blocking_rules_to_generate_predictions=[block_on(name) for name in on],
    )
    interface = DuckDBAPI()
    frames = []
    for table in tables:
        frame = pd.DataFrame(table).replace("", None)
        frame["unique_id"] = range(len(frame))
        frames.append(interface.register(frame))
    linker = Linker(frames if len(frames) == 2 else frames[0], settings)
    rules = [block_on(*on[:2]), block_on(*on[-2:])]
    linker.training.estimate_probability_two_random_records_match(rules, recall=0.7)
    linker.training.estimate_u_using_random_sampling(max_pairs=2e6, seed=1)
    for name in on[:3]:
        linker.training.estimate_parameters_using_expectation_maximisation(block_on(name))
    found = linker.inference.predict(threshold_match_probability=0.001).as_pandas_dataframe()
    rows = zip(found.unique_id_l, found.unique_id_r, found.match_probability, strict=True)
    if len(tables) == 2:
        return {(int(left), int(right)): float(score) for left, right, score in rows}
    return {(min(a, b), max(a, b)): float(score) for a, b, score in rows}


def recordlinkage(tables: list[dict[str, list[str]]], on: list[str]) -> Pairs:
    """Links with recordlinkage: its expectation-maximization, blocked on each column."""
    import pandas as pd
    import recordlinkage as package

    frames = [pd.DataFrame(table) for table in tables]
    indexer = package.Index()
    comparer = package.Compare()
    for name in on:
        indexer.block(name)
        comparer.string(name, name, method="jarowinkler", threshold=0.85, label=name)
    features = comparer.compute(indexer.index(*frames), *frames)
    model = package.ECMClassifier()
    model.fit(features)
    scores = model.prob(features)
    return {
        (min(pair), max(pair)) if len(tables) == 1 else pair: float(score)
        for pair, score in scores.items()
    }


def closed(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Adds the pairs of rows that other pairs connect, as peers do to make groups."""
    groups: dict[int, set[int]] = {}
    for left, right in pairs:
        joined = groups.get(left, {left}) | groups.get(right, {right})
        for row in joined:
            groups[row] = joined
    return {(min(row, other), max(row, other)) for row in groups for other in groups[row] - {row}}


PEERS = {"charagram": ours, "splink": splink, "recordlinkage": recordlinkage}


class LabelledTexts(NamedTuple):
    """Pairs of texts: the distinct texts of both sides, and their rows with 1 or 0."""

    left: list[str]
    right: list[str]
    pairs: list[tuple[int, int, int]]


def read_labelled(folder: Path, name: str) -> tuple[LabelledTexts, int]:
    """Returns the pairs of two files, and how many are in the first file."""
    sides: tuple[dict[str, int], dict[str, int]] = ({}, {})
    pairs = []
    sizes = []
    for split in ("train", "test"):
        text = (folder / f"pairs-{name}.{split}.tsv").read_text(encoding="utf-8")
        for line in text.splitlines():
            label, left, right = line.split("\t")[:3]
            row = sides[0].setdefault(left, len(sides[0]))
            other = sides[1].setdefault(right, len(sides[1]))
            pairs.append((row, other, int(label)))
        sizes.append(len(pairs))
    return LabelledTexts(list(sides[0]), list(sides[1]), pairs), sizes[0]


# Each learner returns whether the pairs of `asked` match.


def learned_columns(texts: LabelledTexts, labels: list, asked: list) -> list[bool]:
    """Learns with this package, from columns."""
    from tf_charagram.search import match

    tables = {"text": texts.left}, {"text": texts.right}
    links = match(*tables, None, on=["text"], labels=labels).links
    rows = np.array(asked, np.int64)[:, :2]
    return (links.probabilities_of(rows) >= _THRESHOLD).tolist()


def learned_texts(texts: LabelledTexts, labels: list, asked: list) -> list[bool]:
    """Learns with this package, from texts."""
    from tf_charagram.search import TextScorer

    def sides(pairs: list) -> tuple[list[str], list[str]]:
        return [texts.left[pair[0]] for pair in pairs], [texts.right[pair[1]] for pair in pairs]

    scorer = TextScorer([*texts.left, *texts.right], None)
    learned = scorer.learn(*sides(labels), [pair[2] for pair in labels])
    return (scorer.score(*sides(asked)) >= learned.threshold).tolist()


def dedupe(texts: LabelledTexts, labels: list, asked: list) -> list[bool]:
    """Learns with dedupe."""
    import dedupe as package

    left = {f"l{row}": {"text": text} for row, text in enumerate(texts.left)}
    right = {f"r{row}": {"text": text} for row, text in enumerate(texts.right)}
    answers: dict[str, list] = {"match": [], "distinct": []}
    for row, other, is_match in labels:
        kind = "match" if is_match else "distinct"
        records = [left[f"l{row}"], right[f"r{other}"]]
        answers[kind].append({"__class__": "tuple", "__value__": records})
    linker = package.RecordLink([package.variables.String("text")], num_cores=1)
    # The labels belong to the sample only if they are read from a file.
    linker.prepare_training(left, right, io.StringIO(json.dumps(answers)), sample_size=1000)
    linker.train(index_predicates=False)
    pairs = [(f"l{row}", f"r{other}") for row, other, _ in asked]
    scored = linker.score(((one, left[one]), (other, right[other])) for one, other in pairs)
    scores = {tuple(pair): score for pair, score in scored}
    return [scores.get(pair, 0) >= _THRESHOLD for pair in pairs]


LEARNERS = {"charagram": learned_columns, "joined string": learned_texts, "dedupe": dedupe}


def labelled_child(peer: str, folder: str, name: str) -> None:
    """Runs a learner on labelled pairs; prints a line of JSON."""
    texts, num_train = read_labelled(Path(folder), name)
    chosen = np.random.default_rng(_SEED).permutation(num_train)[:_NUM_LABELS]
    labels = [texts.pairs[pair] for pair in chosen]
    asked = texts.pairs[num_train:]
    start = time.perf_counter()
    found = LEARNERS[peer](texts, labels, asked)
    seconds = time.perf_counter() - start
    hits = sum(is_found and label for is_found, (_, _, label) in zip(found, asked, strict=True))
    num_found = sum(found)
    num_matches = sum(label for _, _, label in asked)
    result = {
        "precision": 100 * hits / max(num_found, 1),
        "recall": 100 * hits / num_matches,
        "F1": 200 * hits / (num_found + num_matches),
        "seconds": seconds,
    }
    print(json.dumps({key: round(float(value), 1) for key, value in result.items()}))


def child(peer: str, folder: str, name: str) -> None:
    """Runs a peer on a set; prints a line of JSON."""
    job = JOBS[name]
    tables = [read(Path(folder) / file) for file in job.files]
    entities = [table.pop("entity") for table in tables]
    start = time.perf_counter()
    pairs = PEERS[peer](tables, job.on)
    seconds = time.perf_counter() - start
    counts = Counter(entities[-1])
    if len(tables) == 2:
        num_matches = sum(counts[entity] for entity in entities[0])
    else:
        num_matches = sum(count * (count - 1) // 2 for count in counts.values())
    scores = np.array(list(pairs.values()))
    is_right = np.array([entities[0][left] == entities[-1][right] for left, right in pairs])
    order = np.argsort(-scores, kind="stable")
    found = np.arange(1, len(scores) + 1)
    f1 = 2 * np.cumsum(is_right[order]) / (found + num_matches)
    chosen = {pair for pair, score in pairs.items() if score >= _THRESHOLD}
    if len(tables) == 1:
        chosen = closed(chosen)
    hits = sum(entities[0][left] == entities[-1][right] for left, right in chosen)
    result = {
        "precision": 100 * hits / max(len(chosen), 1),
        "recall": 100 * hits / num_matches,
        "F1": 200 * hits / (len(chosen) + num_matches),
        "best F1": 100 * f1.max(),
        "seconds": seconds,
    }
    print(json.dumps({key: round(float(value), 1) for key, value in result.items()}))


def main() -> None:
    """Runs the comparison."""
    # Not needed by children, whose interpreter may lack this package.
    import common

    parser = common.make_parser(__doc__, rounds=None, peers=True)
    parser.add_argument("--sets", type=Path, default=common.SHARED / "jobs" / "records")
    parser.add_argument("--peers", default=",".join({**PEERS, **LEARNERS}))
    arguments = parser.parse_args()
    columns = ("precision", "recall", "F1", "best F1", "seconds")
    print("| | |" + "".join(f" {name} |" for name in columns))
    print("|---|---|" + "---:|" * len(columns))
    found: dict[str, Any] = {}
    chosen = arguments.peers.split(",")
    runs = [(name, peer, "--child", arguments.sets) for name in JOBS for peer in PEERS]
    folder = arguments.sets.parent
    for name in LABELLED:
        runs += [(name, peer, "--labelled", folder) for peer in LEARNERS]
    for name, peer, mode, sets in runs:
        if peer not in chosen:
            continue
        is_ours = peer in ("charagram", "joined string")
        python = sys.executable if is_ours else arguments.peer_python
        command = [python, __file__, mode, peer, str(sets), name]
        done = subprocess.run(command, text=True, capture_output=True, check=False)
        if done.returncode:
            reason = done.stderr.strip().rpartition("\n")[2]
            print(f"{peer} is left out: {reason or done.returncode}", file=sys.stderr)
            continue
        result = json.loads(done.stdout.splitlines()[-1])
        cells = "".join(f" {result.get(column, '')} |" for column in columns)
        print(f"| {name} | {peer} |{cells}", flush=True)
        found.setdefault(peer, {})[name] = common.Sample([result["F1"]], "points")
    common.finish("records", found, arguments)


if __name__ == "__main__":
    CHILDREN = {"--child": child, "--labelled": labelled_child}
    run = CHILDREN.get(sys.argv[1]) if len(sys.argv) == 5 else None
    run(*sys.argv[2:]) if run else main()

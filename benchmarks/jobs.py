"""Search, matching, intents and topics: other packages next to this one, clean and with typos.

    python benchmarks/jobs.py --peer-python PYTHON --minilm FOLDER --model2vec FOLDER --out FILE
    python benchmarks/jobs.py --peers search,english --only quora --out FILE

Each peer runs in a process of its own. The sets are the files of `--sets`:

* `NAME.corpus.tsv`, `NAME.queries.tsv`: recall at 1 and 10, and processor seconds to index the
  corpus and to search for the clean queries.
* `pairs-NAME.{train,test}.tsv`: F1 of "same or not", with the threshold that is best on train.
* `intents-NAME.{train,test}.tsv`: accuracy of a logistic regression on 5 examples per intent.
* `topics-NAME.tsv`: V-measure of k-means with as many clusters as topics.

All are x 100; the last two are means of five seeds, and only for peers that have vectors. The
printed tables show all results in `--out`, which also keeps those of other runs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from job_peers import OURS, PEERS, Encode, Pairs, Score, Search
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, precision_recall_curve, v_measure_score
from sklearn.preprocessing import normalize

EXAMPLES = 5
SEEDS = range(5)


# Each job takes the part of a peer that it needs, and returns scores by name.


def recalls(folder: Path, name: str, index: Callable[[list[str]], Search]) -> dict[str, float]:
    """Searches a corpus for the right rows of each query."""
    corpus = [text for [text] in read(folder / f"{name}.corpus.tsv")]
    right, clean, typos = zip(*read(folder / f"{name}.queries.tsv"), strict=True)
    right_rows = [np.fromstring(rows, int, sep=",") for rows in right]
    index(corpus[:1000])(list(clean[:100]), 10)  # First calls load, trace and compile.
    start = time.process_time()
    find = index(corpus)
    middle = time.process_time()
    found = {"clean": find(list(clean), 10)}
    scores = {"index s": middle - start, "search s": time.process_time() - middle}
    found["typos"] = find(list(typos), 10)
    for kind, rows in found.items():
        is_right = np.array([np.isin(*each) for each in zip(rows, right_rows, strict=True)])
        scores[f"{kind} at 1"] = 100 * is_right[:, 0].mean()
        scores[f"{kind} at 10"] = 100 * is_right.any(axis=1).mean()
    return scores


def pair_f1(folder: Path, name: str, compare: Callable[..., Score]) -> dict[str, float]:
    """Tells pairs that are the same from others by a threshold of their score."""
    train, test = (read(folder / f"{name}.{part}.tsv") for part in ("train", "test"))
    texts = list(dict.fromkeys(text for row in (*train, *test) for text in row[1:3]))
    score = compare(texts, train)

    def scores_of(rows: Pairs, left: int) -> np.ndarray:
        return score([row[left] for row in rows], [row[2] for row in rows])

    labels, answers = (np.array([int(row[0]) for row in rows]) for rows in (train, test))
    precision, recall, thresholds = precision_recall_curve(labels, scores_of(train, 1))
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-9)
    threshold = thresholds[np.argmax(f1[:-1])]
    return {
        kind: 100 * f1_score(answers, scores_of(test, left) >= threshold)
        for kind, left in (("clean", 1), ("typos", 3))
    }


def intents(folder: Path, name: str, fit: Callable[[list[str]], Encode]) -> dict[str, float]:
    """Learns intents from few examples."""
    train, test = (read(folder / f"{name}.{part}.tsv") for part in ("train", "test"))
    labels, answers = (np.array([row[0] for row in rows]) for rows in (train, test))
    encode = fit([row[1] for row in train])
    known, *wanted = (
        normalize(encode([row[column] for row in rows]))
        for rows, column in ((train, 1), (test, 1), (test, 2))
    )
    accuracies = []
    for seed in SEEDS:
        order = np.random.default_rng(seed).permutation(len(train))
        rows = np.concatenate(
            [order[labels[order] == label][:EXAMPLES] for label in np.unique(labels)]
        )
        model = LogisticRegression(C=10, max_iter=2000).fit(known[rows], labels[rows])
        accuracies.append([100 * model.score(vectors, answers) for vectors in wanted])
    return dict(zip(("clean", "typos"), np.mean(accuracies, axis=0).tolist(), strict=True))


def topics(folder: Path, name: str, fit: Callable[[list[str]], Encode]) -> dict[str, float]:
    """Finds topics without labels."""
    rows = read(folder / f"{name}.tsv")
    labels = [row[0] for row in rows]
    scores = {}
    for kind, column in (("clean", 1), ("typos", 2)):
        texts = [row[column] for row in rows]
        vectors = normalize(fit(texts)(texts))
        found = [KMeans(len(set(labels)), random_state=seed).fit_predict(vectors) for seed in SEEDS]
        scores[kind] = 100 * float(np.mean([v_measure_score(labels, each) for each in found]))
    return scores


def read(path: Path) -> list[list[str]]:
    """Returns the rows of a file of tab-separated columns."""
    return [line.split("\t") for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def sets_of(folder: Path) -> dict[str, tuple[Callable, str]]:
    """Returns the job of each set of a folder, and the part of a peer that it needs."""
    kinds = {
        "*.corpus.tsv": (recalls, "index"), "pairs-*.train.tsv": (pair_f1, "compare"),
        "intents-*.train.tsv": (intents, "fit"), "topics-*.tsv": (topics, "fit"),
    }  # fmt: skip
    return {
        path.name.split(".")[0]: kind
        for pattern, kind in kinds.items()
        for path in sorted(folder.glob(pattern))
    }


def child(name: str, model: str, folder: str, names: str) -> None:
    """Runs the jobs of one peer; prints a line of JSON per set."""
    peer = PEERS[name](model)
    for each, (job, needed) in sets_of(Path(folder)).items():
        part = getattr(peer, needed)
        if each in names.split(",") and part is not None:
            scores = job(Path(folder), each, part)
            print(
                json.dumps({each: {key: round(value, 2) for key, value in scores.items()}}),
                flush=True,
            )


# Tables.


def tables(results: dict[str, Any]) -> str:
    """Returns the results as tables of Markdown, a row per peer, cells of clean and typos."""
    searched = sorted({n for sets in results.values() for n in sets if "clean at 1" in sets[n]})
    others = sorted({n for sets in results.values() for n in sets} - set(searched))
    kinds = [
        *((f"recall at {k}", searched, f"clean at {k}", f"typos at {k}") for k in (1, 10)),
        ("F1, accuracy, V-measure", others, "clean", "typos"),
        ("seconds: index, search", searched, "index s", "search s"),
    ]
    return "\n\n".join(table(results, *kind) for kind in kinds if kind[1])


def table(results: dict[str, Any], title: str, names: list[str], *keys: str) -> str:
    """Returns a table with a column per set, and the mean of peers that have all."""
    head = [title, *names, *([] if "F1" in title else ["mean"])]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    for peer, sets in results.items():
        values = {name: [sets[name][key] for key in keys] for name in names if name in sets}
        if len(values) == len(names):
            values["mean"] = np.mean([*values.values()], axis=0)
        if values:
            cells = (" / ".join(f"{v:.1f}" for v in values.get(column, [])) for column in head[1:])
            lines.append("| " + " | ".join([peer, *cells]) + " |")
    return "\n".join(lines)


def means(results: dict[str, Any]) -> dict[str, Any]:
    """Returns the mean recall at 1 of each peer."""
    from common import Sample

    found: dict[str, Any] = {}
    for peer, sets in results.items():
        for key in ("clean at 1", "typos at 1"):
            if values := [scores[key] for scores in sets.values() if key in scores]:
                found.setdefault(peer, {})[key] = Sample([float(np.mean(values))], "points")
    return found


def main() -> None:
    """Runs the comparison."""
    # Not needed by children, whose interpreter may lack this package.
    import common
    from embed import MINILM

    parser = common.make_parser(__doc__, rounds=None, peers=True)
    parser.add_argument("--sets", type=Path, default=common.SHARED / "jobs")
    parser.add_argument("--minilm", default=MINILM, help="name or folder")
    parser.add_argument("--model2vec", default="runs/peers/model2vec", help="folder")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--only", help="names of sets, separated by commas")
    parser.add_argument("--out", type=Path, help="JSON file of results; keeps others in it")
    arguments = parser.parse_args()
    models = {"MiniLM": arguments.minilm, "model2vec": arguments.model2vec}
    names = arguments.only or ",".join(sets_of(arguments.sets))
    out = arguments.out
    results = json.loads(out.read_text(encoding="utf-8")) if out and out.is_file() else {}
    for peer in arguments.peers.split(","):
        python = sys.executable if peer in OURS else arguments.peer_python
        command = [python, __file__, "--child", peer, models.get(peer, "english")]
        # Threads that wait for work would count as processor time.
        done = subprocess.run(
            [*command, str(arguments.sets), names], text=True, capture_output=True, check=False,
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )  # fmt: skip
        if done.returncode:
            reason = done.stderr.strip().rpartition("\n")[2]
            print(f"{peer} is left out: {reason or done.returncode}", file=sys.stderr)
        for line in done.stdout.splitlines():
            results.setdefault(peer, {}).update(json.loads(line))
        if out is not None:
            out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(tables({peer: results[peer] for peer in PEERS if peer in results}))
    common.finish("jobs", means(results), arguments)


if __name__ == "__main__":
    child(*sys.argv[2:]) if sys.argv[1:2] == ["--child"] else main()

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
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, precision_recall_curve, v_measure_score
from sklearn.preprocessing import normalize

#: Searches for the k best rows of queries; returns rows and scores, both `(num_queries, k)`.
Search = Callable[[list[str], int], tuple[np.ndarray, np.ndarray]]
#: Returns a matrix of vectors, dense or sparse.
Encode = Callable[[list[str]], Any]

EXAMPLES = 5
SEEDS = range(5)


# This package.


def search(model: str) -> tuple[Callable[[list[str]], Search], None]:
    """Returns `TextIndex` with its defaults."""
    from tf_charagram.search import TextIndex

    return lambda texts: TextIndex(texts, model=model).search, None


# Peers with vectors: `fit(texts)` returns `encode`.


def package(name: str) -> Callable:
    """Returns a maker of a model of `packages.py`."""

    def make(model: str) -> tuple[Callable, Callable]:
        from packages import PACKAGES

        encode = PACKAGES[name](model, "sentences")
        encode(["a text that loads everything"] * 100)
        return by_cosine(lambda texts: encode)

    return make


def unisim(model: str) -> tuple[Callable, Callable]:
    """Returns RETSim, whose weights are in the package."""
    from unisim import TextSim

    encode = TextSim().embed
    return by_cosine(lambda texts: encode)


def tfidf(**settings: Any) -> Callable:
    """Returns a maker of tf-idf, fitted on the texts that are searched."""
    return lambda model: by_cosine(
        lambda texts: TfidfVectorizer(sublinear_tf=True, **settings).fit(texts).transform
    )


def by_cosine(fit: Callable[[list[str]], Encode]) -> tuple[Callable, Callable]:
    """Returns an exact search by the cosine of vectors, and the function that fits them."""

    def index(texts: list[str]) -> Search:
        encode = fit(texts)
        known = normalize(encode(texts))

        def find(queries: list[str], k: int) -> tuple[np.ndarray, np.ndarray]:
            cosines = normalize(encode(queries)) @ known.T
            return best(cosines.toarray() if issparse(cosines) else cosines, k)

        return find

    return index, fit


# Peers that only score.


def bm25(model: str) -> tuple[Callable, None]:
    """Returns BM25 of words with the defaults of bm25s."""
    import bm25s

    def words(texts: list[str]) -> list[list[str]]:
        return bm25s.tokenize(texts, return_ids=False, show_progress=False)

    def index(texts: list[str]) -> Search:
        ranker = bm25s.BM25()
        ranker.index(words(texts), show_progress=False)
        return lambda queries, k: ranker.retrieve(words(queries), k=k, show_progress=False)

    return index, None


def rapidfuzz(model: str) -> tuple[Callable, None]:
    """Returns `token_set_ratio` of lowercase text without punctuation."""
    from rapidfuzz import fuzz, process, utils

    def index(texts: list[str]) -> Search:
        known = list(map(utils.default_process, texts))

        def find(queries: list[str], k: int) -> tuple[np.ndarray, np.ndarray]:
            wanted = list(map(utils.default_process, queries))
            return best(process.cdist(wanted, known, scorer=fuzz.token_set_ratio), k)

        return find

    return index, None


def best(scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the columns of the `k` largest numbers of each row, largest first, and these."""
    rows = np.sort(np.argpartition(-scores, min(k, scores.shape[1]) - 1, axis=1)[:, :k], axis=1)
    scores = np.take_along_axis(scores, rows, axis=1)
    order = np.argsort(-scores, axis=1, kind="stable")
    return np.take_along_axis(rows, order, axis=1), np.take_along_axis(scores, order, axis=1)


PEERS: dict[str, Callable] = {
    "search": search, "english": package("charagram"),
    "tfidf-chars": tfidf(analyzer="char_wb", ngram_range=(2, 4)), "tfidf-words": tfidf(),
    "BM25": bm25, "rapidfuzz": rapidfuzz, "MiniLM": package("sentence-transformers"),
    "model2vec": package("model2vec"), "unisim": unisim,
}  # fmt: skip
OURS = ("search", "english")


# Jobs: each returns its scores by name.


def recalls(folder: Path, name: str, index: Callable, fit: Callable) -> dict[str, float]:
    """Searches a corpus for the right rows of each query."""
    corpus = [text for [text] in read(folder / f"{name}.corpus.tsv")]
    right, clean, typos = zip(*read(folder / f"{name}.queries.tsv"), strict=True)
    right_rows = [np.fromstring(rows, int, sep=",") for rows in right]
    start = time.process_time()
    find = index(corpus)
    middle = time.process_time()
    found = {"clean": find(list(clean), 10)[0]}
    scores = {"index s": middle - start, "search s": time.process_time() - middle}
    found["typos"] = find(list(typos), 10)[0]
    for kind, rows in found.items():
        is_right = np.array([np.isin(*each) for each in zip(rows, right_rows, strict=True)])
        scores[f"{kind} at 1"] = 100 * is_right[:, 0].mean()
        scores[f"{kind} at 10"] = 100 * is_right.any(axis=1).mean()
    return scores


def pair_f1(folder: Path, name: str, index: Callable, fit: Callable) -> dict[str, float]:
    """Tells pairs that are the same from others by a threshold of their score."""
    train, test = (read(folder / f"{name}.{part}.tsv") for part in ("train", "test"))
    texts = list(dict.fromkeys(row[2] for row in (*train, *test)))
    find, place = index(texts), {text: row for row, text in enumerate(texts)}

    def scores_of(rows: list[list[str]], left: int) -> np.ndarray:
        ranked, values = find([row[left] for row in rows], len(texts))
        wanted = np.array([[place[row[2]]] for row in rows])
        return values[ranked == wanted]

    labels, answers = (np.array([int(row[0]) for row in rows]) for rows in (train, test))
    precision, recall, thresholds = precision_recall_curve(labels, scores_of(train, 1))
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-9)
    threshold = thresholds[np.argmax(f1[:-1])]
    return {
        kind: 100 * f1_score(answers, scores_of(test, left) >= threshold)
        for kind, left in (("clean", 1), ("typos", 3))
    }


def intents(folder: Path, name: str, index: Callable, fit: Callable) -> dict[str, float]:
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


def topics(folder: Path, name: str, index: Callable, fit: Callable) -> dict[str, float]:
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


def sets_of(folder: Path) -> dict[str, Callable]:
    """Returns the job of each set of a folder."""
    kinds = {
        "*.corpus.tsv": recalls, "pairs-*.train.tsv": pair_f1, "intents-*.train.tsv": intents,
        "topics-*.tsv": topics,
    }  # fmt: skip
    return {
        path.name.split(".")[0]: job
        for pattern, job in kinds.items()
        for path in sorted(folder.glob(pattern))
    }


def child(peer: str, model: str, folder: str, names: str) -> None:
    """Runs the jobs of one peer; prints a line of JSON per set."""
    index, fit = PEERS[peer](model)
    for name, job in sets_of(Path(folder)).items():
        if name in names.split(",") and (fit is not None or job in (recalls, pair_f1)):
            scores = job(Path(folder), name, index, fit)
            print(json.dumps({name: {key: round(value, 2) for key, value in scores.items()}}))


# Tables.


def tables(results: dict[str, Any]) -> str:
    """Returns the results as tables of Markdown, a row per peer, cells of clean and typos."""
    searched = sorted({n for sets in results.values() for n in sets if "clean at 1" in sets[n]})
    others = sorted({n for sets in results.values() for n in sets} - set(searched))
    parts = [
        table(f"recall at {k}", results, searched, f"clean at {k}", f"typos at {k}", mean=True)
        for k in (1, 10)
    ]
    parts.append(table("F1, accuracy, V-measure", results, others, "clean", "typos"))
    parts.append(table("seconds: index, search", results, searched, "index s", "search s"))
    return "\n\n".join(parts)


def table(
    title: str, results: dict[str, Any], names: list[str], *keys: str, mean: bool = False
) -> str:
    """Returns a table with a column per set, and the mean of those that have all."""
    head = [title, *names, *(["mean"] if mean else [])]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    for peer, sets in results.items():
        values = [[sets[name][key] for key in keys] for name in names if name in sets]
        cells = [
            " / ".join(f"{sets[name][key]:.1f}" for key in keys) if name in sets else ""
            for name in names
        ]
        if mean:
            is_full = len(values) == len(names)
            cells.append(" / ".join(f"{m:.1f}" for m in np.mean(values, axis=0)) if is_full else "")
        if values:
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
        done = subprocess.run(
            [*command, str(arguments.sets), names], text=True, capture_output=True, check=False
        )
        if done.returncode:
            reason = done.stderr.strip().rpartition("\n")[2]
            print(f"{peer} is left out: {reason or done.returncode}", file=sys.stderr)
            continue
        for line in done.stdout.splitlines():
            results.setdefault(peer, {}).update(json.loads(line))
        if out is not None:
            out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(tables({peer: results[peer] for peer in PEERS if peer in results}))
    common.finish("jobs", means(results), arguments)


if __name__ == "__main__":
    child(*sys.argv[2:]) if sys.argv[1:2] == ["--child"] else main()

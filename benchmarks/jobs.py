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
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, precision_recall_curve, v_measure_score
from sklearn.preprocessing import normalize

#: Returns the k best rows for each query, `(num_queries, k)`.
Search = Callable[[list[str], int], np.ndarray]
#: Returns the scores of pairs of left and right texts.
Score = Callable[[list[str], list[str]], np.ndarray]
#: Returns a matrix of vectors, dense or sparse.
Encode = Callable[[list[str]], Any]
#: Label (1 or 0), left text, right text.
Pairs = list[list[str]]

EXAMPLES = 5
SEEDS = range(5)


class Peer(NamedTuple):
    """One way to do the jobs; the parts that it lacks are `None`.

    Attributes:
        index: Returns the search in a list.
        compare: Returns the scores of pairs, for all texts and the labelled pairs.
        fit: Returns the function that embeds texts such as those given.
    """

    index: Callable[[list[str]], Search] | None = None
    compare: Callable[[list[str], Pairs], Score] | None = None
    fit: Callable[[list[str]], Encode] | None = None


# This package.


def search(model: str) -> Peer:
    """Returns `TextIndex` and `TextScorer` with their defaults."""
    from tf_charagram.models.embedder import TextEmbedder
    from tf_charagram.search import TextIndex, TextScorer

    embedder = TextEmbedder.load(model, folded=True)
    embedder.encode(["a text that loads everything"] * 100)

    def index(texts: list[str]) -> Search:
        built = TextIndex(texts, embedder)
        return lambda queries, k: np.array(
            [
                [hit.row for hit in hits] + [-1] * (k - len(hits))
                for hits in built.search(queries, k)
            ]
        )

    return Peer(index, lambda texts, labelled: TextScorer(texts, embedder).score)


def search_labels(model: str) -> Peer:
    """Returns a `TextScorer` that learns from labelled pairs."""
    from tf_charagram.search import TextScorer

    def compare(texts: list[str], labelled: Pairs) -> Score:
        scorer = TextScorer(texts, model)
        labels, left, right = zip(*labelled, strict=True)
        scorer.learn(left, right, map(int, labels))
        return scorer.score

    return Peer(compare=compare)


# Peers with vectors.


def package(name: str) -> Callable[[str], Peer]:
    """Returns a maker of a model of `packages.py`."""

    def make(model: str) -> Peer:
        from packages import PACKAGES

        encode = PACKAGES[name](model, "sentences")
        encode(["a text that loads everything"] * 100)
        return by_cosine(lambda texts: encode)

    return make


def unisim(model: str) -> Peer:
    """Returns RETSim, whose weights are in the package."""
    from unisim import TextSim

    encode = TextSim().embed
    return by_cosine(lambda texts: encode)


def tfidf(**settings: Any) -> Callable[[str], Peer]:
    """Returns a maker of tf-idf, fitted on the texts that are searched."""
    return lambda model: by_cosine(
        lambda texts: TfidfVectorizer(sublinear_tf=True, **settings).fit(texts).transform
    )


def by_cosine(fit: Callable[[list[str]], Encode]) -> Peer:
    """Returns the exact cosines of vectors."""

    def index(texts: list[str]) -> Search:
        encode = fit(texts)
        known = normalize(encode(texts))

        def find(queries: list[str], k: int) -> np.ndarray:
            cosines = normalize(encode(queries)) @ known.T
            return best(cosines.toarray() if issparse(cosines) else cosines, k)

        return find

    def compare(texts: list[str], labelled: Pairs) -> Score:
        encode = fit(texts)

        def score(left: list[str], right: list[str]) -> np.ndarray:
            one, other = normalize(encode(left)), normalize(encode(right))
            products = one.multiply(other) if issparse(one) else one * other
            return np.asarray(products.sum(axis=1)).ravel()

        return score

    return Peer(index, compare, fit)


# Peers that only score.


def bm25(model: str) -> Peer:
    """Returns BM25 of words with the defaults of bm25s."""
    import bm25s

    def words(texts: list[str]) -> list[list[str]]:
        return bm25s.tokenize(texts, return_ids=False, show_progress=False)

    def ranker(texts: list[str]) -> bm25s.BM25:
        made = bm25s.BM25()
        made.index(words(texts), show_progress=False)
        return made

    def index(texts: list[str]) -> Search:
        made = ranker(texts)
        return lambda queries, k: made.retrieve(words(queries), k=k, show_progress=False)[0]

    def compare(texts: list[str], labelled: Pairs) -> Score:
        made, rows = ranker(texts), {text: row for row, text in enumerate(texts)}
        return lambda left, right: np.array(
            [
                made.get_scores(query)[rows[text]]
                for query, text in zip(words(left), right, strict=True)
            ]
        )

    return Peer(index, compare)


def rapidfuzz(model: str) -> Peer:
    """Returns `token_set_ratio` of lowercase text without punctuation."""
    from rapidfuzz import fuzz, process, utils

    def plain(texts: list[str]) -> list[str]:
        return [utils.default_process(text) for text in texts]

    def index(texts: list[str]) -> Search:
        known = plain(texts)
        return lambda queries, k: best(
            process.cdist(plain(queries), known, scorer=fuzz.token_set_ratio), k
        )

    def score(left: list[str], right: list[str]) -> np.ndarray:
        return np.array([*map(fuzz.token_set_ratio, plain(left), plain(right))])

    return Peer(index, lambda texts, labelled: score)


def best(scores: np.ndarray, k: int) -> np.ndarray:
    """Returns the columns of the `k` largest numbers of each row, largest first."""
    rows = np.sort(np.argpartition(-scores, k - 1, axis=1)[:, :k], axis=1)
    order = np.argsort(-np.take_along_axis(scores, rows, axis=1), axis=1, kind="stable")
    return np.take_along_axis(rows, order, axis=1)


PEERS: dict[str, Callable[[str], Peer]] = {
    "search": search, "search-labels": search_labels, "english": package("charagram"),
    "tfidf-chars": tfidf(analyzer="char_wb", ngram_range=(2, 4)), "tfidf-words": tfidf(),
    "BM25": bm25, "rapidfuzz": rapidfuzz, "MiniLM": package("sentence-transformers"),
    "model2vec": package("model2vec"), "unisim": unisim,
}  # fmt: skip
OURS = ("search", "search-labels", "english")


# Jobs: each takes the part of a peer that it needs, and returns scores by name.


def recalls(folder: Path, name: str, index: Callable[[list[str]], Search]) -> dict[str, float]:
    """Searches a corpus for the right rows of each query."""
    corpus = [text for [text] in read(folder / f"{name}.corpus.tsv")]
    right, clean, typos = zip(*read(folder / f"{name}.queries.tsv"), strict=True)
    right_rows = [np.fromstring(rows, int, sep=",") for rows in right]
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
            print(json.dumps({each: {key: round(value, 2) for key, value in scores.items()}}))


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

"""Vectors as features of a classifier that meets mistyped texts, beside tf-idf.

    python benchmarks/features.py --train sst.binary.train.tsv --test sst.binary.test.tsv \
        english=charagram:english MiniLM=sentence-transformers:FOLDER@PYTHON

The files have a label and a text per line. Accuracy x 100 of a logistic regression (C = 10) with
100 and 500 examples, the mean of as many draws as rounds, and with all; on the test texts as they
are, and with three typing errors in each. tf-idf is that of words and word pairs. Models are named
as for `peers.py`.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import Any

import common
import numpy as np
from peers import embed
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from tf_charagram.data.typos import add_typos

NUM_EXAMPLES = (100, 500)
TYPOS = 3

#: Makes the features of examples and of several lists of texts, from the examples alone.
Features = Callable[[list[str], list[list[str]]], list[Any]]


def read(path: str) -> tuple[list[str], np.ndarray]:
    """Returns the texts and the labels of a file."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [row[1] for row in rows], np.array([row[0] for row in rows])


def tfidf(examples: list[str], tests: list[list[str]]) -> list[Any]:
    """Returns tf-idf of words and pairs of words, of the examples and of each list."""
    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    return [vectorizer.fit_transform(examples), *map(vectorizer.transform, tests)]


def looked_up(vectors: Callable[[list[str]], Any]) -> Features:
    """Returns a function that looks up vectors."""
    return lambda examples, tests: [vectors(texts) for texts in (examples, *tests)]


def main() -> None:
    """Runs the comparison."""
    parser = common.make_parser(__doc__, rounds=5)
    parser.add_argument("models", nargs="+", metavar="NAME=PACKAGE:MODEL[@PYTHON]")
    parser.add_argument("--train", required=True)
    parser.add_argument("--test", required=True)
    arguments = parser.parse_args()
    (texts, labels), (clean, answers) = read(arguments.train), read(arguments.test)
    random = np.random.default_rng(0)
    wrong = [add_typos(text, TYPOS, random) for text in clean]
    distinct = list(dict.fromkeys([*texts, *clean, *wrong]))
    features: dict[str, Features] = {"tf-idf": tfidf}
    for named in arguments.models:
        name, _, spec = named.partition("=")
        features[name] = looked_up(embed(spec, distinct, clean[:1])[0])
    draws = range(arguments.rounds)
    orders = [np.random.default_rng(draw).permutation(len(texts)) for draw in draws]
    choices = [[order[:number] for order in orders] for number in NUM_EXAMPLES]
    result: dict = {}
    for drawn in (*choices, [np.arange(len(texts))]):
        for name, of in features.items():
            accuracies = []
            for rows in drawn:
                examples, *tests = of([texts[row] for row in rows], [clean, wrong])
                model = LogisticRegression(C=10, max_iter=2000).fit(examples, labels[rows])
                accuracies.append([100 * model.score(test, answers) for test in tests])
            means = np.mean(accuracies, axis=0)
            result.setdefault(f"{len(drawn[0])} examples", {})[name] = {
                kind: common.Sample(column.tolist(), "points")
                for kind, column in zip(("clean", "typos"), np.transpose(accuracies), strict=True)
            }
            print(f"{len(drawn[0]):6} {name:16} {means[0]:5.1f} {means[1]:5.1f}", flush=True)
    common.finish("features", result, arguments)


if __name__ == "__main__":
    main()

"""Quality and speed of models of several packages, each in a process of its own.

    python benchmarks/peers.py --sets FOLDER --out models.json \
        english=charagram:english \
        MiniLM=sentence-transformers:FOLDER@PYTHON model2vec=model2vec:FOLDER@PYTHON

A model is NAME=PACKAGE:MODEL, and after an @ the interpreter that has its package. The scores are
the mean Pearson x 100 of the STS sets of the folder, clean and with two errors of each kind in the
right texts, and Spearman x 100 of its sets of words. Speed is texts per second over the STS
sentences, the median of the rounds, one process after the other; where they take turns is
`embed.py`. The result keeps other models of `--out`.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from packages import PACKAGES

if TYPE_CHECKING:
    from tf_charagram.data._tables.scored import ScoredPairs

TYPOS = 2


def child(package: str, model: str, folder: str, rounds: str) -> None:
    """Embeds the texts of a folder, and measures how fast."""
    texts = json.loads(Path(folder, "texts.json").read_text(encoding="utf-8"))
    timed = json.loads(Path(folder, "timed.json").read_text(encoding="utf-8"))
    start = time.perf_counter()
    encode = PACKAGES[package](model, "sentences")
    encode(["one text"])
    first = time.perf_counter() - start
    np.save(Path(folder, "vectors.npy"), np.asarray(encode(texts), np.float32))
    rates = []
    for _ in range(int(rounds)):
        begin = time.perf_counter()
        encode(timed)
        rates.append(len(timed) / (time.perf_counter() - begin))
    report: dict[str, float] = {"load_seconds": round(first, 2)}
    if rates:
        report["texts_per_second"] = round(statistics.median(rates))
    Path(folder, "speed.json").write_text(json.dumps(report), encoding="utf-8")


def embed(
    spec: str, texts: list[str], timed: list[str], rounds: int = 0
) -> tuple[Callable[[list[str]], Any], dict[str, float]]:
    """Returns a function that looks up unit-length vectors, and the speed, from a child process."""
    from tf_charagram.models._answers.vectors import unit_rows

    model, _, python = spec.partition("@")
    package, _, model = model.partition(":")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "texts.json").write_text(json.dumps(texts), encoding="utf-8")
        Path(folder, "timed.json").write_text(json.dumps(timed), encoding="utf-8")
        command = [python or sys.executable, __file__, "--child", package, model, folder]
        command.append(str(rounds))
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        vectors = unit_rows(np.load(Path(folder, "vectors.npy")))
        speed = json.loads(Path(folder, "speed.json").read_text(encoding="utf-8"))
    rows = {text: row for row, text in enumerate(texts)}
    return lambda wanted: vectors[[rows[text] for text in wanted]], speed


def scores_of(
    vectors: Callable[[list[str]], Any], sets: Mapping[str, list[ScoredPairs]]
) -> dict[str, Any]:
    """Returns the mean of each kind of sets, and under `sets` the scores of clean ones by name."""
    from tf_charagram.evaluation._scores.scores import score_cosines

    def score(pairs: ScoredPairs) -> float:
        left, right = vectors(pairs.left), vectors(pairs.right)
        return score_cosines(pairs, np.sum(left * right, axis=1)).value

    values = {kind: [score(pairs) for pairs in each] for kind, each in sets.items()}
    return {
        **{kind: round(statistics.mean(each), 2) for kind, each in values.items()},
        "sets": {
            pairs.name: round(value, 2)
            for kind in ("clean", "words")
            for pairs, value in zip(sets[kind], values[kind], strict=True)
        },
    }


def main() -> None:
    """Runs the comparison."""
    # Not needed by children, whose interpreter may lack this package.
    import common

    parser = common.make_parser(__doc__, rounds=5)
    parser.add_argument("models", nargs="+", metavar="NAME=PACKAGE:MODEL[@PYTHON]")
    parser.add_argument("--sets", required=True, help="folder of STS sets and sets of words")
    parser.add_argument("--out", help="JSON file of `picture.py` that gets the results, too")
    arguments = parser.parse_args()
    from tf_charagram.data.sets import evaluation_sets
    from tf_charagram.data.typos import KINDS, with_typos

    clean, words = (evaluation_sets(arguments.sets, kinds=(kind,)) for kind in ("sts", "wordsim"))
    wrong = {
        kind: [with_typos(pairs, typos, 0) for pairs in clean]
        for kind, typos in {"typos": TYPOS, **{kind: kind for kind in KINDS}}.items()
    }
    sets = {"clean": clean, **wrong, "words": words}
    sides = [side for each in sets.values() for pairs in each for side in (pairs.left, pairs.right)]
    texts = list(dict.fromkeys(text for side in sides for text in side))
    timed = [text for pairs in clean for text in (*pairs.left, *pairs.right)]
    out = Path(arguments.out) if arguments.out else None
    results = json.loads(out.read_text(encoding="utf-8")) if out and out.is_file() else {}
    scores: dict = {}
    for named in arguments.models:
        name, _, spec = named.partition("=")
        vectors, speed = embed(spec, texts, timed, arguments.rounds)
        results[name] = {**scores_of(vectors, sets), **speed, "dim": vectors(texts[:1]).shape[1]}
        means = {kind: results[name][kind] for kind in sets}
        scores[name] = {kind: common.Sample([mean], "points") for kind, mean in means.items()}
        if out is not None:
            out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        print(name, {**means, **speed}, flush=True)
    common.finish("peers", scores, arguments)


if __name__ == "__main__":
    child(*sys.argv[2:]) if sys.argv[1:2] == ["--child"] else main()

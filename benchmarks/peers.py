"""Quality and speed of models of several packages, each in a process of its own.

    python benchmarks/peers.py --sets FOLDER --out models.json \
        english=charagram:english \
        MiniLM=sentence-transformers:FOLDER@PYTHON model2vec=model2vec:FOLDER@PYTHON

A model is NAME=PACKAGE:MODEL, and after an @ the interpreter that has its package. The scores are
the mean Pearson x 100 of the STS sets of the folder, clean and with two typing errors in the right
texts, and Spearman x 100 of its sets of words. Speed is texts per second over the STS sentences,
the median of the rounds, one process after the other; where they take turns is `embed.py`. The
result keeps other models of `--out`.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from packages import PACKAGES

TYPOS = 2


def child(package: str, model: str, folder: str, rounds: str) -> None:
    """Embeds the texts of a folder, and measures how fast."""
    import numpy as np

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
) -> tuple[dict[str, Any], dict[str, float]]:
    """Returns the vector of each text, of unit length, and the speed, from a child process."""
    import numpy as np

    from tf_charagram.models.embedder import unit_rows

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
    return dict(zip(texts, vectors, strict=True)), speed


def scores_of(
    vectors: dict[str, Any], sentences: list[Any], words: list[Any], wrong: list[Any]
) -> dict[str, Any]:
    """Returns the means over the STS sets, and the score of each set."""
    import numpy as np

    from tf_charagram.evaluation.scores import score_cosines

    def score(pairs: Any) -> float:
        left, right = (
            np.stack([vectors[text] for text in side]) for side in (pairs.left, pairs.right)
        )
        return score_cosines(pairs, np.sum(left * right, axis=1)).value

    by_name = {pairs.name: score(pairs) for pairs in (*sentences, *words)}
    with_typos = {pairs.name: score(pairs) for pairs in wrong}
    return {
        "clean": round(statistics.mean(by_name[pairs.name] for pairs in sentences), 2),
        "typos": round(statistics.mean(with_typos.values()), 2),
        "sets": {name: round(value, 2) for name, value in by_name.items()},
        "sets_with_typos": {name: round(value, 2) for name, value in with_typos.items()},
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
    from tf_charagram.data.typos import with_typos

    sentences, words = (
        evaluation_sets(arguments.sets, kinds=(kind,)) for kind in ("sts", "wordsim")
    )
    wrong = [with_typos(pairs, TYPOS, 0) for pairs in sentences]
    sides = [side for pairs in (*sentences, *words, *wrong) for side in (pairs.left, pairs.right)]
    texts = list(dict.fromkeys(text for side in sides for text in side))
    timed = [text for pairs in sentences for text in (*pairs.left, *pairs.right)]
    out = Path(arguments.out) if arguments.out else None
    results = json.loads(out.read_text(encoding="utf-8")) if out and out.is_file() else {}
    scores: dict = {}
    for named in arguments.models:
        name, _, spec = named.partition("=")
        vectors, speed = embed(spec, texts, timed, arguments.rounds)
        dim = len(next(iter(vectors.values())))
        results[name] = {**scores_of(vectors, sentences, words, wrong), **speed, "dim": dim}
        scores[name] = {
            key: common.Sample([results[name][key]], "points") for key in ("clean", "typos")
        }
        if out is not None:
            out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        print(name, {key: results[name][key] for key in ("clean", "typos", *speed)}, flush=True)
    common.finish("peers", scores, arguments)


if __name__ == "__main__":
    child(*sys.argv[2:]) if sys.argv[1:2] == ["--child"] else main()

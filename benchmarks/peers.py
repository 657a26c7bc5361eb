"""Quality and speed of models of several packages, each in a process of its own.

    python benchmarks/peers.py --sets FOLDER --out models.json \
        english=charagram:english \
        MiniLM=sentence-transformers:FOLDER@PYTHON model2vec=model2vec:FOLDER@PYTHON

A model is NAME=PACKAGE:MODEL, and after an @ the interpreter that has its package. The scores are
the mean Pearson x 100 of the STS sets of the folder, clean and with two typing errors in the right
texts, and Spearman x 100 of its sets of words. Speed is texts per second over the STS sentences,
the median of five rounds, one process after the other; the result keeps other models of `--out`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROUNDS = 5
TYPOS = 2


def charagram(model: str) -> Callable[[list[str]], Any]:
    """Returns what embeds with a model of this package."""
    from tf_charagram.models.embedder import TextEmbedder

    return TextEmbedder.load(model, folded=True).encode


def sentence_transformers(model: str) -> Callable[[list[str]], Any]:
    """Returns what embeds with a model of sentence-transformers, in bfloat16, sorted by length."""
    from sentence_transformers import SentenceTransformer

    loaded = SentenceTransformer(model, model_kwargs={"dtype": "bfloat16"})

    def encode(texts: list[str]) -> Any:
        vectors = loaded.encode(texts, batch_size=32, convert_to_tensor=True)
        return vectors.float().numpy()

    return encode


def model2vec(model: str) -> Callable[[list[str]], Any]:
    """Returns what embeds with a model of model2vec."""
    from model2vec import StaticModel

    return StaticModel.from_pretrained(model).encode


def fasttext(model: str) -> Callable[[list[str]], Any]:
    """Returns what embeds with a model of fastText, of lower-cased text, one text at a time."""
    import fasttext
    import numpy as np

    loaded = fasttext.load_model(model)
    return lambda texts: np.stack([loaded.get_sentence_vector(text.lower()) for text in texts])


PACKAGES = {
    "charagram": charagram, "sentence-transformers": sentence_transformers,
    "model2vec": model2vec, "fasttext": fasttext,
}  # fmt: skip


def child(package: str, model: str, folder: str) -> None:
    """Embeds the texts of a folder, and measures how fast."""
    import numpy as np

    texts = json.loads(Path(folder, "texts.json").read_text(encoding="utf-8"))
    timed = json.loads(Path(folder, "timed.json").read_text(encoding="utf-8"))
    start = time.perf_counter()
    encode = PACKAGES[package](model)
    encode(["one text"])
    first = time.perf_counter() - start
    np.save(Path(folder, "vectors.npy"), np.asarray(encode(texts), np.float32))
    rates = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        encode(timed)
        rates.append(len(timed) / (time.perf_counter() - begin))
    report = {"texts_per_second": round(statistics.median(rates)), "load_seconds": round(first, 2)}
    Path(folder, "speed.json").write_text(json.dumps(report), encoding="utf-8")


def embed(spec: str, texts: list[str], timed: list[str]) -> tuple[dict[str, Any], dict[str, float]]:
    """Returns the vector of each text, of unit length, and the speed, from a child process."""
    import numpy as np

    from tf_charagram.models.embedder import unit_rows

    model, _, python = spec.partition("@")
    package, _, model = model.partition(":")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "texts.json").write_text(json.dumps(texts), encoding="utf-8")
        Path(folder, "timed.json").write_text(json.dumps(timed), encoding="utf-8")
        command = [python or sys.executable, __file__, "--child", package, model, folder]
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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="+", metavar="NAME=PACKAGE:MODEL[@PYTHON]")
    parser.add_argument("--sets", required=True, help="folder of STS sets and sets of words")
    parser.add_argument("--out", required=True, help="JSON file that gets the results")
    arguments = parser.parse_args()
    from tf_charagram.data.pipeline.typos import with_typos
    from tf_charagram.evaluation.sets import evaluation_sets

    sentences, words = (
        evaluation_sets(arguments.sets, kinds=(kind,)) for kind in ("sts", "wordsim")
    )
    wrong = [with_typos(pairs, TYPOS, 0) for pairs in sentences]
    sides = [side for pairs in (*sentences, *words, *wrong) for side in (pairs.left, pairs.right)]
    texts = list(dict.fromkeys(text for side in sides for text in side))
    timed = [text for pairs in sentences for text in (*pairs.left, *pairs.right)]
    out = Path(arguments.out)
    results = json.loads(out.read_text(encoding="utf-8")) if out.is_file() else {}
    for named in arguments.models:
        name, _, spec = named.partition("=")
        vectors, speed = embed(spec, texts, timed)
        dim = len(next(iter(vectors.values())))
        results[name] = {**scores_of(vectors, sentences, words, wrong), **speed, "dim": dim}
        out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        print(name, {key: results[name][key] for key in ("clean", "typos", *speed)}, flush=True)


if __name__ == "__main__":
    child(*sys.argv[2:]) if sys.argv[1:2] == ["--child"] else main()

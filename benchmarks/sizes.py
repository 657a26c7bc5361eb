"""Size of a SavedModel against its scores: fewer bits, fewer n-grams, fewer dimensions.

    python benchmarks/sizes.py MODEL --eval-data FOLDER

MODEL is a run of `charagram` with a vocabulary. Sizes are those of folders on disk. `measure` is
the mean of WS353 and the mean of STS, if both exist: the rule of `max_mb` was chosen
by. SL999 took no part in that.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import common
import numpy as np
import tensorflow as tf

from tf_charagram.data.sets import evaluation_sets
from tf_charagram.evaluation._scores.scores import score_sets
from tf_charagram.export._compression.options import ShrinkOptions
from tf_charagram.export._compression.shrinking import (
    can_project,
    fitting_options,
    saved_model_bytes,
    shrink,
)
from tf_charagram.models._storage.stored_tables import SERVED_DTYPES as DTYPES
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.vocabulary import NgramVocabulary

SHOWN = ("SL999", "WS353", "STS", "SICK.trial", "SICK.test")
BATCH, NUM_TEXTS = 1000, 20_000


def scores_of(embedder: TextEmbedder, sets: list) -> dict[str, float]:
    """Returns the scores to show, and `measure`."""
    values = {
        s.name: s.value for s in score_sets(lambda t: embedder.encode(t, normalize=True), sets)
    }
    scores = {name: values[name] for name in SHOWN if values.get(name) is not None}
    if {"WS353", "STS"} <= scores.keys():
        scores["measure"] = (scores["WS353"] + scores["STS"]) / 2
    return {name: round(value, 1) for name, value in scores.items()}


def by_count(embedder: TextEmbedder, options: ShrinkOptions) -> TextEmbedder:
    """Returns a smaller model that keeps the most frequent n-grams instead of those that matter."""
    vectorizer, encoder = embedder.vectorizer, embedder.encoder
    old = vectorizer.vocabulary
    rows = np.sort(np.argsort(-old.counts, kind="stable")[: options.max_ngrams])
    vocabulary = NgramVocabulary(old.orders, old.alphabet, old.keys[rows], old.counts[rows])
    fewer = type(encoder).from_config({**encoder.get_config(), "num_rows": len(rows)})
    fewer.set_weights([encoder.ngram_table.numpy()[rows], encoder.bias.numpy()])
    kept = vectorizer.with_parts(vocabulary, vectorizer.dictionary)
    return TextEmbedder(*shrink(kept, fewer, ShrinkOptions(options.dtype)))


def choices(embedder: TextEmbedder, budgets: list[float]) -> list[tuple[str, ShrinkOptions]]:
    """Returns name -> options: one change at a time, then budgets."""
    rows, dim = embedder.vectorizer.num_rows, embedder.dim
    named = [(name, ShrinkOptions(name)) for name in DTYPES]
    for share in (0.5, 0.35, 0.25, 0.15, 0.1, 0.05):
        kept = int(share * rows)
        named.append((f"{share:.0%} of the n-grams", ShrinkOptions("int8", max_ngrams=kept)))
    for share in (0.8, 0.65, 0.5, 0.33, 0.25) if can_project(embedder.encoder) else ():
        kept = int(share * dim)
        named.append((f"{share:.0%} of the dimensions", ShrinkOptions("int8", dim=kept)))
    for max_mb in budgets:
        options = fitting_options(embedder.vectorizer, embedder.encoder, max_mb)
        named.append((f"max_mb={max_mb:g}", options))
    return named


def measure_sizes(embedder: TextEmbedder, sets: list, budgets: list[float]) -> list[dict]:
    """Prints a table of sizes and scores; returns its rows."""
    rows: list[dict] = []
    for name, options in choices(embedder, budgets):
        small = TextEmbedder(*shrink(embedder.vectorizer, embedder.encoder, options))
        measured = {name: small}
        if name.endswith("of the n-grams"):
            measured[f"{name}, by count"] = by_count(embedder, options)
        for what, model in measured.items():
            size = saved_model_bytes(model.vectorizer, model.encoder)
            row = {
                "what": what, "dtype": options.dtype, "ngrams": model.vectorizer.num_rows,
                "dim": model.dim, "mb": round(size / 1e6, 1), **scores_of(model, sets),
            }  # fmt: skip
            if not rows:
                print("| " + " | ".join(row) + " |\n|" + "---|" * len(row), flush=True)
            print("| " + " | ".join(map(str, row.values())) + " |", flush=True)
            rows.append(row)
    return rows


def measure_rates(embedder: TextEmbedder, texts: list[str], rounds: int) -> dict:
    """Returns texts per second of the SavedModels, float32 first."""
    batches = [tf.constant(texts[i : i + BATCH]) for i in range(0, len(texts), BATCH)]
    runs, models = {}, []
    with tempfile.TemporaryDirectory() as folder:
        for name in DTYPES:
            options = ShrinkOptions(name)
            small = TextEmbedder(*shrink(embedder.vectorizer, embedder.encoder, options))
            small.export(Path(folder, name))
            models.append(tf.saved_model.load(str(Path(folder, name))))
            call = models[-1].signatures["serving_default"]
            runs[name] = lambda call=call: [call(texts=batch) for batch in batches]
        return common.compare(rounds, runs, len(texts), "texts/s")


def main() -> None:
    """Runs the benchmark."""
    parser = common.make_parser(__doc__, rounds=15)
    parser.add_argument("model", nargs="?", default="english")
    parser.add_argument("--eval-data", nargs="+", default=[str(common.SHARED / "sts")])
    parser.add_argument("--budgets", type=float, nargs="*", default=[100, 30, 20, 15])
    arguments = parser.parse_args()
    embedder = TextEmbedder.load(arguments.model)
    sets = [pairs for path in arguments.eval_data for pairs in evaluation_sets(path)]
    texts = list(dict.fromkeys(text for pairs in sets for text in (*pairs.left, *pairs.right)))
    samples = {
        "words": [t for t in texts if " " not in t],
        "sentences": [t for t in texts if " " in t],
    }
    rates = {}
    for kind, sample in samples.items():
        if sample:
            many = (sample * (NUM_TEXTS // len(sample) + 1))[:NUM_TEXTS]
            rates[kind] = measure_rates(embedder, many, arguments.rounds)
            print(f"{kind}: {rates[kind]}", flush=True)
    sizes = measure_sizes(embedder, sets, arguments.budgets)
    result = {
        row["what"]: {"size": common.Sample([row["mb"]], "MB")}
        | {name: common.Sample([row[name]], "points") for name in SHOWN if name in row}
        for row in sizes
    }
    common.finish("sizes", result | rates, arguments)


if __name__ == "__main__":
    main()

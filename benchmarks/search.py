"""Approximate search against exact search: recall@10, queries per second, build time.

    python benchmarks/search.py --model runs/mine [--data PAIRS]

The texts are those of a file of pairs. Half of the queries are such texts, half are such texts with
a typing error. Both searches embed the query and take one at a time; `faiss/exact` is a median of
ratios, since noise affects both. Recall counts those of the ten nearest that the index finds.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import common

from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.search.text_index import TextIndex

K = 10


def mistyped(text: str, rng: random.Random) -> str:
    """Returns a text with one character replaced."""
    position = rng.randrange(len(text))
    return text[:position] + rng.choice(common.LETTERS) + text[position + 1 :]


def main() -> None:
    """Runs the benchmark."""
    parser = common.make_parser(__doc__, data=common.WORDS, rounds=5)
    parser.add_argument("--model", default="english")
    parser.add_argument("--max-texts", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=200)
    arguments = parser.parse_args()
    rng = random.Random(0)
    texts = common.texts_of(common.word_pairs(arguments.data))[: arguments.max_texts]
    sample = rng.sample(texts, arguments.queries)
    queries = [text if i % 2 else mistyped(text, rng) for i, text in enumerate(sample)]

    embedder = TextEmbedder.load(arguments.model)
    vectors = TextEmbedder.load(arguments.model, folded=True).encode(texts, normalize=True)
    built: list[TextIndex] = []
    build_s = common.seconds(lambda: built.append(TextIndex.build(arguments.model, texts)))
    with tempfile.TemporaryDirectory() as folder:
        index_folder = Path(folder) / "index"
        built[0].save(index_folder)
        megabytes = sum(file.stat().st_size for file in index_folder.iterdir()) / 1e6
        index = TextIndex.load(index_folder, arguments.model)
    result: dict = {
        "num_texts": len(texts), "dim": embedder.dim, "build": common.Sample([build_s], "s"),
        "index": common.Sample([megabytes], "MB"),
    }  # fmt: skip
    print(result, flush=True)

    hits = 0
    for query, exact in zip(queries, embedder.neighbors(queries, texts, K, vectors), strict=True):
        found = index.neighbors(query, K)
        hits += len({one.row for one in exact} & {one.row for one in found})
    result["recall at 10"] = common.Sample([100 * hits / (K * len(queries))], "%")
    runs = {
        "faiss": lambda: [index.neighbors(query, K) for query in queries],
        "exact": lambda: [embedder.neighbors(query, texts, K, vectors) for query in queries],
    }
    result |= common.compare(arguments.rounds, runs, len(queries), "queries/s")
    common.finish("search", result, arguments)


if __name__ == "__main__":
    main()

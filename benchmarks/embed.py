"""Texts per second of a SavedModel and of `encode`, against fastText's Python calls.

    python benchmarks/embed.py [--lines FILE]

Both have 300 dimensions. fastText is trained for one epoch on the same words, only for its tables;
its calls take one text at a time. The SavedModel gets batches of 1,000 from one thread.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import common
import tensorflow as tf

from tf_charagram.config import ParaphraseConfig
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.training.building import make_vectorizer

BATCH = 1000


def fasttext_model(fasttext, words: list[str], folder: str):
    """Returns a fastText model with 300 dimensions over these words."""
    lines = Path(folder) / "words.txt"
    lines.write_text("\n".join(words), encoding="utf-8")
    return fasttext.train_unsupervised(
        str(lines), dim=300, epoch=1, minCount=1, minn=2, maxn=4, bucket=200_000, verbose=0
    )


def sentences(words: list[str], number: int, length: int = 56) -> list[str]:
    """Returns made-up sentences of about `length` characters."""
    rng = random.Random(0)
    texts = []
    for _ in range(number):
        sentence = rng.choice(words)
        while len(sentence) < length - 4:
            sentence += " " + rng.choice(words)
        texts.append(sentence)
    return texts


def main() -> None:
    """Runs the benchmark."""
    parser = common.make_parser(__doc__, data=common.WORDS)
    parser.add_argument("--number", type=int, default=30_000)
    arguments = parser.parse_args()
    texts = common.texts_of(common.word_pairs(arguments.data))
    words = [word for word in texts if " " not in word]
    fasttext = common.optional("fasttext")
    vectorizer = make_vectorizer(ParaphraseConfig(), texts)
    embedder = TextEmbedder(vectorizer, Charagram(num_rows=vectorizer.num_rows)).folded()
    result: dict = {"num_rows": vectorizer.num_rows}
    with tempfile.TemporaryDirectory() as folder:
        embedder.export(f"{folder}/saved_model")
        served = tf.saved_model.load(f"{folder}/saved_model").signatures["serving_default"]
        peer = fasttext_model(fasttext, words, folder) if fasttext else None
        samples = {
            "words": (random.Random(1).sample(words, arguments.number), "get_word_vector"),
            "sentences": (sentences(words, arguments.number // 3), "get_sentence_vector"),
        }
        for kind, (texts, call) in samples.items():
            batches = [tf.constant(texts[i : i + BATCH]) for i in range(0, len(texts), BATCH)]
            runs = {
                "saved_model": lambda batches=batches: [served(texts=batch) for batch in batches],
                "encode": lambda texts=texts: embedder.encode(texts, batch_size=BATCH),
            }
            if peer is not None:
                function = getattr(peer, call)
                runs["fasttext"] = lambda texts=texts, f=function: [f(text) for text in texts]
            for run in runs.values():
                run()
            rates = common.compare(arguments.rounds, runs, len(texts))
            if peer is not None:
                rates["encode/fasttext"] = round(rates["encode"] / rates["fasttext"], 2)
            print(f"{kind}: {rates} (texts/s)", flush=True)
            result[kind] = rates
    common.finish("embed", result)


if __name__ == "__main__":
    main()

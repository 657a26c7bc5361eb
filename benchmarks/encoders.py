"""Whole `fit` of several encoders against plain PyTorch twins on the same batches.

    python benchmarks/encoders.py [--encoders charagram,word_average,cse,char_lstm]

Sentences, 100 pairs per batch, 300 dimensions, margin loss with the most similar text of the batch.
Without a folder of tab-separated sentence pairs, texts are made up. PyTorch has no LSTM with
peepholes, so `char_lstm`, on texts of 60 characters, runs against itself without them: around
`keras.layers.LSTM`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import common
import fitting
import keras
import numpy as np
import processes
import tensorflow as tf
import twins

from tf_charagram.data.readers.pairs import Pair
from tf_charagram.encoders import encoder_class
from tf_charagram.optimizers.registry import make_optimizer
from tf_charagram.tasks.paraphrase._corpus.pair_stream import Pairs, PairStream
from tf_charagram.tasks.paraphrase.model import ParaphraseModel
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.training._loop.building import make_vectorizer
from tf_charagram.training._loop.loop import STEPS_PER_EXECUTION

BATCH, DIM = 100, 300
#: Files to take sentences from, and how many of each; together about 214 n-grams per sentence.
FILES = {
    "wikisplit-tune-val-test.tsv": 500,
    "bible-web-bbe.tsv": 3_000,
    "flickr30k-captions.tsv": 28_500,
}
NUM_CHARS, ALPHABET = 60, 60


def sentence_pairs(folder: Path) -> list[Pair]:
    """Returns sentences of the folder, or made-up ones of as many characters."""
    rng = random.Random(0)
    if all((folder / name).is_file() for name in FILES):
        pairs = [
            pair
            for name, number in FILES.items()
            for pair in rng.sample(common.word_pairs(str(folder / name)), number)
        ]
    else:
        words = ["".join(rng.choices(common.LETTERS, k=rng.randint(2, 9))) for _ in range(30_000)]
        ranks = np.minimum(np.random.default_rng(0).zipf(1.3, 800_000) - 1, len(words) - 1)
        drawn = iter(words[rank] for rank in ranks)
        texts = [" ".join(next(drawn) for _ in range(12)) for _ in range(64_000)]
        pairs = list(zip(texts[::2], texts[1::2], strict=True))
    rng.shuffle(pairs)
    return pairs


def fit(encoder: keras.layers.Layer, stream: PairStream, steps: int) -> Callable[[], None]:
    """Returns a function that trains an encoder for `steps` steps."""
    model = ParaphraseModel(encoder)
    model.compile(
        make_optimizer("adam", 0.001), margin=twins.MARGIN, steps_per_execution=STEPS_PER_EXECUTION
    )
    return lambda: fitting.train(model, stream, steps)


def against_torch(
    name: str, pairs: list[Pair], torch_python: str | None, steps: int, rounds: int
) -> dict:
    """Returns the rates of an encoder and its twin."""
    vectorizer = make_vectorizer(ParaphraseConfig(encoder=name), common.texts_of(pairs))
    ids = fitting.ids_of(pairs, vectorizer)
    num_rows, encoder_type = vectorizer.num_rows, encoder_class(name)
    stream = PairStream(
        len(pairs), lambda: ids,
        batch_size=BATCH, bucket_by_length=getattr(encoder_type, "is_padded", False),
    )  # fmt: skip
    ours = fit(encoder_type(num_rows=num_rows, dim=DIM), stream, steps)
    kind = {"cse": "cse", "charagram": "sum"}.get(name, "mean")
    twin = (torch_python, kind, num_rows, DIM, stream, steps) if torch_python else None
    rates = twins.compare(rounds, ours, twin, steps * BATCH)
    ids_per_text = round(ids.ids.values.shape[0] / (2 * len(pairs)), 1)
    return {"num_rows": num_rows, "ids_per_text": ids_per_text, **rates}


def against_keras(steps: int, rounds: int) -> dict:
    """Returns the rates of `char_lstm`, and of the same around the LSTM of Keras."""
    rng = np.random.default_rng(0)
    num_texts = 2 * BATCH * 20
    ids = tf.constant(rng.integers(1, ALPHABET, num_texts * NUM_CHARS), tf.int32)
    splits = tf.range(num_texts + 1, dtype=tf.int64) * NUM_CHARS
    ragged = tf.RaggedTensor.from_row_splits(ids, splits)
    pairs = Pairs(ragged, tf.range(num_texts, dtype=tf.int64))
    stream = PairStream(num_texts // 2, lambda: pairs, batch_size=BATCH)
    lstm, sizes = encoder_class("char_lstm"), {"num_rows": ALPHABET, "dim": DIM}
    runs = {
        "ours": fit(lstm(**sizes), stream, steps),
        "keras": fit(lstm(**sizes, use_peepholes=False), stream, steps),
    }
    return common.compare(rounds, runs, steps * BATCH, "pairs/s")


def main() -> None:
    """Runs the benchmark."""
    parser = common.make_parser(__doc__, peers=True)
    parser.add_argument("--data", default=str(common.SHARED / "sentences"), help="folder")
    parser.add_argument("--encoders", default="charagram,word_average,cse,char_lstm")
    parser.add_argument("--steps", type=int, default=300, help="of charagram and word_average")
    parser.add_argument("--cse-steps", type=int, default=30)
    parser.add_argument("--lstm-steps", type=int, default=5)
    arguments = parser.parse_args()
    pairs = sentence_pairs(Path(arguments.data))
    found, facts = processes.peer_facts(arguments.peer_python, {"PyTorch": "torch"})
    python = arguments.peer_python if "torch" in found else None
    result: dict = dict(facts)
    for name in arguments.encoders.split(","):
        if name == "char_lstm":
            result[name] = against_keras(arguments.lstm_steps, arguments.rounds)
        else:
            steps = arguments.cse_steps if name == "cse" else arguments.steps
            result[name] = against_torch(name, pairs, python, steps, arguments.rounds)
        print(f"{name}: {result[name]}", flush=True)
    common.finish("encoders", result, arguments)


if __name__ == "__main__":
    tf.get_logger().setLevel("ERROR")
    main()

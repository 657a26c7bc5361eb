"""Whole `fit` of the paraphrase model against Keras' Adam and a PyTorch twin, same batches.

python benchmarks/train_step.py [--data PAIRS] [--batch-sizes 25,50,100]
"""

from __future__ import annotations

import argparse

import common
import keras
import numpy as np
import tensorflow as tf

from tf_charagram.config import TrainConfig
from tf_charagram.data.stream import PairStream
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.models.paraphrase import ParaphraseModel
from tf_charagram.optimizers import make_optimizer
from tf_charagram.training.building import make_vectorizer, vectorize
from tf_charagram.training.loop import STEPS_PER_EXECUTION

DIM, MARGIN = 300, 0.4


def fit(num_rows: int, optimizer: keras.optimizers.Optimizer, stream: PairStream, steps: int):
    """Returns a function that trains for so many steps, and has done so once."""
    model = ParaphraseModel(Charagram(num_rows=num_rows, dim=DIM))
    model.compile(optimizer, margin=MARGIN, steps_per_execution=STEPS_PER_EXECUTION)

    def run() -> None:
        first = int(model.step.numpy())
        model.fit(stream.dataset(first, steps), verbose=0, shuffle=False)

    run()
    return run


def torch_fit(torch, num_rows: int, batches: list):
    """Returns the same for PyTorch: `EmbeddingBag(sparse=True)`, `SparseAdam`, same loss."""
    torch.set_num_threads(2)
    bag = torch.nn.EmbeddingBag(num_rows, DIM, mode="sum", sparse=True)
    torch.nn.init.uniform_(bag.weight, -0.05, 0.05)
    optimizer = torch.optim.SparseAdam(bag.parameters(), lr=0.001)
    tensors = [tuple(map(torch.from_numpy, batch)) for batch in batches]

    def run() -> None:
        for ids, offsets, keys in tensors:
            pairs = len(keys) // 2
            vectors = torch.nn.functional.normalize(bag(ids, offsets), dim=1)
            with torch.no_grad():
                cosines = vectors @ vectors.T
                partners = torch.cat([keys[pairs:], keys[:pairs]])
                same = (keys[:, None] == keys) | (partners[:, None] == keys)
                negatives = cosines.masked_fill(same, -2).argmax(dim=1)
            positive = (vectors[:pairs] * vectors[pairs:]).sum(dim=1).repeat(2)
            negative = (vectors * vectors[negatives]).sum(dim=1)
            loss = torch.relu(MARGIN - positive + negative).sum() / pairs
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    run()
    return run


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = common.SHARED / "words" / "ppdb-xl-lexical.tsv"
    parser.add_argument("--data", default=str(default) if default.is_file() else None)
    parser.add_argument("--batch-sizes", default="25,50,100")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--keras-steps", type=int, default=20)
    arguments = parser.parse_args()
    corpus = common.corpus(arguments.data)
    vectorizer = make_vectorizer(TrainConfig(), corpus.texts)
    ids, keys = vectorize(vectorizer, corpus.texts), corpus.text_keys()
    torch = common.optional("torch")
    result = {"num_rows": vectorizer.num_rows, "dim": DIM}
    for size in map(int, arguments.batch_sizes.split(",")):
        stream = PairStream(ids, keys, corpus.left, corpus.right, batch_size=size)
        optimizer = make_optimizer("adam", 0.001)
        runs = {"ours": fit(vectorizer.num_rows, optimizer, stream, arguments.steps)}
        if torch is not None:
            batches = [
                (b.values.numpy(), b.row_splits.numpy()[:-1].astype(np.int32), k.numpy())
                for b, k in stream.dataset(0, arguments.steps)
            ]
            runs["torch"] = torch_fit(torch, vectorizer.num_rows, batches)
        rates = common.compare(arguments.rounds, runs, arguments.steps * size)
        slow = fit(vectorizer.num_rows, keras.optimizers.Adam(0.001), stream, arguments.keras_steps)
        keras_times = [common.seconds(slow) for _ in range(3)]
        rates["keras"] = round(arguments.keras_steps * size / float(np.median(keras_times)), 1)
        rates["ours/keras"] = round(rates["ours"] / rates["keras"], 2)
        print(f"batch {size}: {rates} (pairs/s)", flush=True)
        result[f"batch_{size}"] = rates
    common.finish("train_step", result)


if __name__ == "__main__":
    tf.get_logger().setLevel("ERROR")
    main()

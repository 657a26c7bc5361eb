"""Whole `fit` of the paraphrase model against Keras' Adam and a PyTorch twin, same batches.

    python benchmarks/train_step.py [--data PAIRS] [--batch-sizes 25,50,100] [--peer-python PYTHON]

Each is a process of its own. Ours, and Keras' Adam, have the threads that `charagram train` chooses
unless `--threads` says otherwise; PyTorch gets one thread or two, whichever it is faster with.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import common
import processes
from processes import Contender

DIM = 300


def child(size: str, num_pairs: str, keras_steps: str, threads: str, data: str, file: str) -> None:
    """Trains for some steps each time, as `"ours"` or with `"keras"`, the Adam of Keras.

    Args:
        size: Pairs per batch.
        num_pairs: Pairs per call.
        keras_steps: Steps per call with Keras' Adam.
        threads: Threads of an operation, 0 for the default.
        data: File of pairs, or nothing for made-up ones.
        file: Where to write the batches for the twin, or nothing.
    """
    answers = processes.protocol_file()
    import fitting
    import keras
    import tensorflow as tf
    import twins

    from tf_charagram.encoders.charagram import Charagram
    from tf_charagram.optimizers.registry import make_optimizer
    from tf_charagram.tasks.paraphrase._corpus.pair_stream import PairStream
    from tf_charagram.tasks.paraphrase.model import ParaphraseModel
    from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
    from tf_charagram.training._loop.building import make_vectorizer
    from tf_charagram.training._loop.loop import STEPS_PER_EXECUTION
    from tf_charagram.training._loop.processor import limit_threads, set_threads

    config = ParaphraseConfig(batch_size=int(size))
    set_threads(config)
    limit_threads(int(threads) or None)
    pairs = common.word_pairs(data or None)
    vectorizer = make_vectorizer(config, common.texts_of(pairs))
    ids = fitting.ids_of(pairs, vectorizer)
    stream = PairStream(len(pairs), lambda: ids, batch_size=int(size))
    steps = {"ours": int(num_pairs) // int(size), "keras": int(keras_steps)}
    if file:
        twins.write_batches(file, stream, steps["ours"])
    optimizers = {"ours": make_optimizer("adam", 0.001), "keras": keras.optimizers.Adam(0.001)}
    models = {}
    for name, optimizer in optimizers.items():
        models[name] = ParaphraseModel(Charagram(num_rows=vectorizer.num_rows, dim=DIM))
        models[name].compile(
            optimizer, margin=twins.MARGIN, steps_per_execution=STEPS_PER_EXECUTION
        )
    facts = {
        "num_rows": vectorizer.num_rows, "steps": steps,
        "threads": tf.config.threading.get_intra_op_parallelism_threads(),
    }  # fmt: skip
    processes.serve(facts, lambda name: fitting.train(models[name], stream, steps[name]), answers)


def measure(size: int, arguments: argparse.Namespace, has_torch: bool) -> dict:
    """Returns the rates of one batch size."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        file = Path(folder, "batches.npz") if has_torch else ""
        settings = (size, arguments.pairs, arguments.keras_steps, arguments.threads)
        command = [sys.executable, __file__, "--child", *settings, arguments.data or "", file]
        ours = stack.enter_context(Contender(command))
        steps = ours.facts["steps"]
        runs = {"ours": lambda: ours("ours")}
        facts = {"num_rows": ours.facts["num_rows"], "threads": ours.facts["threads"]}
        if has_torch:
            import twins

            twin = twins.torch_twin(arguments.peer_python, "sum", ours.facts["num_rows"], DIM, file)
            runs["torch"] = stack.enter_context(twin)
            facts |= twin.facts
        runs["keras"] = lambda: ours("keras")
        work = {name: size * steps.get(name, steps["ours"]) for name in runs}
        return facts | common.compare(arguments.rounds, runs, work, "pairs/s")


def main() -> None:
    """Runs the benchmark."""
    parser = common.make_parser(__doc__, data=common.WORDS, peers=True)
    parser.add_argument("--batch-sizes", default="25,50,100")
    parser.add_argument("--pairs", type=int, default=40_000, help="pairs per call of `fit`")
    parser.add_argument("--keras-steps", type=int, default=10)
    parser.add_argument("--threads", type=int, default=0, help="of an operation of ours")
    arguments = parser.parse_args()
    found, facts = processes.peer_facts(arguments.peer_python, {"PyTorch": "torch"})
    result: dict = {"dim": DIM, **facts}
    for size in map(int, arguments.batch_sizes.split(",")):
        result[f"batch {size}"] = measure(size, arguments, "torch" in found)
        print(f"batch {size}: {result[f'batch {size}']}", flush=True)
    common.finish("train_step", result, arguments)


if __name__ == "__main__":
    child(*sys.argv[2:]) if sys.argv[1:2] == ["--child"] else main()

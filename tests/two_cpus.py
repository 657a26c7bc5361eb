"""Turns texts into ids and vectors in device scopes of `CPU:1`; `test_devices.py` runs it.

The second CPU stands for a GPU. Callers enter its scope, and so do the threads of the package,
which on a machine with a GPU start there. The log, on standard error, says where each operation
runs; standard output has what differs from the results without a scope.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import tensorflow as tf

from tests.text.kinds import KINDS, TEXTS
from tests.text.strategies import CJK_126
from tests.texts import NASTY, words
from tf_charagram import NgramVectorizer, TextEmbedder
from tf_charagram.encoders import encoder_class
from tf_charagram.layers._ops.ragged import gather_padded, gather_rows, sum_rows
from tf_charagram.models._storage import model_folder
from tf_charagram.search import TextIndex, deduplicate, match
from tf_charagram.tasks.paraphrase._corpus.corpus import Example
from tf_charagram.tasks.paraphrase._corpus.pair_stream import write_pairs
from tf_charagram.tasks.tagging.head import has_capital
from tf_charagram.text import vectorizer_class
from tf_charagram.text._algorithm import batches
from tf_charagram.text._algorithm.tensors import ids_function, string_tensor
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text._spelling.word_filter import WordFilter
from tf_charagram.text.splitting import split_tokens
from tf_charagram.text.vocabulary import NgramVocabulary

SECOND = "CPU:1"
WORDS = words(300)
RAW = [*TEXTS, "the cat sat", *(text for name, text in NASTY.items() if "long" not in name)]
LINES = [text for text in RAW if isinstance(text, str)]
CHECKED = ("mixed", "longest", "hash", "one form", "characters", "words")
NUM_CALLERS = 2


class ThreadsInScope(ThreadPoolExecutor):
    """Threads that start in the scope."""

    def __init__(self, number: int) -> None:
        super().__init__(number, initializer=lambda: tf.device(SECOND).__enter__())


def say(phase: str) -> None:
    """Writes the name of a phase into the log."""
    print(f"phase: {phase}", file=sys.stderr, flush=True)


def save_models(folder: Path) -> None:
    """Saves a model for each way from ids to vectors, in folders named like their encoders."""
    for name in ("charagram", "word_average", "char_cnn"):
        encoder = encoder_class(name)
        vectorizer = vectorizer_class(encoder.vectorizer).from_texts([*WORDS, "cat"])
        if name == "charagram":
            dictionary = Dictionary({"cats": 5, "doggy": 1}, WordFilter.from_words(["doggo"]))
            vectorizer = vectorizer.with_parts(vectorizer.vocabulary, dictionary)
        embedder = TextEmbedder(vectorizer, encoder(num_rows=vectorizer.num_rows, dim=6))
        embedder.save(folder / name)


def results(folder: Path, graphs: dict[str, Callable]) -> Iterator[tuple[str, Any]]:
    """Yields name and value of results of all that turns texts into ids; some are devices.

    Args:
        folder: Folder of `save_models`.
        graphs: Kind -> compiled vectorizer.
    """
    texts = string_tensor(RAW)
    for kind, graph in graphs.items():
        vectorizer = KINDS[kind](TEXTS)
        ids = vectorizer(texts)
        yield f"device of {kind}", {ids.values.device, ids.row_splits.device}
        yield kind, (ids.to_list(), {name: a.tolist() for name, a in vectorizer.state().items()})
        yield f"{kind} of an array", vectorizer(np.array(["a cat"])).to_list()
        yield f"{kind} in a graph", graph(LINES).to_list()
        yield f"{kind}, read", vectorizer.read_as(["catss doggx", "caf\u00e9"])
        if isinstance(vectorizer, NgramVectorizer):
            yield f"{kind}, known", vectorizer.known_share(texts).numpy().tolist()
            if not vectorizer.longest_only:
                yield f"{kind}, n-grams", vectorizer.ngrams("the cat")
        if kind != "hash":
            grown, rows = vectorizer.grown(KINDS[kind]([*TEXTS, "zebra"]))
            yield f"{kind}, grown", (rows.tolist(), grown(texts).to_list())
    vectorizer = NgramVectorizer(orders=(1, 4))
    vectorizer.adapt(string_tensor(WORDS))
    yield "adapted", vectorizer(texts).to_list()
    yield "filter", WordFilter.from_words(["doggo"]).bits.tolist()
    yield "mixed keys", NgramVocabulary.from_ngrams([*CJK_126, "abcdefgh"]).keys.tolist()
    yield "tokens", [part.to_list() for part in split_tokens(texts)]
    yield "capitals", has_capital(texts).numpy().tolist()

    for name in ("charagram", "word_average"):
        embedder = TextEmbedder.load(folder / name, folded=True, keep_words=["catz", "dogz"])
        yield f"{name}, few texts", embedder.encode(RAW).tobytes()
        yield f"{name}, many texts", embedder.encode(WORDS * 20).tobytes()
        yield f"{name}, cosines", embedder.similarity(["cat", "dog"], ["catz", "doggz"]).tolist()
        yield f"{name}, read", embedder.read_as(["catz catsz doggo"])

    embedder = TextEmbedder.load(folder / "charagram")
    typos = [f"{word}x" for word in WORDS[:9]]
    yield "found", TextIndex(WORDS, embedder).search(typos, k=3)
    yield "matched", match(typos, WORDS, embedder)
    yield "deduplicated", deduplicate([*WORDS[:50], *typos], embedder)
    examples = [Example(word, f"{word}s", (word, f"{word}s")) for word in WORDS]
    pairs = write_pairs(examples, ids_function(embedder.vectorizer), folder)
    yield "device of pairs", {pairs.ids.values.device, pairs.keys.device}
    yield "pairs", (pairs.ids.to_list(), pairs.keys.numpy().tolist())


def sums(function: Callable, table: tf.Tensor, rows: Any) -> list[Any]:
    """Returns sums of rows and their gradients, eager and in a graph."""

    def both() -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(table)
            found = function(table, rows)
        return tf.square(found), tape.gradient(found, table)

    return [tensor.numpy().tolist() for run in (both, tf.function(both)) for tensor in run()]


def main() -> None:
    """Prints what differs."""
    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    tf.debugging.set_log_device_placement(True)
    with TemporaryDirectory() as name, ThreadsInScope(NUM_CALLERS) as callers:
        folder = Path(name)
        save_models(folder)
        graphs = {kind: ids_function(KINDS[kind](TEXTS)) for kind in CHECKED}
        expected = dict(results(folder, graphs))
        differing: list[str] = []
        devices = {d for name, value in expected.items() if "device" in name for d in value}
        table = tf.random.stateless_normal([6, 2], [1, 2])
        ids = tf.ragged.constant([[1, 1, 5], [], [0]], tf.int32)
        all_rows = {sum_rows: ids, gather_rows: ids.values, gather_padded: ids.to_tensor()}
        summed = [sums(function, table, rows) for function, rows in all_rows.items()]
        padded = TextEmbedder.load(folder / "char_cnn").encode(WORDS)
        batches.ThreadPoolExecutor = model_folder.ThreadPoolExecutor = ThreadsInScope
        say("ids")
        for found in callers.map(lambda _: dict(results(folder, graphs)), range(NUM_CALLERS)):
            differing += [name for name, value in found.items() if value != expected[name]]
        say("sums")
        with tf.device(SECOND):
            again = [sums(function, table, rows) for function, rows in all_rows.items()]
        differing += [] if again == summed else ["sums"]
        say("padded")
        with tf.device(SECOND):
            vectors = TextEmbedder.load(folder / "char_cnn").encode(WORDS)
        differing += [] if np.array_equal(vectors, padded) else ["padded"]
        say("end")
    print(json.dumps({"differing": differing, "devices": sorted(devices)}))


if __name__ == "__main__":
    main()

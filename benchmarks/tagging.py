"""Training and serving of a part-of-speech tagger: distinct words against all, tokens per second.

    python benchmarks/tagging.py [--data FILE] [--encoder charagram]

A word is composed from its characters once per batch; the rival composes every token and is
otherwise the same. The SavedModel gets raw sentences from two threads, in batches in the order of
the file.
"""

from __future__ import annotations

import random
import tempfile
from concurrent.futures import ThreadPoolExecutor

import common
import numpy as np
import tensorflow as tf

from tf_charagram.optimizers.registry import make_optimizer
from tf_charagram.tasks.tagging._conllu.data import TaggedSentence, read_tagged
from tf_charagram.tasks.tagging.head import TaggingHead, has_capital
from tf_charagram.tasks.tagging.model import Tagger
from tf_charagram.tasks.tagging.settings import TaggingConfig
from tf_charagram.tasks.tagging.task import TaggingModel
from tf_charagram.training._loop.building import make_encoder, make_vectorizer


def made_up(number: int = 4_000) -> list[TaggedSentence]:
    """Returns sentences of made-up words, some frequent and many not."""
    rng = random.Random(0)
    words = ["".join(rng.choices(common.LETTERS, k=rng.randint(1, 12))) for _ in range(20_000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    sentences = []
    for _ in range(number):
        chosen = rng.choices(words, weights, k=rng.randint(1, 32))
        sentences.append(TaggedSentence(tuple(chosen), tuple(f"T{len(word)}" for word in chosen)))
    return sentences


def batches_of(tagger: Tagger, sentences: list[TaggedSentence], size: int, distinct: bool):
    """Returns the batches of one pass, as `TaggingModel` takes them, sorted by length."""
    labels = {tag: i for i, tag in enumerate(tagger.tags)}
    ordered = sorted(sentences, key=lambda sentence: len(sentence.words))
    batches = []
    for start in range(0, len(ordered) - size + 1, size):
        chosen = ordered[start : start + size]
        words = [word for sentence in chosen for word in sentence.words]
        if distinct:
            composed, positions_of_words = np.unique(words, return_inverse=True)
        else:
            composed, positions_of_words = np.array(words), np.arange(len(words))
        texts = tf.constant([word.encode() for word in composed])
        positions = tf.RaggedTensor.from_row_lengths(
            tf.constant(positions_of_words, tf.int32), [len(sentence.words) for sentence in chosen]
        )
        tags = tf.constant([labels[tag] for sentence in chosen for tag in sentence.tags], tf.int32)
        batches.append((tagger.vectorizer(texts), has_capital(texts), positions, tags))
    random.Random(0).shuffle(batches)
    return batches


def main() -> None:
    """Runs the benchmark."""
    parser = common.make_parser(__doc__, data="pos/ewt.train.tsv")
    parser.add_argument("--encoder", default="charagram")
    parser.add_argument("--num-layers", type=int, default=1)
    parser.add_argument("--batch-size", type=int, default=100)
    parser.add_argument("--steps", type=int, default=20, help="steps per timed call")
    arguments = parser.parse_args()
    sentences = list(read_tagged(arguments.data)) if arguments.data else made_up()
    options = {} if arguments.num_layers == 1 else {"num_layers": arguments.num_layers}
    config = TaggingConfig(encoder=arguments.encoder, encoder_options=options)
    words = [word for sentence in sentences for word in sentence.words]
    vectorizer = make_vectorizer(config, words, lowercase=config.use_capitals)
    labels = sorted({tag for sentence in sentences for tag in sentence.tags})

    runs, num_composed, num_tokens = {}, {}, 0
    for name in ("distinct", "every"):
        encoder = make_encoder(config, vectorizer.num_rows)
        head = TaggingHead(labels=labels, word_dim=encoder.dim, use_capitals=config.use_capitals)
        tagger, model = Tagger(vectorizer, encoder, head), TaggingModel(encoder, head)
        model.compile(make_optimizer("sgd", 0.2))
        batches = batches_of(tagger, sentences, arguments.batch_size, name == "distinct")
        batches = batches[: arguments.steps]
        num_composed[name] = sum(int(batch[0].nrows()) for batch in batches)
        num_tokens = sum(int(tf.size(batch[3])) for batch in batches)
        step = tf.function(model.train_step, reduce_retracing=True)
        runs[name] = lambda step=step, batches=batches: [step(batch) for batch in batches]
    training = common.compare(arguments.rounds, runs, num_tokens, "tokens/s")
    fewer = round(num_composed["every"] / num_composed["distinct"], 2)
    print(f"training: {training}; {fewer} times fewer compositions", flush=True)

    texts = [" ".join(sentence.words) for sentence in sentences[:4_000]]
    with tempfile.TemporaryDirectory() as folder:
        tagger.export(f"{folder}/1")
        served = tf.saved_model.load(f"{folder}/1").signatures["tag"]
        parts = [tf.constant(texts[i : i + 500]) for i in range(0, len(texts), 500)]
        num_served = sum(int(tf.size(served(texts=part)["tags"])) for part in parts)

        def call(part: tf.Tensor) -> None:
            served(texts=part)["scores"].numpy()

        with ThreadPoolExecutor(2) as pool:
            serving = common.compare(
                arguments.rounds,
                {
                    "saved_model": lambda: list(pool.map(call, parts)),
                    "one_thread": lambda: [call(part) for part in parts],
                    "tag": lambda: tagger.tag(texts),
                },
                num_served,
                "tokens/s",
            )
    print(f"serving: {serving}", flush=True)
    common.finish(
        "tagging",
        {
            "encoder": arguments.encoder, "num_rows": vectorizer.num_rows,
            "batch_size": arguments.batch_size, "times_fewer_compositions": fewer,
            "training": training, "serving": serving,
        },
        arguments,
    )  # fmt: skip


if __name__ == "__main__":
    tf.get_logger().setLevel("ERROR")
    main()

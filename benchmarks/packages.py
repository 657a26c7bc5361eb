"""What embeds texts, by package; each runs in a process of its own, under its own interpreter.

    python benchmarks/packages.py time PACKAGE MODEL KIND TEXTS.json SECONDS
    python benchmarks/packages.py once PACKAGE MODEL KIND TEXT
    python benchmarks/packages.py distill MODEL FOLDER

`time` is a `processes.Contender`; `once` loads a model and embeds one text; `distill` makes the
model of model2vec from one of sentence-transformers, by its own recipe. KIND is `words` or
`sentences`, for packages that have a call for each.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import processes

#: A matrix, or a list of the vectors or matrices that a package gives for one text or batch.
Embed = Callable[[list[str]], Any]

BATCH = 4000
#: Of packages that are trained or fitted here: only their speed counts, and this does for it.
NGRAMS, DIM, BUCKETS = (2, 4), 300, 200_000


def charagram(model: str, kind: str) -> Embed:
    """Returns `encode` of this package, with the threads that `charagram embed` has."""
    from tf_charagram.models.embedder import TextEmbedder
    from tf_charagram.training._loop.processor import limit_threads

    limit_threads(1)
    return TextEmbedder.load(model, folded=True).encode


def saved_model(model: str, kind: str, num_callers: int = 1) -> Embed:
    """Returns a SavedModel, which gets batches from some threads."""
    from concurrent.futures import ThreadPoolExecutor

    import numpy as np
    import tensorflow as tf

    if num_callers > 1:  # They keep the cores busy; so do the threads of an operation for one.
        tf.config.threading.set_intra_op_parallelism_threads(1)
    served = tf.saved_model.load(model)
    signature = served.signatures["serving_default"]
    pool = ThreadPoolExecutor(num_callers)

    def call(batch: tf.Tensor) -> Any:
        # A signature does not keep its model alive; `numpy()` would copy.
        return served and np.asarray(signature(texts=batch)["embedding"])

    def embed(texts: list[str]) -> list[Any]:
        batches = [tf.constant(texts[i : i + BATCH]) for i in range(0, len(texts), BATCH)]
        return list(map(call, batches) if num_callers == 1 else pool.map(call, batches))

    return embed


def saved_model_2(model: str, kind: str) -> Embed:
    """Returns a SavedModel that two threads call."""
    return saved_model(model, kind, num_callers=2)


def sentence_transformers(model: str, kind: str) -> Embed:
    """Returns an embedding function of sentence-transformers, which sorts by length.

    In bfloat16 where the processor has instructions for it; without them float32 is faster.
    """
    from sentence_transformers import SentenceTransformer

    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    dtype = "bfloat16" if "avx512_bf16" in flags or "amx_bf16" in flags else "float32"
    loaded = SentenceTransformer(model, model_kwargs={"dtype": dtype})

    def encode(texts: list[str]) -> Any:
        vectors = loaded.encode(texts, batch_size=32, convert_to_tensor=True)
        return vectors.float().numpy()

    return encode


def model2vec(model: str, kind: str) -> Embed:
    """Returns an embedding function of model2vec."""
    from model2vec import StaticModel

    return StaticModel.from_pretrained(model).encode


def fasttext(model: str, kind: str) -> Embed:
    """Returns an embedding function of fastText for lowercase text, one text per call.

    Args:
        model: A `.bin` file, or a text file to train for one epoch on.
        kind: Of the texts.
    """
    import fasttext

    if model.endswith(".bin"):
        loaded = fasttext.load_model(model)
    else:
        loaded = fasttext.train_unsupervised(
            model, dim=DIM, epoch=1, minCount=1, minn=NGRAMS[0], maxn=NGRAMS[1], bucket=BUCKETS,
            verbose=0,
        )  # fmt: skip
    call = loaded.get_word_vector if kind == "words" else loaded.get_sentence_vector
    return lambda texts: [call(text.lower()) for text in texts]


def gensim(model: str, kind: str) -> Embed:
    """Returns an embedding function of gensim's FastText, trained for one epoch on a file.

    Words of its vocabulary, which it looks up, have no n-grams to sum: all get a capital that it
    has not seen.
    """
    from gensim.models import FastText

    lines = [line.split() for line in Path(model).read_text(encoding="utf-8").splitlines()]
    trained = FastText(
        lines, vector_size=DIM, min_count=1, epochs=1, min_n=NGRAMS[0], max_n=NGRAMS[1],
        bucket=BUCKETS,
    ).wv  # fmt: skip
    if kind == "words":
        return lambda texts: [trained.get_vector(text.capitalize()) for text in texts]
    return lambda texts: [
        trained.get_sentence_vector([word.capitalize() for word in text.split()]) for text in texts
    ]


def hashing(model: str, kind: str) -> Embed:
    """Returns scikit-learn's hashing of character n-grams; sparse, and nothing is learned."""
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(analyzer="char_wb", ngram_range=NGRAMS).transform


def tfidf(model: str, kind: str) -> Embed:
    """Returns scikit-learn's tf-idf of the character n-grams of a text file; sparse."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=NGRAMS)
    return vectorizer.fit(Path(model).read_text(encoding="utf-8").splitlines()).transform


PACKAGES: dict[str, Callable[[str, str], Embed]] = {
    "charagram": charagram, "saved-model": saved_model, "saved-model-2": saved_model_2,
    "sentence-transformers": sentence_transformers, "model2vec": model2vec, "fasttext": fasttext,
    "gensim": gensim, "hashing": hashing, "tfidf": tfidf,
}  # fmt: skip


def time_texts(package: str, model: str, kind: str, path: str, seconds: str) -> None:
    """Embeds as many texts per call as take about some seconds: of slow packages fewer."""
    answers = processes.protocol_file()
    texts = json.loads(Path(path).read_text(encoding="utf-8"))
    embed = PACKAGES[package](model, kind)
    rate = texts_per_second(embed, texts)
    wanted = rate * float(seconds)
    number = min(len(texts), max(100, int(wanted)))
    passes = math.ceil(wanted / number)

    def work(job: str) -> None:
        for _ in range(passes):
            embed(texts[:number])

    dim = embed(texts[:1])[0].shape[-1]
    processes.serve({"texts": passes * number, "dim": dim}, work, answers)


def texts_per_second(embed: Embed, texts: Sequence[str], enough: float = 0.2) -> float:
    """Returns about how fast texts are embedded, from more and more of them."""
    number = min(50, len(texts))
    embed(list(texts[:number]))
    while True:
        start = time.perf_counter()
        embed(list(texts[:number]))
        spent = time.perf_counter() - start
        if spent > enough or number == len(texts):
            return number / spent
        number = min(4 * number, len(texts))


def once(package: str, model: str, kind: str, text: str) -> None:
    """Loads a model and embeds a text."""
    PACKAGES[package](model, kind)([text])


def distill(model: str, folder: str) -> None:
    """Distils a model of model2vec, which takes minutes."""
    from model2vec.distill import distill

    distill(model_name=model, pca_dims=256).save_pretrained(folder)


if __name__ == "__main__":
    {"time": time_texts, "once": once, "distill": distill}[sys.argv[1]](*sys.argv[2:])

"""Texts: the vectorizers, and exported models in Python and in the C library.

What is checked of every batch: as many answers as texts, none with NaN, every id with a row. Of a
few texts of it: they have the same answer alone, and that of the slow twin in `tests/reference`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from tests.campaigns.fuzz.target import RESULT, Run, Target, check
from tests.campaigns.fuzz.text_bytes import SEEDS, SEPARATOR, text_batch
from tests.reference import charagram as charagram_reference
from tests.reference import text as text_reference

_ORDERS = (1, 2, 3)
_DIM = 8
_NUM_CHECKED = 4
# The twins are slow, and count in double precision.
_LONGEST = 300
_TOLERANCE = {"rtol": 1e-4, "atol": 1e-4}
_HOW: dict[str, Any] = {"seeds": SEEDS, "make": text_batch, "needs_tensorflow": True,
                        "least_cases": 2}  # fmt: skip

Ids = Callable[[Sequence[bytes]], Any]


def _known() -> list[str]:
    return [seed.decode() for seed in SEEDS]


def _sample(case: bytes, texts: Sequence[bytes]) -> list[int]:
    return Random(len(case)).sample(range(len(texts)), min(_NUM_CHECKED, len(texts)))


def _vectorizer_target(
    name: str, make: Callable[[], Any], twin: Callable[[Any], Callable[[bytes], Any]], share: float
) -> Target:
    """Returns a target that makes ids of texts.

    Args:
        name: Name of the vectorizer.
        make: Makes it.
        twin: Returns what gives the ids of a text slowly; `None` for those it cannot say.
        share: As for `Target`.
    """

    @contextmanager
    def opened(folder: Path) -> Iterator[Run]:
        import tensorflow as tf

        vectorizer = make()
        slow = twin(vectorizer)
        signature = [tf.TensorSpec([None], tf.string)]
        fast = tf.function(vectorizer.call, input_signature=signature, autograph=False)

        def run(case: bytes) -> str:
            texts = case.split(SEPARATOR)
            ids = fast(tf.constant(texts))
            values = ids.values.numpy()
            check(ids.nrows() == len(texts), f"{ids.nrows()} rows for {len(texts)} texts")
            check(((values >= 0) & (values < vectorizer.num_rows)).all(), "an id has no row")
            for place in _sample(case, texts):
                row = ids[place].numpy().tolist()
                alone = fast(tf.constant(texts[place : place + 1]))[0].numpy().tolist()
                check(row == alone, f"other ids in another batch: {texts[place][:200]!r}")
                expected = slow(texts[place]) if len(texts[place]) <= _LONGEST else None
                check(expected in (None, row), f"other ids than the twin: {texts[place]!r}")
            return RESULT

        yield run

    return Target(f"vectorizer.{name}", opened, share=share, **_HOW)


def _ngrams() -> Any:
    from tf_charagram.text.vectorizer import NgramVectorizer

    return NgramVectorizer.from_texts(_known(), orders=_ORDERS)


def _ngram_twin(vectorizer: Any) -> Callable[[bytes], Any]:
    rows = {ngram: row for row, ngram in enumerate(vectorizer.vocabulary.ngrams())}
    return lambda text: [
        rows[ngram] for ngram in text_reference.ngrams(text, _ORDERS) if ngram in rows
    ]


def _mixed() -> Any:
    from tf_charagram.text.vectorizer import NgramVectorizer

    # More characters than exact keys of this order can hold.
    return NgramVectorizer.from_texts([*_known(), "".join(map(chr, range(300, 900)))], orders=(8,))


def _hashed() -> Any:
    from tf_charagram.text.vectorizer import NgramVectorizer

    return NgramVectorizer(hash_buckets=1000, rows_per_ngram=2)


def _characters() -> Any:
    from tf_charagram.text.characters import CharacterVectorizer

    return CharacterVectorizer.from_texts(_known())


def _character_twin(vectorizer: Any) -> Callable[[bytes], Any]:
    codes = vectorizer.alphabet.characters.tolist()
    ids = {" ": 1} | {chr(code): number for number, code in enumerate(codes, start=3)}
    return lambda text: [ids.get(char, 2) for char in text_reference.normalize(text)]


def _words() -> Any:
    from tf_charagram.text.words import WordVectorizer

    return WordVectorizer.from_texts([*_known(), *_known(), "rare words"], min_count=2,
                                     ngram_orders=(2, 3))  # fmt: skip


def _no_twin(vectorizer: Any) -> Callable[[bytes], Any]:
    return lambda text: None


@contextmanager
def _python(folder: Path) -> Iterator[Callable[[list[bytes]], np.ndarray]]:
    import tensorflow as tf

    serve = tf.saved_model.load(str(folder)).signatures["serving_default"]
    yield lambda texts: serve(texts=tf.constant(texts, tf.string))["embedding"].numpy()


@contextmanager
def _c_library(folder: Path) -> Iterator[Callable[[list[bytes]], np.ndarray]]:
    from tf_charagram.export.runtime.c_runtime import CRuntime

    with CRuntime(folder, intra_op_threads=1, inter_op_threads=1) as runtime:
        yield lambda texts: runtime.run("serving_default", {"texts": texts})["embedding"]


def _served_target(name: str, load: Any, encoder: str, share: float, **fields: Any) -> Target:
    """Returns a target that embeds texts by an exported model."""

    @contextmanager
    def opened(folder: Path) -> Iterator[Run]:
        embedder, twin = _exported(encoder)
        embedder.export(folder / "saved_model")
        with load(folder / "saved_model") as embed:

            def run(case: bytes) -> str:
                texts = case.split(SEPARATOR)
                vectors = embed(texts)
                check(vectors.shape == (len(texts), _DIM), f"vectors of shape {vectors.shape}")
                check(np.isfinite(vectors).all(), "a vector is not finite")
                for place in _sample(case, texts):
                    text = texts[place]
                    check(np.allclose(vectors[place], embed([text])[0], rtol=1e-5, atol=1e-5),
                          f"another vector in another batch: {text[:200]!r}")  # fmt: skip
                    if twin is not None and len(text) <= _LONGEST:
                        check(np.allclose(vectors[place], twin(text), **_TOLERANCE),
                              f"another vector than the twin: {text!r}")  # fmt: skip
                return RESULT

            yield run

    return Target(f"saved-model.{name}", opened, share=share, **{**_HOW, **fields})


def _exported(encoder: str) -> tuple[Any, Callable[[bytes], np.ndarray] | None]:
    """Returns a model, and what computes its vectors slowly."""
    from tests.models.answers import randomized
    from tf_charagram.encoders import encoder_class
    from tf_charagram.models.embedder import TextEmbedder

    vectorizer = {"charagram": _ngrams, "char_cnn": _characters, "dan": _words}[encoder]()
    options = {"char_dim": 4} if encoder == "char_cnn" else {}
    options = {"activation": "tanh"} if encoder == "charagram" else options
    made = encoder_class(encoder)(num_rows=vectorizer.num_rows, dim=_DIM, **options)
    embedder = TextEmbedder(vectorizer, randomized(made))
    if encoder != "charagram":
        return embedder, None
    ngrams = vectorizer.vocabulary.ngrams()
    table, bias = made.ngram_table.numpy(), made.bias.numpy()
    return embedder, lambda text: charagram_reference.embed([text], ngrams, table, bias, "tanh")[0]


TARGETS = [
    _vectorizer_target("ngrams", _ngrams, _ngram_twin, 0.14),
    _vectorizer_target("mixed", _mixed, _no_twin, 0.08),
    _vectorizer_target("hashed", _hashed, _no_twin, 0.08),
    _vectorizer_target("characters", _characters, _character_twin, 0.14),
    _vectorizer_target("words", _words, _no_twin, 0.05),
    _served_target("python", _python, "charagram", 0.3),
    _served_target("python-words", _python, "dan", 0.02),
    _served_target(
        "python-characters", _python, "char_cnn", 0.002, make=partial(text_batch, most=10_000)
    ),
    _served_target("c-library", _c_library, "charagram", 0.15),
]

"""Tests of running encoders: long texts in groups, large batches in halves."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose

from tests.contracts import ragged
from tests.texts import words
from tf_charagram.encoders import encoder_class
from tf_charagram.encoders.characters import CharCnn
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.models._encoding import encoding as encoding_module
from tf_charagram.models._encoding.encoding import encoded, first_call_alone, in_halves
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.characters import CharacterVectorizer
from tf_charagram.text.vectorizer import NgramVectorizer

PADDED = ("char_cnn", "char_lstm")


def make(name: str):
    return encoder_class(name)(num_rows=20, dim=4, input_dim=3)


def ids(*lengths: int) -> tf.RaggedTensor:
    rng = np.random.default_rng(0)
    return ragged([rng.integers(1, 20, size=length).tolist() for length in lengths])


@pytest.mark.parametrize("name", PADDED)
def test_groups_give_the_vectors_of_the_whole(name, monkeypatch):
    encoder, texts = make(name), ids(3, 40, 1, 0, 7, 7)
    expected = encoder(texts)
    monkeypatch.setattr(encoding_module, "_MAX_STEPS", 8)
    sizes = []

    class Watched:
        is_padded, dim = True, encoder.dim

        def __call__(self, rows, training):
            sizes.append(rows.nrows().numpy() * max(rows.row_lengths().numpy()))
            return encoder(rows, training=training)

    assert_allclose(encoded(Watched(), texts), expected, rtol=1e-5, atol=1e-6)
    assert sizes == [40, 7, 7, 2 * 3, 0]
    sizes.clear()
    encoded(Watched(), texts, training=True)
    assert sizes == [6 * 40]


@pytest.mark.parametrize("fails_first", [False, True])
def test_the_first_call_is_alone(fails_first):
    running, together = [], []

    @first_call_alone
    def double(number: int) -> int:
        running.append(number)
        time.sleep(0.05)
        together.append(len(running))
        running.remove(number)
        if fails_first and len(together) == 1:
            raise ValueError
        return 2 * number

    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(double, number) for number in range(4)]
    results = [call.result() for call in calls if not call.exception()]
    assert len(results) == 4 - fails_first and set(results) <= {0, 2, 4, 6}
    num_alone = 1 + fails_first
    assert together[:num_alone] == [1] * num_alone and max(together[num_alone:]) > 1


WORDS = words(1_000)


@pytest.fixture(scope="module")
def embedder():
    vectorizer = NgramVectorizer.from_texts(WORDS)
    return TextEmbedder(vectorizer, Charagram(num_rows=vectorizer.num_rows, dim=8))


@pytest.mark.parametrize("number", [0, 1, 2, 999])
def test_halves_give_the_vectors_of_the_whole(embedder, number):
    texts = [*WORDS[:number], "é" * 5_000]
    in_parts = in_halves(embedder.call)(tf.constant(texts))
    np.testing.assert_array_equal(in_parts, embedder.call(tf.constant(texts)))
    assert in_parts.shape == (number + 1, 8)


def branches(embedder):
    """Returns the operations that embed a small and a large batch."""
    graph = in_halves(embedder.call).graph
    (choice,) = (op for op in graph.get_operations() if op.type in ("If", "StatelessIf"))
    names = [choice.get_attr(f"{branch}_branch").name for branch in ("then", "else")]
    functions = graph.as_graph_def().library.function
    nodes = {function.signature.name: function.node_def for function in functions}
    return [[node for node in nodes[name] if "Call" in node.op] for name in names]


def test_halves_do_not_wait_for_each_other(embedder):
    small, large = branches(embedder)
    assert len(small) == 1 and len(large) == 2
    assert {node.attr["f"].func.name for node in large} == {small[0].attr["f"].func.name}
    assert not any(name.startswith("^") for node in large for name in node.input)


def test_padded_batches_are_not_halved():
    vectorizer = CharacterVectorizer.from_texts(WORDS)
    embedder = TextEmbedder(vectorizer, CharCnn(num_rows=vectorizer.num_rows))
    assert embedder.served_call() == embedder.call

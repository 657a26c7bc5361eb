"""Both halves of a large batch are embedded at the same time, and like the whole."""

import numpy as np
import pytest
import tensorflow as tf

from tests.texts import words
from tf_charagram.encoders.char_cnn import CharCnn
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.models.encoding import in_halves
from tf_charagram.text.characters import CharacterVectorizer
from tf_charagram.text.vectorizer import NgramVectorizer

WORDS = words(1_000)


@pytest.fixture(scope="module")
def embedder():
    vectorizer = NgramVectorizer.from_texts(WORDS)
    return TextEmbedder(vectorizer, Charagram(num_rows=vectorizer.num_rows, dim=8))


@pytest.mark.parametrize("number", [0, 1, 2, 999])
def test_vectors_are_those_of_the_whole(embedder, number):
    texts = [*WORDS[:number], "é" * 5_000]
    in_parts = in_halves(embedder.call)(tf.constant(texts))
    np.testing.assert_array_equal(in_parts, embedder.call(tf.constant(texts)))
    assert in_parts.shape == (number + 1, 8)


def test_no_text(embedder):
    assert in_halves(embedder.call)(tf.constant([], tf.string)).shape == (0, 8)


def branches(embedder):
    """Returns the operations that embed, for a small batch and for a large one."""
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


def test_what_is_padded_is_embedded_at_once():
    vectorizer = CharacterVectorizer.from_texts(WORDS)
    embedder = TextEmbedder(vectorizer, CharCnn(num_rows=vectorizer.num_rows))
    assert embedder.served_call() == embedder.call

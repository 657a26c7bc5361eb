"""Checks charagram against hand-worked numbers and numerical gradients."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from . import charagram, paraphrase, text


def test_embed_by_hand():
    """' a a ' has ' a' and 'a ' twice each, so b + 2 W[' a'] + 2 W['a '].

    = (1, -1) + 2 (1, 2) + 2 (0, -3) = (3, -3). ' x ' has none: b.
    """
    W, b = np.array([[1.0, 2.0], [0.0, -3.0]]), np.array([1.0, -1.0])
    texts, vocabulary = ["A a", "x", ""], [" a", "a "]
    linear = np.array([[3.0, -3.0], [1.0, -1.0], [1.0, -1.0]])
    assert_allclose(charagram.embed(texts, vocabulary, W, b, "linear"), linear)
    assert_allclose(charagram.embed(texts, vocabulary, W, b, "tanh"), np.tanh(linear))
    relu = [[3.0, 0.0], [1.0, 0.0], [1.0, 0.0]]
    assert_allclose(charagram.embed(texts, vocabulary, W, b, "relu"), relu)


def test_two_layers_by_hand():
    """relu first gives (3, 0); (3, 0) @ [[2, -1], [5, 5]] + (1, 1) = (7, -2); relu: (7, 0)."""
    W, b = np.array([[1.0, 2.0], [0.0, -3.0]]), np.array([1.0, -1.0])
    dense = np.array([[2.0, -1.0], [5.0, 5.0]]), np.array([1.0, 1.0])
    assert_allclose(charagram.embed(["a a"], [" a", "a "], W, b, "relu", dense), [[7.0, 0.0]])


def test_embed_gradient_by_hand():
    """Linear: the gradient of W is counts^T upstream: 2 (1, 10) for both n-grams."""
    gradients = charagram.embed_gradient(
        [[1.0, 10.0], [5.0, 5.0]], ["a a", "x"], [" a", "a "], np.ones((2, 2)), np.zeros(2)
    )
    assert_allclose(gradients["W"], [[2.0, 20.0], [2.0, 20.0]])
    assert_allclose(gradients["b"], [6.0, 15.0])


@pytest.mark.parametrize("h", ["linear", "tanh", "relu"])
@pytest.mark.parametrize("layers", [1, 2])
def test_embed_gradient_numerically(h, layers):
    rng = np.random.default_rng(layers)
    texts = ["banana", "an apple", "", "zzz"]
    vocabulary = text.vocabulary(texts[:2], (2, 3), min_count=2)
    values = {
        "W": 0.3 * rng.normal(size=(len(vocabulary), 3)),
        "b": 0.3 * rng.normal(size=3),
        "K": rng.normal(size=(3, 2)),
        "b2": rng.normal(size=2),
    }
    names = ["W", "b", "K", "b2"][: 2 * layers]
    upstream = rng.normal(size=(len(texts), 3 if layers == 1 else 2))

    def arguments(**changed):
        p = values | changed
        return texts, vocabulary, p["W"], p["b"], h, (p["K"], p["b2"]) if layers == 2 else None

    gradients = charagram.embed_gradient(upstream, *arguments())
    assert sorted(gradients) == sorted(names)
    for name in names:
        numerical = paraphrase.numerical_gradient(
            lambda x, name=name: (upstream * charagram.embed(*arguments(**{name: x}))).sum(),
            values[name],
        )
        assert_allclose(gradients[name], numerical, atol=1e-7, err_msg=name)


def test_vocabulary_must_be_distinct():
    with pytest.raises(ValueError, match="`vocabulary` must hold distinct n-grams"):
        charagram.count_matrix(["a"], ["a ", "a "])


def test_empty_vocabulary_gives_the_bias():
    embedded = charagram.embed(["a", ""], [], np.zeros((0, 2)), np.array([1.0, 2.0]))
    assert_allclose(embedded, [[1.0, 2.0], [1.0, 2.0]])

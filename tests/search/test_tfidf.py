"""Tf-idf vectors against the definition and against scikit-learn."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import search as reference
from tests.texts import NASTY
from tf_charagram.errors import ConfigError
from tf_charagram.search import CharacterTfidf
from tf_charagram.text._algorithm.word_boundaries import bags_of_words

TEXTS = st.lists(st.text("aabc\N{LATIN SMALL LETTER E WITH ACUTE}1 -", max_size=12), max_size=6)


@settings(max_examples=15)
@given(TEXTS, TEXTS)
def test_equals_the_definition(fitted, others):
    tfidf = CharacterTfidf(fitted)
    found = tfidf.transform(others) @ tfidf.transform(fitted).T
    bags, other_bags = ([reference.words(text) for text in texts] for texts in (fitted, others))
    counts = Counter(ngram for bag in bags for ngram in reference.ngrams(bag))
    rows = [
        [reference.tfidf(bag, counts, len(bags)) for bag in each] for each in (other_bags, bags)
    ]
    expected = [
        [sum(weight * right.get(ngram, 0) for ngram, weight in left.items()) for right in rows[1]]
        for left in rows[0]
    ]
    shape = len(others), len(fitted)
    np.testing.assert_allclose(found.toarray(), np.reshape(expected, shape), atol=1e-6)
    assert tfidf.transform(fitted).dtype == np.float32


@pytest.mark.parametrize("size", [60, 12_000])
def test_equals_scikit_learn(size):
    module = pytest.importorskip("sklearn.feature_extraction.text")
    draw = np.random.default_rng(0)
    # More distinct words than one batch, and repeated ones.
    texts = [" ".join(f"Wort{n}" for n in draw.integers(0, size, 3)) for _ in range(size)]
    texts += ["", "?!", "\u4f60\u597d", "CAF\u00c9 caf\u00e9 Stra\u00dfe", "x" * 1000]
    joined = [" ".join(words) for words in bags_of_words(texts)]
    options = {"analyzer": "char_wb", "ngram_range": (2, 3), "sublinear_tf": True}
    expected = module.TfidfVectorizer(**options).fit_transform(joined)
    found = CharacterTfidf(texts).transform(texts)
    assert found.shape == expected.shape
    part = np.r_[:50, len(texts) - 5 : len(texts)]
    products = (found[part] @ found.T).toarray()
    np.testing.assert_allclose(products, (expected[part] @ expected.T).toarray(), atol=1e-5)


def test_odd_texts():
    texts = list(NASTY.values())
    vectors = CharacterTfidf(texts).transform([*texts, "\u0e01 zcat"])
    lengths = np.sqrt(vectors.power(2).sum(axis=1))
    is_empty = [name in ("empty", "spaces") for name in NASTY]
    np.testing.assert_allclose(lengths, [*np.where(is_empty, 0, 1), 1], atol=1e-4)
    assert CharacterTfidf([]).transform(["cat", ""]).shape == (2, 0)
    assert CharacterTfidf(["cat"]).transform([]).shape == (0, 7)


def test_errors():
    with pytest.raises(ConfigError, match=r"`texts` must be a list of texts.* single string"):
        CharacterTfidf("cat")
    with pytest.raises(ConfigError, match=r"`texts`"):
        CharacterTfidf(["cat"]).transform(["cat", None])

"""Which pairs of texts are compared in detail."""

from __future__ import annotations

import numpy as np
import pytest
from rapidfuzz import process
from rapidfuzz.distance import OSA
from scipy import sparse

from tests.texts import words
from tests.variants import some_now
from tf_charagram.search import TextIndex, TextScorer
from tf_charagram.search._pairs import candidates
from tf_charagram.search._pairs.alike_words import alike_words
from tf_charagram.search._pairs.candidates import _by_vectors
from tf_charagram.search._pairs.common_words import common_words
from tf_charagram.search._pairs.flat_arrays import matrix_of
from tf_charagram.search._pairs.rare_keys import (
    largest,
    nearest_pairs,
    product,
    rare_keys,
    row_products,
)
from tf_charagram.search._pairs.similar_pairs import similar_pairs
from tf_charagram.search._pairs.similarities import compare


def names(num, seed):
    """Returns made-up names, a fifth of them copies with a typo."""
    draw = np.random.default_rng(seed)
    parts = np.array(words(num // 8, seed))
    made = []
    for _ in range(num):
        if len(made) > 50 and draw.random() < 0.2:
            name = made[draw.integers(len(made))]
            place = draw.integers(len(name))
            made.append(name[:place] + "x" + name[place + 1 :])
        else:
            # Some words are much more frequent than others.
            rows = (len(parts) * draw.random(3) ** 3).astype(int)
            made.append(" ".join(parts[rows]))
    return list(dict.fromkeys(made))


@pytest.mark.parametrize("seed", some_now(range(2), 0))
def test_finds_similar_pairs(seed, monkeypatch):
    """Nearly all pairs with a minimum score are found, also where words are looked up sparingly."""
    monkeypatch.setattr("tf_charagram.search._pairs.alike_words._MANY_WORDS", 1)
    monkeypatch.setattr(candidates, "_MIN_POSTINGS", 100)
    monkeypatch.setattr(candidates, "_POSTINGS", 5)
    texts = names(1200, seed)
    scorer = TextScorer(texts, None)
    prepared = scorer.prepare(texts)
    pairs, _ = similar_pairs(scorer, prepared, lambda num_texts: 0.8)
    every = np.stack(np.triu_indices(len(texts), 1), axis=1)
    both = [scorer.pair_scores(prepared, prepared, each, 0.8) for each in (every, every[:, ::-1])]
    expected = every[np.maximum(*both) >= 0.8]
    found = set(map(tuple, pairs.tolist()))
    num_found = sum(tuple(pair) in found for pair in expected.tolist())
    assert len(expected) > 100 and num_found >= 0.95 * len(expected)


def test_pairs_with_common_words():
    """Two words, of which one may have a typo, or a rare word are in common."""
    texts = [
        "adams bakery dover england",
        "adams bakrey dover france",
        "baker bakery leeds england",
        "clark bakery leeds norway",
        "zimmermann",
        "zimermann tailor york",
    ]
    texts += [f"bakery tailor {place}" for place in words(30, 1)]
    prepared = TextScorer(texts, None).prepare(texts)
    found = common_words(prepared)
    pairs = dict(zip(map(tuple, found.pairs.tolist()), found.num_texts.tolist(), strict=True))
    # "england" and "leeds" are rare, too.
    assert {pair for pair in pairs if pair[1] < 6} == {(0, 1), (0, 2), (2, 3), (4, 5)}
    assert pairs[0, 1] == 2 and pairs[4, 5] == 1
    assert not found.are_crowded.any()


def test_many_texts_with_the_same_words():
    texts = [f"bakery tailor england {place}" for place in words(60, 1)]
    prepared = TextScorer(texts, None).prepare(texts)
    found = common_words(prepared)
    assert not len(found.pairs) and found.are_crowded.all()
    scorer = TextScorer(texts, None)
    pairs, _ = similar_pairs(scorer, prepared, lambda num_texts: 0.2)
    every = np.stack(np.triu_indices(len(texts), 1), axis=1)
    num_expected = (scorer.pair_scores(prepared, prepared, every) >= 0.2).sum()
    assert len(pairs) >= 0.95 * num_expected > 1000


def test_no_conversion_of_the_index():
    """SciPy would cast all indices of an index for each query if the two kinds differed."""
    index = TextIndex(["cat dog", "dog"], None)
    prepared = index.scorer.prepare(["cat"])
    found = index._searched.prepared
    keys = alike_words(prepared, found)
    for matrix in (found.by_word, found.by_ngram, prepared.ones, prepared.word_ngrams, keys):
        assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
    [pair] = nearest_pairs(prepared.ones, prepared.by_word, 1)
    assert pair == 0


@pytest.mark.parametrize("model", [None, "english-mini"])
def test_least_ngrams(model):
    """No pair of texts reaches a score with less common n-grams than the score needs."""
    texts = [*names(150, 2), "x9000", "sony kd55x9000", "sony kd55x9001 tv", "sony", "tv"]
    scorer = TextScorer(texts, model)
    prepared = scorer.prepare(texts)
    every = np.stack(np.indices((len(texts), len(texts))), axis=-1).reshape(-1, 2)
    scores = scorer.pair_scores(prepared, prepared, every)
    cosines = compare(prepared, prepared, every, True).ngrams
    for min_score in (0.7, 0.9):
        least = scorer.least_ngrams(prepared, every[:, 0], min_score)
        is_below = cosines < least - 1e-5
        assert is_below.any() and (scores[is_below] < min_score).all()
    square = scores.reshape(len(texts), -1)
    np.testing.assert_allclose(square, square.T, atol=1e-6)


def test_words_and_letters_that_lead():
    """Pairs are left out only if their words or letters are much more similar than n-grams."""
    texts = [*names(150, 2), "x9000", "sony kd55x9000", "sony", "tv", "tvv", "sonny"]
    scorer = TextScorer(texts, None)
    prepared = scorer.prepare(texts)
    every = np.stack(np.indices((len(texts), len(texts))), axis=-1).reshape(-1, 2)
    features = compare(prepared, prepared, every, True)
    lead = np.maximum(features.words, features.letters) - features.ngrams
    scores = scorer.pair_scores(prepared, prepared, every)
    least = scorer.least_ngrams(prepared, every[:, 0], 0.6, 0.1)
    some = scorer.pair_evidence(prepared, prepared, every, 0.6, 0.1).scores
    for is_left_out in (features.ngrams < least - 1e-5, some == 0):
        is_similar = is_left_out & (scores >= 0.6)
        assert is_similar.any() and (lead[is_similar] > 0.1).all()
    is_close = (lead <= 0.1) & (scores >= 0.6)
    np.testing.assert_array_equal(some[is_close], scores[is_close])


def test_similar_words():
    """Words are similar from an edit similarity of 0.6 on, whatever letters they have."""
    draw = np.random.default_rng(3)
    texts = ["".join(draw.choice(list("abcé1中"), draw.integers(1, 9))) for _ in range(120)]
    prepared = TextScorer(texts, None).prepare(texts)
    every = np.stack(np.indices((len(texts), len(texts))), axis=-1).reshape(-1, 2)
    found = compare(prepared, prepared, every, True).words > 0
    bags = prepared.lists.strings(range(len(texts)))
    scorer = OSA.normalized_similarity
    for (left, right), is_found in zip(every.tolist(), found.tolist(), strict=True):
        expected = process.cdist(bags[left], bags[right], scorer=scorer, score_cutoff=0.6).any()
        assert is_found == expected


def test_words_one_letter_apart(monkeypatch):
    """A letter more, less, other or swapped is found, whatever the n-grams are."""
    monkeypatch.setattr("tf_charagram.search._pairs.alike_words._MIN_COSINE", 2)
    typos = ["crwaford", "crawfords", "craword", "crauford", "rcawford", "crawford"]
    scorer = TextScorer(["crawford", "harrington", *typos], None)
    left = scorer.prepare(typos)
    right = scorer.prepare(["crawford harrington"])
    products = matrix_of(alike_words(left, right)).toarray()
    ngrams = [matrix_of(texts.word_ngrams) for texts in (left, right)]
    expected = (ngrams[0] @ ngrams[1].T).toarray()
    np.testing.assert_allclose(products[:, 0], expected[:, 0], rtol=1e-6)
    assert (products[:, 1] == 0).all()


@pytest.mark.parametrize("seed", [0, 1])
def test_largest_products(seed):
    draw = np.random.default_rng(seed)
    pairs = np.sort(draw.choice(40 * 30, 500, replace=False))
    # Many are equal.
    products = draw.integers(0, 4, 500).astype(np.float32) / 3
    rows = pairs // 30
    order = np.lexsort((pairs, -products, rows))
    ranks = np.arange(500) - np.searchsorted(rows, rows)
    mixed = draw.permutation(500)
    found = largest(pairs[mixed], products[mixed], 30, 5)
    assert sorted(found.tolist()) == sorted(pairs[order[ranks < 5]].tolist())


def test_products_of_few_rows():
    draw = np.random.default_rng(4)
    keys = sparse.csr_array(sparse.random(30, 50, 0.1, dtype=np.float32, rng=draw))
    by_key = sparse.csr_array(sparse.random(50, 90, 0.1, dtype=np.float32, rng=draw))
    expected = (keys @ by_key).toarray()
    pairs = np.stack([draw.integers(0, 6, 40), draw.integers(0, 90, 40)])
    by_row = by_key.T.tocsr()
    for num_rows in (6, 30):
        found = matrix_of(product(keys[:num_rows], by_key))
        np.testing.assert_allclose(found.toarray(), expected[:num_rows], rtol=1e-6)
        found = row_products(keys[:num_rows], pairs[0], by_row, pairs[1])
        np.testing.assert_allclose(found, expected[*pairs], rtol=1e-6)
        # Hits of a query do not depend on the other queries.
        assert (found == row_products(keys, pairs[0], by_row, pairs[1])).all()


@pytest.mark.parametrize("num_right", [0, 3, 700, 9000])
def test_nearest_vectors(num_right):
    draw = np.random.default_rng(num_right)
    left, right = (draw.integers(-9, 9, (num, 6)).astype(np.float32) for num in (5, num_right))
    cosines = left @ right.T
    keys = [np.zeros(0, np.int64), *_by_vectors(left, right, 7)]
    found, columns = np.divmod(np.concatenate(keys), max(num_right, 1))
    k = min(num_right, 7)
    assert found.tolist() == np.repeat(np.arange(5), k).tolist()
    nearest = cosines[found, columns].reshape(5, k)
    assert (np.sort(nearest) == np.sort(cosines)[:, num_right - k :]).all()


def test_vectors_of_many_texts_are_found_in_their_main_directions(embedder, monkeypatch):
    draw = np.random.default_rng(4)
    sizes = 0.99 ** np.arange(300)
    vectors = draw.normal(size=(2000, 300)) * sizes
    # Queries by meaning only: near vectors, and no letter in common.
    queries = vectors[:40] + 0.3 * draw.normal(size=(40, 300)) * sizes
    vectors, queries = (
        (each / np.linalg.norm(each, axis=1, keepdims=True)).astype(np.float32)
        for each in (vectors, queries)
    )
    scorer = TextScorer([], embedder)
    right = scorer.prepare(["right"] * 2000, vectors)
    left = scorer.prepare(["left"] * 40, queries)
    exact = np.concatenate(candidates.by_vectors_of(scorer, left, right, np.arange(40), 5))
    monkeypatch.setattr(candidates, "_MANY_TEXTS", 1000)
    found = np.concatenate(candidates.by_vectors_of(scorer, left, right, np.arange(40), 5))
    assert len({*found.tolist()}) == len(found) == 200
    assert {*range(0, 80_000, 2001)} <= {*found.tolist()}
    assert len({*found.tolist()} & {*exact.tolist()}) >= 190
    # A scorer of vectors only has nothing else to find them by.
    of_vectors = TextScorer([], embedder, lexical=False)
    same = np.concatenate(candidates.by_vectors_of(of_vectors, left, right, np.arange(40), 5))
    assert sorted(same.tolist()) == sorted(exact.tolist())


def test_equal_words_are_looked_up_before_rare_ones_that_are_hardly_alike():
    similarities = np.append(np.full(100, 0.1, np.float32), np.float32(1))
    num_texts = np.append(np.ones(100, np.int64), 20)
    keys = sparse.csr_array(similarities[np.newaxis])
    kept = rare_keys(keys, num_texts, 50, similarities)
    assert 100 in kept.indices.tolist() and len(kept.indices) == 31
    assert 100 not in rare_keys(keys, num_texts, 50).indices.tolist()

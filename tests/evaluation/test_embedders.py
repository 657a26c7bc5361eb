"""Character n-grams weighted by tf-idf."""

from __future__ import annotations

import numpy as np
import pytest

from tf_charagram.evaluation.embedders import CharacterTfidf

pytest.importorskip("sklearn")


def test_by_hand():
    """Of " a " and " b " bigrams `" a"`, `"a "` and so on are in one text, each once.

    " A  a " has `" a"` and `"a "` twice; the cosine with " a " is 1, with " b " 0.
    """
    baseline = CharacterTfidf(orders=(2, 2))
    baseline.fit(["a", "b"])
    a, b, twice = baseline.encode(["a", "b", " A\t a"]).toarray()
    np.testing.assert_allclose([a @ a, a @ b, a @ twice], [1, 0, 1], atol=1e-6)
    assert a.dtype == np.float32


def test_rare_ngrams_count_more():
    """idf of scikit-learn: 1 + ln((1 + texts) / (1 + texts with it)): 1 and 1 + ln 1.5."""
    baseline = CharacterTfidf(orders=(2, 2))
    baseline.fit(["ab", "ac"])
    row = baseline.encode(["ab"]).toarray()[0]
    assert row.max() / row[row > 0].min() == pytest.approx(1 + np.log(1.5))

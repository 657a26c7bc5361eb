"""Scores by length and by what is unknown, against pairs counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from research.analysis.length import scores_by_length
from research.analysis.pairs import judge
from research.analysis.unknown import scores_by_unknown_ngrams, scores_by_unknown_words
from research.tests.analysis.judges import embed_by, graded, sets_of
from tf_charagram.errors import ConfigError
from tf_charagram.text.vectorizer import NgramVectorizer


def number_of(text):
    """Returns the number at the end of a text such as `a a 3.`, in tenths; 0 without one."""
    last = text.rstrip(".").split()[-1] if text else ""
    return int(last) / 10 if last.isdigit() else 0.0


# The further from the left text, at angle 0, the lower the cosine.
FALLING = embed_by(number_of)
RISING = embed_by(lambda text: (2.0 - number_of(text)) if number_of(text) else 2.0 * (text != "a"))


def test_lengths_are_those_of_the_longer_text():
    # "a a 3." has four tokens: the mark counts, as the papers' tokenizers have it.
    sets = sets_of(*graded(2), *graded(5), *graded(30, num_pairs=3))
    table = scores_by_length({"falling": FALLING, "rising": RISING}, sets)
    pairs = table.column("pairs")
    assert pairs["<= 4"] == 12 and pairs["7"] == 12 and pairs[">= 21"] == 3
    assert sum(pairs.values()) == 27
    assert table.column("falling")["<= 4"] < -90 and table.column("rising")["7"] > 90
    assert table.column("falling")[">= 21"] is None and table.column("falling")["5"] is None
    assert "Fewer than 10 pairs" in table.notes[0]


def test_pairs_without_a_word_are_short():
    wordless = [("\u200b", "\u200b", score) for score in (1.0, 2.0, 3.0)]
    table = scores_by_length({"falling": FALLING}, sets_of(*graded(2), *wordless))
    assert table.column("pairs")["<= 4"] == 15


@pytest.mark.parametrize("bins", [[], [0, 3], [3, 3], [5, 4]])
def test_bins_must_increase(bins):
    with pytest.raises(ConfigError, match="`bins` must increase and be at least 1"):
        scores_by_length({"falling": FALLING}, sets_of(*graded(2)), bins=bins)


def test_no_set():
    with pytest.raises(ConfigError, match="no set of scored sentences"):
        scores_by_length({"falling": FALLING}, [])


def test_unknown_words_of_both_texts():
    sets = sets_of(*graded(1), *graded(2, word="zebra"))
    table = scores_by_unknown_words({"falling": FALLING}, sets, {"a", *map(str, range(12))})
    # "zebra" - "zebra zebra 3.": three unknown words; the full stop is none.
    assert list(table.column("pairs").values()) == [12, 0, 0, 12, 24]
    assert table.column("falling")["0"] < -90


def test_unknown_words_need_known_ones():
    with pytest.raises(ConfigError, match="`known` must have at least 1 word"):
        scores_by_unknown_words({"falling": FALLING}, sets_of(*graded(2)), [])


def test_unknown_ngrams():
    vectorizer = NgramVectorizer.from_texts(["ab"], orders=(2,))
    rows = [("ab", "ab", 1.0), ("ab", "abc", 2.0), ("ab", "", 3.0), ("x", "yz", 4.0)]
    table = scores_by_unknown_ngrams({"falling": FALLING}, sets_of(*rows), vectorizer)
    # "_abc_" has bc and c_ that "_ab_" has not; "_x_" has two bigrams, "_yz_" three.
    assert list(table.column("pairs").values()) == [2, 1, 1, 0, 2, 4]


def test_hashed_ngrams_are_all_known():
    with pytest.raises(ConfigError, match="none is unknown"):
        scores_by_unknown_ngrams(
            {"falling": FALLING}, sets_of(*graded(2)), NgramVectorizer(hash_buckets=8)
        )


def test_judged_pairs_keep_their_sets():
    judged = judge({"falling": FALLING}, [*sets_of(("a", "b 1", 1.0)), *sets_of(("a", "c 2", 2.0))])
    assert len(judged) == 2 and judged.right == ["b 1", "c 2"]
    np.testing.assert_allclose(judged.cosines["falling"], np.cos([0.1, 0.2]), rtol=1e-6)

"""Scores by length and by unknown words, against pairs counted by hand."""

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


def test_unknown_words_of_both_texts():
    sets = sets_of(*graded(1), *graded(2, word="zebra"))
    table = scores_by_unknown_words({"falling": FALLING}, sets, {"a", *map(str, range(12))})
    # "zebra" - "zebra zebra 3.": three unknown words; the full stop is not a word.
    assert list(table.column("pairs").values()) == [12, 0, 0, 12, 24]
    assert table.column("falling")["0"] < -90


def test_unknown_ngrams():
    vectorizer = NgramVectorizer.from_texts(["ab"], orders=(2,))
    rows = [("ab", "ab", 1.0), ("ab", "abc", 2.0), ("ab", "", 3.0), ("x", "yz", 4.0)]
    table = scores_by_unknown_ngrams({"falling": FALLING}, sets_of(*rows), vectorizer)
    # "_abc_" has bc and c_ that "_ab_" has not; "_x_" has two bigrams, "_yz_" three.
    assert list(table.column("pairs").values()) == [2, 1, 1, 0, 2, 4]


@pytest.mark.parametrize(
    ("analysis", "message"),
    [
        (lambda sets: scores_by_length({}, sets, bins=[3, 3]), "`bins` must increase"),
        (lambda sets: scores_by_length({}, []), "no set of scored sentences"),
        (lambda sets: scores_by_unknown_words({}, sets, []), "`known` must have at least 1 word"),
        (
            lambda sets: scores_by_unknown_ngrams({}, sets, NgramVectorizer(hash_buckets=8)),
            "none is unknown",
        ),
    ],
)
def test_errors(analysis, message):
    with pytest.raises(ConfigError, match=message):
        analysis(sets_of(*graded(2)))


def test_judged_pairs_keep_their_sets():
    judged = judge({"falling": FALLING}, [*sets_of(("a", "b 1", 1.0)), *sets_of(("a", "c 2", 2.0))])
    assert len(judged) == 2 and judged.right == ["b 1", "c 2"]
    np.testing.assert_allclose(judged.cosines["falling"], np.cos([0.1, 0.2]), rtol=1e-6)

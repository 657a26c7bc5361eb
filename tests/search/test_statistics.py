"""Counts of words: merged from parts, saved, and passed on."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import search as reference
from tests.texts import NASTY, words
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.search import TextIndex, TextScorer
from tf_charagram.search.statistics import TextStatistics

TEXTS = ["Wal-Mart Store", "walmart", "wal mart", "walmart", "cat cat", "", "C++ 12", "\ud800x"]


def arrays(statistics):
    counts = dict(zip(statistics.words, statistics.counts.tolist(), strict=True))
    joined = statistics.hashes.tolist(), statistics.hash_counts.tolist()
    return statistics.num_texts, counts, joined


def test_counts():
    statistics = TextStatistics.of_texts(TEXTS)
    counts = dict(zip(statistics.words, statistics.spelled_counts.tolist(), strict=True))
    assert counts == reference.word_counts(TEXTS)
    assert counts["walmart"] == 4 and counts["cat"] == 1
    assert statistics.num_texts == len(TEXTS)


@pytest.mark.parametrize("num_parts", [1, 2, 5])
def test_parts_in_any_order(num_parts):
    texts = [*TEXTS, *NASTY.values(), *words(200)]
    whole = TextStatistics.of_texts(texts)
    draw = np.random.default_rng(num_parts)
    shuffled = [texts[row] for row in draw.permutation(len(texts))]
    parts = [TextStatistics.of_texts(shuffled[part::num_parts]) for part in range(num_parts)]
    merged = TextStatistics.merged(parts)
    assert arrays(merged) == arrays(whole) and merged.words == whole.words
    assert arrays(TextStatistics.merged([])) == arrays(TextStatistics.of_texts([]))


def test_saved(tmp_path):
    path = tmp_path / "counts.npz"
    statistics = TextStatistics.of_texts(TEXTS)
    statistics.save(path)
    assert arrays(TextStatistics.load(path)) == arrays(statistics)
    with pytest.raises(RunError, match="exists"):
        statistics.save(path)
    empty = tmp_path / "empty.npz"
    TextStatistics.of_texts([]).save(empty)
    assert TextStatistics.load(empty).words == []
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(RunError, match=r"counts\.npz has no statistics of texts"):
        TextStatistics.load(path)
    with pytest.raises(RunError, match=r"has no statistics of texts.*No such file"):
        TextStatistics.load(tmp_path / "missing.npz")


def test_passed_on():
    """A text is prepared from the counts alone: scores do not depend on the other texts."""
    statistics = TextStatistics.of_texts(TEXTS)
    expected = TextScorer(TEXTS, None).score(TEXTS, TEXTS[::-1])
    scorer = TextScorer([], None, statistics=statistics)
    np.testing.assert_array_equal(scorer.score(TEXTS, TEXTS[::-1]), expected)
    pairs = zip(TEXTS, TEXTS[::-1], strict=True)
    alone = [scorer.score([left], [right])[0] for left, right in pairs]
    np.testing.assert_allclose(alone, expected, atol=1e-6)
    [whole] = TextIndex(TEXTS, None).search(["wallmart stor"], k=1)
    [part] = TextIndex(TEXTS[:1], None, statistics=statistics).search(["wallmart stor"], k=1)
    assert part == whole
    with pytest.raises(ConfigError, match=r"`statistics` must be TextStatistics.* Received: dict"):
        TextScorer(TEXTS, None, statistics={})

"""Common words, and rivals."""

from __future__ import annotations

import numpy as np
import pytest

from tests.search.linkage.conftest import f1
from tests.texts import words
from tf_charagram.search import TextScorer
from tf_charagram.search.linkage._columns.columns import read_columns
from tf_charagram.search.linkage._columns.shared_words import SharedWords
from tf_charagram.search.linkage._columns.whole_texts import WholeRows
from tf_charagram.search.linkage._fellegi_sunter.finding import find_links
from tf_charagram.search.linkage._fellegi_sunter.learned import (
    LearnedLinks,
    LearnedWeights,
    _log_odds,
)
from tf_charagram.search.linkage._fellegi_sunter.rows import Rivals
from tf_charagram.search.linkage.answers import matches_of


def test_shared_words():
    texts = ["red pump 12", "red pump 14 b", "blue pump", "", "PUMP red 12"]
    shared = SharedWords(texts)
    left = np.array([0, 0, 0, 0, 0, 3])
    right = np.array([1, 2, 3, 4, -1, 3])
    features = shared.features(left, right)
    assert features.shape == (6, 5)
    weights = {}
    for word in ("red", "pump", "12", "14", "b"):
        count = sum(word in text.lower().split() for text in texts)
        weights[word] = np.log1p(6 / count)
    both = weights["red"] + weights["pump"]
    rarest = weights["red"] / np.log(7)
    expected = [both / sum(weights.values()), rarest, 0, 1, 1]
    np.testing.assert_allclose(features[0], expected, rtol=1e-5)
    # Only one of both has a number.
    assert features[1, 2:].tolist() == [0, 0, 0]
    assert features[3, [0, 2, 3, 4]].tolist() == [1, 1, 0, 0]
    # Texts without words have nothing in common.
    assert not features[[2, 4, 5]].any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(3))
def test_rivals_are_other_texts(seed, dtype):
    draw = np.random.default_rng(seed)
    rows = draw.integers(0, 20, 200)
    partners = draw.integers(0, 12, 200)
    scores = draw.random(200).astype(dtype).round(1)
    rivals = Rivals(rows, partners, scores, 21)
    found = rivals.scores(rows, partners)
    for row, partner, value in zip(rows, partners, found, strict=True):
        others = scores[(rows == row) & (partners != partner)]
        assert value == others.max(initial=0)
    assert rivals.scores(np.array([20]), np.array([0])) == [0]


def products(seed, number=400):
    """Returns two lists of products, and the pairs of rows that are the same product.

    Models of a line differ in the number; shops add words, and leave out others.
    """
    draw = np.random.default_rng(seed)
    names = words(60, seed)
    extras = words(30, seed + 100)
    left, right = [], []
    for _ in range(number):
        line = draw.choice(names, 3).tolist()
        model = f"{line[0][:2]}{draw.integers(100, 999)}"
        left.append(" ".join([*line, model]))
        kept = [word for word in line if draw.random() < 0.7]
        code = model if draw.random() < 0.6 else ""
        right.append(" ".join([*kept, code, *draw.choice(extras, 2)]))
    return left, right


@pytest.mark.parametrize("seed", range(2))
def test_learning_beats_the_joined_string(seed):
    left, right = products(seed)
    links = find_links(read_columns({"name": left}, {"name": right}, ["name"]))
    draw = np.random.default_rng(seed)
    pairs = np.unique(np.concatenate([links.pairs, np.stack([np.arange(400)] * 2, axis=1)]), axis=0)
    is_match = pairs[:, 0] == pairs[:, 1]
    # As many labels of others as of matches, which are similar.
    others = draw.permutation(np.flatnonzero(~is_match))[:450]
    order = draw.permutation(np.append(np.flatnonzero(is_match), others))
    used, held_out = order[:300], order[300:]
    model = LearnedLinks(links.columns, links._plain_log_odds, links.pairs, None)
    model.learn(pairs[used], is_match[used])
    found = model.log_odds(pairs[held_out]) >= 0
    scorer = TextScorer([*left, *right], None)
    sides = [[left[row] for row in pairs[:, 0]], [right[row] for row in pairs[:, 1]]]
    texts = [[side[pair] for pair in used] for side in sides]
    scorer.learn(*texts, is_match[used].astype(int).tolist())
    plain = scorer.score(*[[side[pair] for pair in held_out] for side in sides]) >= 0.5
    truth = set(np.flatnonzero(is_match[held_out]).tolist())
    by_columns = f1(set(np.flatnonzero(found).tolist()), truth)
    assert by_columns > f1(set(np.flatnonzero(plain).tolist()), truth)
    assert by_columns > 0.9


def test_labels_of_the_best_pairs_do_not_mislead():
    left, right = products(0)
    links = find_links(read_columns({"name": left}, {"name": right}, ["name"]))
    truth = {(row, row) for row in range(len(left))}

    def found():
        return {(pair.left, pair.right) for pair in matches_of(links, 0.5).pairs}

    plain = f1(found(), truth)
    # Users label the pairs that are shown: the best partner of each left row.
    best = [links.pairs[:, 0] == row for row in range(60)]
    labels = []
    for is_of_row in best:
        of_row = np.flatnonzero(is_of_row)
        if len(of_row):
            pair = links.pairs[of_row[np.argmax(links.probabilities[of_row])]].tolist()
            labels.append((*pair, int(tuple(pair) in truth)))
    links.learn_from(np.array(labels), None)
    assert links.learned is not None
    assert f1(found(), truth) >= plain - 0.01


def test_pairs_surer_than_all_labels_keep_their_answer():
    left, right = products(0)
    links = find_links(read_columns({"name": left}, {"name": right}, ["name"]))
    plain = np.clip(links._log_odds(links.pairs), -10, 10)
    is_asked = np.abs(plain) < 2
    asked = links.pairs[is_asked]
    model = LearnedLinks(links.columns, links._plain_log_odds, links.pairs, None)
    model.learn(asked, asked[:, 0] == asked[:, 1])
    found = model.log_odds(links.pairs)
    is_surer = (plain < plain[is_asked].min()) | (plain > plain[is_asked].max())
    np.testing.assert_allclose(found[is_surer], plain[is_surer])
    assert is_surer.sum() > 10 and np.abs(found - plain)[is_asked].max() > 0.1


def test_changes_count_as_far_as_they_are_more_than_their_error():
    # The first feature is 0.6 times the log-odds without labels, whose weight stays as it was.
    weights = np.array([1 / 0.6, 0.5])
    fitted = LearnedWeights(weights, np.diag([0, 0.25]), np.zeros(2), np.array([-1.0, 1.0]))
    features = np.array([[0.3, 1], [0.3, 0.1], [1.2, 1]])
    # A change of 0.5 with an error of 0.5 counts half. The last pair is surer than all labels.
    np.testing.assert_allclose(_log_odds(features, fitted), [0.75, 0.525, 2])


def test_words_are_no_more_evidence_than_matches_show():
    rows = [f"firm {number} ltd" for number in range(40)]
    others = [f"firm {number} ltd" if number % 2 else "gone away" for number in range(40)]
    whole = WholeRows(rows, others, None)
    pairs = np.stack([np.arange(40)] * 2, axis=1)
    by_columns = np.full(40, 5.0)
    before = whole.log_odds(by_columns, pairs)
    whole.fit(by_columns, pairs)
    after = whole.log_odds(by_columns, pairs)
    # Half of the matches have other words: 20 of 40, and one of 20 that are assumed.
    assert after[0] == pytest.approx(5 + np.log(21 / 60) + 0.5, abs=0.01)
    assert before[0] < after[0] and before[1] == after[1] > 5


def test_words_that_rivals_share_are_no_evidence():
    titles = [f"Concert {name}" for name in words(20)]
    rows = WholeRows(titles, titles)
    by_columns, pair = np.zeros(1), np.array([[3, 3]])
    [alone] = rows.log_odds(by_columns, pair)
    [among_rivals] = rows.log_odds(by_columns, pair, np.ones(1))
    assert alone > 1 and among_rivals == pytest.approx(0)

"""`match` and `deduplicate`."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tests.search.conftest import TEXTS
from tests.texts import NASTY, words
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.search import TextIndex, TextScorer, deduplicate, match

LEFT = ["Horse 12", "hoarse 7", "", "Bird", "zzz"]
RIGHT = ["bird 1", "HORSE 12", "horse 12", "hoarse 77", " "]


def misspelled(seed, number=60):
    """Returns texts of groups of two or three, in any order, and the group of each."""
    draw, texts, groups = np.random.default_rng(seed), [], []
    for group, (one, other) in enumerate(zip(words(number), words(number, 9), strict=True)):
        text = f"{one} {other} {one[::-1]}"
        place = draw.integers(1, 5)
        swapped = text[:place] + text[place + 1] + text[place] + text[place + 2 :]
        forms = [text, text.title(), swapped][: draw.integers(1, 4)]
        texts += forms
        groups += [group] * len(forms)
    order = draw.permutation(len(texts))
    return [texts[row] for row in order], [groups[row] for row in order]


@pytest.mark.parametrize("use_model", [False, True])
def test_match_takes_the_best(embedder, use_model):
    model = embedder if use_model else None
    scorer = TextScorer([*LEFT, *RIGHT], model)
    found = match(LEFT, RIGHT, model)
    scores = np.array([scorer.score([text] * len(RIGHT), RIGHT) for text in LEFT])
    expected = [(row, int(np.argmax(s)), max(s)) for row, s in enumerate(scores) if max(s) > 0]
    # Without vectors, candidates share n-grams.
    expected = [e for e in expected if use_model or LEFT[e[0]] != "zzz"]
    assert [pair[:2] for pair in found.pairs] == [e[:2] for e in expected]
    np.testing.assert_allclose([p.score for p in found.pairs], [e[2] for e in expected], atol=1e-5)
    assert (found.threshold, found.learned) == (0, None)
    assert found.pairs[0][:2] == (0, 1) and 2 not in {pair.left for pair in found.pairs}
    high = match(LEFT, RIGHT, model, threshold=0.99)
    assert high.pairs == [pair for pair in found.pairs if pair.score >= 0.99] != []


def test_one_to_one():
    lefts, rights = ["horse", "horses", "horse", "dog"], ["horse", "horse", "hoarse"]
    assert [pair[:2] for pair in match(lefts, rights, None).pairs] == [(0, 0), (1, 0), (2, 0)]
    pairs = match(lefts, rights, None, one_to_one=True).pairs
    assert [pair[:2] for pair in pairs] == [(0, 0), (1, 2), (2, 1)]
    texts = words(60)
    pairs = match(texts, texts[::-1], None, one_to_one=True).pairs
    assert [pair[:2] for pair in pairs] == [
        (row, len(texts) - 1 - row) for row in range(len(texts))
    ]


@pytest.mark.parametrize("use_model", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_groups_match_on_average(embedder, seed, use_model):
    model = embedder if use_model else None
    texts, truth = misspelled(seed)
    texts += ["", " ", "", "?!", "?!"]
    found = deduplicate(texts, model)
    members = [row for group in found.groups for row in group.rows]
    assert len(members) == len(set(members))
    assert found.threshold == 0.7
    assert [min(group.rows) for group in found.groups] == sorted(min(g.rows) for g in found.groups)
    scorer = TextScorer(texts, model)
    for group in found.groups:
        inner = list(combinations(group.rows, 2))
        sides = [[texts[pair[side]] for pair in inner] for side in (0, 1)]
        scores = np.maximum(scorer.score(*sides), scorer.score(*sides[::-1]))
        # The last two parts that were joined have it; earlier ones have more.
        assert scores.mean() >= 0.7 - 1e-5
    pairs = [(group.rows[0], row) for group in found.groups for row in group.rows[1:]]
    assert len(pairs) >= len(found.groups) > 20
    sides = [[texts[pair[side]] for pair in pairs] for side in (0, 1)]
    scores = np.maximum(scorer.score(*sides), scorer.score(*sides[::-1]))
    given = [score for group in found.groups for score in group.scores[1:]]
    # Equal texts have 1, even if the model does not know their characters.
    scores[np.array(sides[0]) == np.array(sides[1])] = 1
    np.testing.assert_allclose(given, scores, atol=1e-5)
    assert {group.rows[0] for group in found.groups} <= {*found.kept}
    dropped = {row for group in found.groups for row in group.rows[1:]}
    assert sorted([*found.kept, *dropped]) == list(range(len(texts)))
    assert not {*members} & {len(truth), len(truth) + 1, len(truth) + 2}
    if not use_model:
        kept = [truth[row] for row in found.kept if row < len(truth)]
        assert sorted(kept) == sorted(set(truth))


def test_scores_of_groups():
    texts = ["cat dog bird", "horse", "cat dog bird", "cat dog byrd", "horse", "cat"]
    groups = deduplicate(texts, None).groups
    assert [group.rows for group in groups] == [[0, 2, 3], [1, 4]]
    assert groups[0].scores[:2] == [1, 1] and 0.7 <= groups[0].scores[2] < 1
    same = ["".join(c + "\u0301" if c in "aeiou" else c for c in text.upper()) for text in texts]
    assert deduplicate(same, None).groups == groups
    mixed = deduplicate([*texts, *same], None)
    assert mixed.kept == deduplicate(texts, None).kept
    assert len(deduplicate(["cat"] * 500, None).groups[0].rows) == 500


def test_large_groups_are_whole():
    number = 150
    texts = [f"honeywell laboratories amsterdam {row}" for row in range(number)]
    texts += [f"{word} {word[::-1]}" for word in words(number)]
    found = deduplicate(texts, None, threshold=0.5)
    largest = max(found.groups, key=lambda group: len(group.rows))
    assert sorted(largest.rows) == list(range(number))
    assert min(largest.scores) >= found.threshold


def test_components_follow_chains():
    texts = ["apple pear", "apple pear plum", "zucchini", "pear plum fig", "plum fig"]
    found = deduplicate(texts, None, threshold=0.5)
    assert [sorted(group.rows) for group in found.groups] == [[0, 1], [3, 4]]
    assert not found.weak_links
    found = deduplicate(texts, None, threshold=0.5, groups="components")
    assert [group.rows for group in found.groups] == [[1, 0, 3, 4]] and found.kept == [1, 2]
    scores = TextScorer(texts, None).score([texts[1]] * 4, [texts[row] for row in (1, 0, 3, 4)])
    # Rows that others connect have their own scores.
    assert found.groups[0].scores == pytest.approx(scores, abs=0.02) and scores[3] < 0.5
    assert found.weak_links == [(1, 3, found.groups[0].scores[2], 4)]


def test_labels():
    texts, truth = misspelled(0)
    draw = np.random.default_rng(0)
    pairs = [(row, row) for row in range(9)] + draw.integers(0, len(texts), (400, 2)).tolist()
    pairs += [(a, b) for a in range(len(texts)) for b in range(a) if truth[a] == truth[b]]
    labels = [(texts[a], texts[b], int(truth[a] == truth[b])) for a, b in pairs]
    found = deduplicate(texts, None, labels=iter(labels))
    assert found.threshold == found.learned.threshold and 0 < found.threshold < 1
    assert found.learned.precision > 0.9 and found.learned.recall > 0.9
    assert len(found.kept) == len(set(truth))
    given = match(texts, texts, None, labels=labels, threshold=0.25)
    assert given.threshold == 0.25 and given.learned.threshold != 0.25
    for few in ([], labels[:9], [("a", "b", 0)] * 3):
        with pytest.raises(ConfigError, match=r"`labels` must be 1 or 0 .* at least twice"):
            deduplicate(texts, None, labels=few)
    with pytest.raises(ConfigError, match=r"`labels` must be two texts and 1 or 0 each"):
        deduplicate(texts, None, labels=[("a", "b")])


def test_odd_lists():
    odd = list(NASTY.values())
    has_words = [row for row, name in enumerate(NASTY) if name not in ("empty", "spaces")]
    assert [pair.left for pair in match(odd, odd, None).pairs] == has_words
    assert match([], ["cat"], None).pairs == match(["cat"], [], None, one_to_one=True).pairs == []
    assert deduplicate([], None)[:2] == ([], [])
    assert deduplicate(["", " "], None)[:2] == ([], [0, 1])
    long = " ".join(f"word{number}" for number in range(20_000))
    assert deduplicate([long, "x" * 100_000, long + "s"], None).kept == [0, 1]


@pytest.mark.parametrize("find", [deduplicate, lambda texts, *a, **k: match(texts, texts, *a, **k)])
def test_errors(find):
    for threshold in (-0.1, 1.5, float("nan"), "0.5"):
        with pytest.raises(ConfigError, match=rf"`threshold` must be in \[0, 1\].* {threshold!r}"):
            find(TEXTS, None, threshold=threshold)
    with pytest.raises(ConfigError, match="single string"):
        find("cat", None)
    with pytest.raises(ConfigError, match="there is nothing to compare"):
        find(TEXTS, None, lexical=False)
    with pytest.raises(ConfigError, match="Unknown kind of groups"):
        deduplicate(TEXTS, None, groups="star")


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"on_right": ["b"]}, "on_right"),
        ({"kinds": {"a": "name"}}, "kinds"),
        ({"on": ["a"], "lexical": False}, "lexical"),
        ({"on": ["a"], "shows_progress": True}, "shows_progress"),
    ],
    ids=str,
)
def test_arguments_without_effect_are_refused(arguments, name):
    left = {"a": ["cat"]} if "on" in arguments else ["cat"]
    with pytest.raises(ConfigError, match=rf"`{name}` is for (columns|lists of texts)\. "):
        match(left, left, None, **arguments)
    arguments.pop("on_right", None)
    if arguments:
        with pytest.raises(ConfigError, match=rf"`{name}` is for (columns|lists of texts)\. "):
            deduplicate(left, None, **arguments)


def test_a_model_must_exist(model):
    table = {"a": ["cat"], "b": ["dog"]}
    with pytest.raises(RunError, match=r"englsh is not a model folder.*Did you mean 'english'"):
        match(table, table, "englsh", on=["a", "b"])
    with pytest.raises(RunError, match="englsh is not a model folder"):
        deduplicate(table, "englsh", on=["a", "b"])
    with pytest.raises(ConfigError, match="`scorer` has its own model"):
        TextIndex(["cat"], model, scorer=TextScorer(["cat"], None))

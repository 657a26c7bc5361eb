"""`match` and `deduplicate`."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tests.search.conftest import TEXTS
from tests.search.linkage.conftest import misspelled as with_typo
from tests.texts import NASTY, words
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.search import TextIndex, TextScorer, deduplicate, match
from tf_charagram.search.linkage._columns.whole_texts import WholeTexts
from tf_charagram.search.scoring import PairEvidence

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
    found = match(LEFT, RIGHT, model)
    # Both HORSE 12 and horse 12 are the first text; the one that is equal to the letter would win.
    assert [pair[:2] for pair in found.pairs if pair.left != 1] == [(0, 1), (0, 2), (3, 0)]
    assert [pair.score == 1 for pair in found.pairs if pair.left != 1] == [True, True, False]
    # 7 may be another number than 77. A threshold chooses pairs, and does not change their scores.
    more = {pair[:2]: pair.score for pair in match(LEFT, RIGHT, model, threshold=0.3).pairs}
    assert (1, 3) in more
    for pair in found.pairs:
        assert more[pair[:2]] == pytest.approx(pair.score, abs=0.01)
    assert (found.threshold, found.learned) == (0.5, None)
    high = match(LEFT, RIGHT, model, threshold=0.99)
    assert high.pairs == [pair for pair in found.pairs if pair.score >= 0.99] != []
    assert [each.right for each in found.alternatives(0, 2)] == [1, 2]
    assert [each.column for each in found.explain(1)] == ["prior", "text", "together"]


@pytest.mark.parametrize("model", [None, "english"])
def test_a_column_is_a_list(model):
    left, right = ["Sonny Phones Ltd", "N/A", "ACME"], ["acme gmbh", "sony phones", "n/a"]
    tables = {"a": left}, {"b": right}
    in_lists = match(left, right, model)
    found = match(*tables, model, on=["a"], on_right=["b"])
    assert [pair[:2] for pair in found.pairs] == [(0, 1), (2, 0)]
    assert found.pairs == in_lists.pairs and found.estimates == in_lists.estimates
    assert found.join(*tables)["b"] == ["sony phones", "acme gmbh"]
    texts = [*left, *right]
    groups = deduplicate(texts, model).groups
    assert groups == deduplicate({"a": texts}, model, on=["a"]).groups
    assert [group.rows for group in groups] == [[0, 4], [2, 3]]


@pytest.mark.parametrize(
    "written",
    [
        "\u682a\u5f0f\u4f1a\u793eMilano", "\u3231Milano", "Milano\u6709\u9650\u516c\u53f8",
        "\u041e\u041e\u041e Milano", "Milano Sp. z o.o.", "Milano A/S",
        "MILANO S.p.A.", "Milano a.s.",
    ],
)  # fmt: skip
def test_legal_forms_do_not_count(written):
    found = match([written, "Torino S.p.A."], ["Milano", "Bari"], None)
    assert found.pairs == [(0, 0, 1.0)]


def test_one_to_one():
    lefts, rights = ["horse", "horses", "horse", "dog"], ["horse", "horse", "hoarse"]
    pairs = match(lefts, rights, None, one_to_one=True, threshold=0).pairs
    assert [pair[:2] for pair in pairs] == [(0, 0), (1, 2), (2, 1)]
    texts = words(60)
    pairs = match(texts, texts[::-1], None, one_to_one=True).pairs
    assert [pair[:2] for pair in pairs] == [
        (row, len(texts) - 1 - row) for row in range(len(texts))
    ]


@pytest.mark.parametrize("use_model", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_groups_match_on_average(embedder, seed, use_model):
    texts, truth = misspelled(seed)
    texts += ["", " ", "", "?!", "?!"]
    found = deduplicate(texts, embedder if use_model else None)
    members = [row for group in found.groups for row in group.rows]
    assert len(members) == len(set(members))
    assert found.threshold == 0.5 and len(found.groups) > 20
    assert [min(group.rows) for group in found.groups] == sorted(min(g.rows) for g in found.groups)
    for group in found.groups:
        inner = np.array(list(combinations(sorted(group.rows), 2)))
        # The last two parts that were joined have it; earlier ones have more.
        assert found.links.probabilities_of(inner).mean() >= 0.5
        pairs = np.array([[group.rows[0], row] for row in group.rows[1:]])
        expected = found.links.probabilities_of(np.sort(pairs, axis=1))
        np.testing.assert_allclose(group.scores[1:], expected)
    assert {group.rows[0] for group in found.groups} <= {*found.kept}
    dropped = {row for group in found.groups for row in group.rows[1:]}
    assert sorted([*found.kept, *dropped]) == list(range(len(texts)))
    # Texts without words are in no group.
    assert not {*members} & {len(truth), len(truth) + 1, len(truth) + 2}
    kept = [truth[row] for row in found.kept if row < len(truth)]
    assert len(set(truth)) <= len(kept) < 1.05 * len(set(truth))


def test_scores_of_groups():
    texts = ["cat dog bird", "horse", "cat dog bird", "cat dog byrd", "horse", "cat"]
    groups = deduplicate(texts, None).groups
    assert [group.rows for group in groups] == [[0, 2, 3], [1, 4]]
    assert groups[0].scores[:2] == [1, 1] and 0.5 <= groups[0].scores[2] < 1
    same = ["".join(c + "\u0301" if c in "aeiou" else c for c in text.upper()) for text in texts]
    assert deduplicate(same, None).groups == groups
    mixed = deduplicate([*texts, *same, *words(20)], None)
    assert mixed.kept == [*deduplicate(texts, None).kept, *range(12, 32)]
    assert len(deduplicate(["cat"] * 500, None).groups[0].rows) == 500


def test_results_of_large_tables_are_shown_in_a_line():
    names = words(40)
    assert repr(deduplicate([*names, *names], None)) == (
        f"Duplicates(num_groups={len({*names})}, threshold=0.5)"
    )
    assert repr(match(names[:1], names[:2], None)) == "Matches(num_pairs=1, threshold=0.5)"


def test_large_groups_are_whole():
    number = 150
    text = "honeywell laboratories amsterdam"
    texts = [f"{text[:at]}{letter}{text[at + 1 :]}" for letter in "qwxyz" for at in range(30)]
    texts += [f"{word} {word[::-1]}" for word in words(600)]
    found = deduplicate(texts, None, threshold=0.05)
    largest = max(found.groups, key=lambda group: len(group.rows))
    assert sorted(largest.rows) == list(range(number))
    assert min(largest.scores) >= found.threshold


def test_components_follow_chains():
    texts = ["apple pear", "apple pear plum kiwi", "zucchini", "plum kiwi", "plum kiwi fig"]
    options = {"model": None, "threshold": 0.15}
    found = deduplicate(texts, **options)
    assert [sorted(group.rows) for group in found.groups] == [[0, 1], [3, 4]]
    assert not found.weak_links
    found = deduplicate(texts, **options, groups="components")
    assert [group.rows for group in found.groups] == [[1, 0, 3, 4]] and found.kept == [1, 2]
    # Rows that others connect have their own scores.
    assert found.groups[0].scores[3] < 0.15
    [link] = found.weak_links
    assert link == (1, 3, found.groups[0].scores[2], 4)


def test_typos_are_surer_than_other_words_if_the_rest_is_rare():
    first, last = words(30), words(30, 1)
    typo = first[0][1] + first[0][0] + first[0][2:]
    texts = [f"{one} {other}" for one in first for other in last]
    texts += [f"{typo} {last[0]}", first[0], typo]
    scorer = TextScorer(texts, None)
    whole = WholeTexts(scorer, scorer.prepare(texts))
    # The first text and one with a typo, the first one and one with another word, a single word.
    pairs = np.array([[0, 900], [0, 30], [901, 902]])
    same = PairEvidence(np.full(3, 0.8, np.float32), np.full(3, 0.5, np.float32))
    with_typo, with_other_word, alone = whole.probabilities(pairs, same)
    assert with_typo > alone + 0.05
    assert alone > with_other_word + 0.05


def test_things_with_words_of_their_own_stay_apart():
    draw = np.random.default_rng(0)
    places = "north south market harbour airport church".split()
    towns = words(150, 3)
    texts = [f"{town} {place}" for town in towns for place in draw.choice(places, 3, replace=False)]
    copies = [with_typo(draw, text) for text in texts[::3]]
    groups = deduplicate([*texts, *copies], None).groups
    right = {(3 * row, len(texts) + row) for row in range(len(copies))}
    found = {tuple(sorted(group.rows)) for group in groups}
    # The others have towns that are written alike.
    assert len(found & right) > 0.8 * len(right) and len(found - right) < 0.2 * len(right)


def test_labels():
    texts, truth = misspelled(0)
    draw = np.random.default_rng(0)
    pairs = draw.integers(0, len(texts), (400, 2)).tolist()
    pairs += [(a, b) for a in range(len(texts)) for b in range(a) if truth[a] == truth[b]]
    pairs = [(a, b) for a, b in pairs if a != b]
    labels = [(texts[a], texts[b], int(truth[a] == truth[b])) for a, b in pairs]
    found = deduplicate(texts, None, labels=iter(labels))
    assert found.learned.precision > 0.9 and found.learned.recall > 0.9
    assert len(set(truth)) <= len(found.kept) < 1.05 * len(set(truth))
    rows = [(a, b, int(truth[a] == truth[b])) for a, b in pairs]
    learned = deduplicate(texts, None, labels=rows).learned
    assert learned.precision > 0.9 and learned.recall > 0.9
    for few in ([], labels[:1]):
        assert deduplicate(texts, None, labels=few).learned is None
    with pytest.raises(ConfigError, match=r"`labels` must name rows .* or repeat their cells"):
        deduplicate(texts, None, labels=[("nothing", texts[0], 1)])
    with pytest.raises(ConfigError, match=r"`labels` must be two rows and 1 or 0 each"):
        deduplicate(texts, None, labels=[("a", "b")])


def test_odd_lists():
    odd = list(NASTY.values())
    has_words = [row for row, name in enumerate(NASTY) if name not in ("empty", "spaces")]
    assert sorted({pair.left for pair in match(odd, odd, None).pairs}) == has_words
    assert match([], ["cat"], None).pairs == match(["cat"], [], None, one_to_one=True).pairs == []
    assert deduplicate([], None).kept == []
    assert deduplicate(["", " "], None).kept == [0, 1]
    long = " ".join(f"word{number}" for number in range(2000))
    assert deduplicate([long, "x" * 50_000, long + "s"], None).kept == [0, 1]


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
        ({"on": ["a", "b"], "lexical": False}, "lexical"),
        ({"on": ["a", "b"], "shows_progress": True}, "shows_progress"),
    ],
    ids=str,
)
def test_arguments_without_effect_are_refused(arguments, name):
    left = {"a": ["cat"], "b": ["dog"]} if "on" in arguments else ["cat"]
    with pytest.raises(ConfigError, match=rf"`{name}` is for (columns|texts)\. "):
        match(left, left, None, **arguments)
    arguments.pop("on_right", None)
    if arguments:
        with pytest.raises(ConfigError, match=rf"`{name}` is for (columns|texts)\. "):
            deduplicate(left, None, **arguments)


def test_a_model_must_exist(model):
    table = {"a": ["cat"], "b": ["dog"]}
    with pytest.raises(RunError, match=r"englsh is not a model folder.*Did you mean 'english'"):
        match(table, table, "englsh", on=["a", "b"])
    with pytest.raises(RunError, match="englsh is not a model folder"):
        deduplicate(table, "englsh", on=["a", "b"])
    with pytest.raises(ConfigError, match="`scorer` has its own model"):
        TextIndex(["cat"], model, scorer=TextScorer(["cat"], None))

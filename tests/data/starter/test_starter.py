"""The starter set: size, split, inflection, and what it says of itself."""

from __future__ import annotations

import subprocess
import sys
from itertools import chain

import pytest

from tf_charagram.data import starter
from tf_charagram.data.starter.grow import (
    HELDOUT_SHARE,
    connected_components,
    distinct,
    misspell,
    read_tables,
    split_groups,
    surface_words,
)
from tf_charagram.data.starter.inflect import count_syllables, inflect


@pytest.fixture(scope="module")
def train() -> list[tuple[str, str]]:
    return list(starter.train_pairs())


@pytest.fixture(scope="module")
def heldout() -> list[tuple[str, str]]:
    return list(starter.heldout_pairs())


def words_of(pairs) -> set[str]:
    return set(chain.from_iterable(pair[:2] for pair in pairs))


def test_counts(train, heldout):
    tables = read_tables()
    train_groups, heldout_groups = split_groups()
    assert len(tables.groups) >= 1200
    assert len(train) >= 20_000
    assert len(heldout) >= 1000
    assert len(starter.graded_pairs()) >= 300
    assert len(train_groups) + len(heldout_groups) == len(tables.groups)
    share = len(heldout_groups) / len(tables.groups)
    assert HELDOUT_SHARE <= share < HELDOUT_SHARE + 0.02
    assert len(tables.spelling) >= 150
    assert len({correct for correct, _ in tables.misspellings}) >= 250


def test_groups_are_well_formed():
    positions = {"verb", "noun", "noun-mass", "adj", "adj-abs", "adv"}
    for group in read_tables().groups:
        assert group.pos in positions, group
        assert 2 <= len(group.words) <= 7, group
        assert len(set(group.words)) == len(group.words), group
        assert all(word.isascii() and word.isalpha() and word.islower() for word in group.words)
    assert len(set(read_tables().groups)) == len(read_tables().groups)


def test_no_word_of_a_heldout_group_is_trained_on(train, heldout):
    irregular = read_tables().irregular
    train_groups, heldout_groups = split_groups()
    unseen = set().union(*(surface_words(group, irregular) for group in heldout_groups))
    assert unseen.isdisjoint(words_of(train))
    assert not any(unseen & surface_words(group, irregular) for group in train_groups)
    assert words_of(heldout).isdisjoint(words_of(train))


def test_no_graded_word_is_trained_on(train):
    assert words_of(starter.graded_pairs()).isdisjoint(words_of(train))


def test_training_has_every_kind_of_pair(train):
    pairs = {frozenset(pair) for pair in train}
    for pair in [
        ("begin", "start"),
        ("began", "started"),
        ("begin", "beginning"),
        ("color", "colour"),
        ("traveled", "travelled"),
        ("apologize", "apologise"),
        ("receive", "recieve"),
    ]:
        assert frozenset(pair) in pairs, pair


def test_most_confident_pairs_come_first(train):
    kinds = [("begin", "start"), ("began", "started"), ("begin", "begun")]
    kinds += [("color", "colour"), ("receive", "recieve")]
    places = [min(i for i, p in enumerate(train) if set(p) == set(kind)) for kind in kinds]
    assert places == sorted(places)


@pytest.mark.parametrize("name", ["train_pairs", "heldout_pairs", "graded_pairs"])
def test_pairs_are_clean_and_distinct(name):
    pairs = [row[:2] for row in getattr(starter, name)()]
    for first, second in pairs:
        assert first != second
        for word in (first, second):
            assert word and word == word.strip().lower()
            assert word.replace("-", "").isalpha(), word
    assert len({frozenset(pair) for pair in pairs}) == len(pairs)


def test_wrong_spellings_are_not_correct_words_of_the_set():
    tables = read_tables()
    surfaces = (surface_words(group, tables.irregular) for group in tables.groups)
    correct = set().union(*surfaces, *tables.spelling)
    assert correct.isdisjoint(wrong for _, wrong in tables.misspellings)


def test_graded_scores():
    scores = {frozenset(row[:2]): row[2] for row in starter.graded_pairs()}
    assert all(0 <= score <= 10 for score in scores.values())
    # Every part of the scale has pairs: unrelated, related, inflection, synonym.
    for low, high in [(0, 1), (3, 6), (6.5, 8), (8, 10)]:
        assert sum(low <= score <= high for score in scores.values()) >= 30
    assert scores[frozenset({"theater", "theatre"})] > scores[frozenset({"happy", "glad"})]
    assert scores[frozenset({"happy", "glad"})] > scores[frozenset({"cat", "kitten"})]


def test_description_says_what_it_is_for():
    assert "first runs and tests" in starter.DESCRIPTION
    assert "not for publishing" in starter.DESCRIPTION


def test_a_new_process_gives_the_same_pairs(train):
    program = (
        "import zlib; from tf_charagram.data import starter as s;"
        "p = repr([list(s.train_pairs()), list(s.heldout_pairs())]); print(zlib.crc32(p.encode()))"
    )
    sums = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(sums) == 1
    assert train == list(starter.train_pairs())


VERBS = """stop stopped stopping stops; panic panicked panicking panics;
carry carried carrying carries;
visit visited visiting visits; admit admitted admitting admits; open opened opening opens;
play played playing plays; die died dying dies; dye dyed dyeing dyes; agree agreed agreeing agrees;
echo echoed echoing echoes; fix fixed fixing fixes; quiz quizzed quizzing quizzes;
singe singed singeing singes; boo booed booing boos; travel traveled traveling travels;
go went going goes; begin began beginning begins; put put putting puts;
write wrote writing writes"""
OTHERS = """noun city cities; noun box boxes; noun child children; noun day days;
noun church churches; noun woman women; noun human humans; noun leaf leaves;
noun monarch monarchs; noun crisis crises;
noun photo photos; noun hero heroes; adj happy happier happiest; adj big bigger biggest;
adj nice nicer nicest; adj simple simpler simplest; adj narrow narrower narrowest;
adj lively livelier liveliest; adj unhappy unhappier unhappiest; adj good better best;
adj new newer newest; adj clever cleverer cleverest; adj beautiful; adj ordinary; adj pleased;
noun sheep; noun sustenance; noun-mass anger; adj-abs dead; adv quickly"""


@pytest.mark.parametrize("case", [case.split() for case in VERBS.split(";")])
def test_verb_inflection(case):
    forms = inflect(case[0], "verb", read_tables().irregular)
    assert [forms["past"], forms["gerund"], forms["third"]] == case[1:]


@pytest.mark.parametrize("case", [case.split() for case in OTHERS.split(";")])
def test_noun_and_adjective_inflection(case):
    pos, word, *expected = case
    assert list(inflect(word, pos, read_tables().irregular).values()) == expected


def test_irregular_table_has_the_right_number_of_forms():
    counts = {"verb": {2}, "noun": {0, 1}, "adj": {0, 2}}
    for (lemma, pos), forms in read_tables().irregular.items():
        assert len(forms) in counts[pos], lemma


def test_syllables():
    words = ["strange", "simple", "lively", "happy", "ordinary", "quit", "the"]
    assert [count_syllables(word) for word in words] == [1, 2, 2, 2, 4, 1, 1]


def test_misspell():
    assert misspell("embarrass") == "embarass"
    assert misspell("deceive") == "decieve"
    assert misspell("relevant") == "relevent"
    assert misspell("carrot") is None  # too short to be often misspelled


def test_connected_components_join_through_shared_words():
    sets = [{"a", "b"}, {"c"}, {"d", "e"}, {"b", "d"}]
    assert connected_components(sets) == [[0, 2, 3], [1]]


def test_distinct_drops_repeats_self_pairs_and_blocked_words():
    pairs = [("a", "b"), ("b", "a"), ("c", "c"), ("a", "x"), ("a", "d")]
    assert list(distinct(pairs, frozenset({"x"}))) == [("a", "b"), ("a", "d")]

"""The word pairs of the starter set, made from tables."""

from __future__ import annotations

from itertools import chain

import pytest

from recipes import starter_words
from recipes.inflect import count_syllables, inflect
from recipes.starter_words import connected_components, distinct, misspell, read_tables


def test_the_package_has_the_pairs_that_the_script_writes():
    lines = (starter_words.STARTER / "words.tsv").read_text(encoding="utf-8").splitlines()
    pairs = list(starter_words.train_pairs())
    assert ["\t".join(pair) for pair in pairs] == lines
    heldout = set(chain.from_iterable(starter_words.heldout_pairs()))
    assert heldout and heldout.isdisjoint(chain.from_iterable(pairs))


VERBS = """stop stopped stopping stops; panic panicked panicking panics;
carry carried carrying carries; visit visited visiting visits; admit admitted admitting admits;
die died dying dies; dye dyed dyeing dyes; agree agreed agreeing agrees; fix fixed fixing fixes;
quiz quizzed quizzing quizzes; singe singed singeing singes; go went going goes;
put put putting puts"""
OTHERS = """noun city cities; noun box boxes; noun child children; noun woman women;
noun human humans; noun monarch monarchs; adj happy happier happiest; adj big bigger biggest;
adj simple simpler simplest; adj unhappy unhappier unhappiest; adj good better best;
adj beautiful; noun sheep; noun-mass anger; adj-abs dead; adv quickly"""


@pytest.mark.parametrize("case", [case.split() for case in VERBS.split(";")])
def test_verbs(case):
    forms = inflect(case[0], "verb", read_tables().irregular)
    assert [forms["past"], forms["gerund"], forms["third"]] == case[1:]


@pytest.mark.parametrize("case", [case.split() for case in OTHERS.split(";")])
def test_nouns_and_adjectives(case):
    pos, word, *expected = case
    assert list(inflect(word, pos, read_tables().irregular).values()) == expected


def test_syllables():
    words = ["strange", "simple", "lively", "happy", "ordinary", "quit", "the"]
    assert [count_syllables(word) for word in words] == [1, 2, 2, 2, 4, 1, 1]


def test_misspell():
    words = ["embarrass", "deceive", "relevant", "carrot"]  # the last is too short
    assert list(map(misspell, words)) == ["embarass", "decieve", "relevent", None]


def test_connected_components_join_through_shared_words():
    assert connected_components([{"a", "b"}, {"c"}, {"d", "e"}, {"b", "d"}]) == [[0, 2, 3], [1]]


def test_distinct_drops_repeats_self_pairs_and_blocked_words():
    pairs = [("a", "b"), ("b", "a"), ("c", "c"), ("a", "x"), ("a", "d")]
    assert list(distinct(pairs, frozenset({"x"}))) == [("a", "b"), ("a", "d")]

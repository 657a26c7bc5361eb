"""Typos in texts and sets."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from tf_charagram.data._tables.scored import ScoredPairs
from tf_charagram.data.typos import KINDS, Typos, add_typos, with_typos

TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(st.text("abzé", min_size=1, max_size=7), max_size=6).map(" ".join),
)
SEEDS = st.integers(0, 2**32)


def add(text, num_edits, seed):
    return add_typos(text, num_edits, np.random.default_rng(seed))


def long_words(text):
    return [word for word in re.findall(r"[^\W\d_]+", text) if len(word) > 3 and word.isalpha()]


@given(TEXTS, SEEDS)
def test_one_edit_changes_one_long_word_and_nothing_else(text, seed):
    edited = add(text, 1, seed)
    if not long_words(text):
        assert edited == text
        return
    assert edited != text
    pieces, found = (re.split(r"([^\W\d_]+)", some) for some in (text, edited))
    assert len(pieces) == len(found)
    (changed,) = [pair for pair in zip(pieces, found, strict=True) if pair[0] != pair[1]]
    assert len(changed[0]) >= 4 and changed[0].isalpha() and changed[1].isalpha()
    assert changed[0][0] == changed[1][0]


@pytest.mark.parametrize(
    "text", ["", " ", "a", "the cat sat", "1234 5678", "a_b_c_d", "\u0301" * 9]
)
def test_nothing_to_edit(text):
    assert add(text, 3, 0) == text


def test_every_kind_of_edit():
    random = np.random.default_rng(0)
    found = {add_typos("word", 1, random) for _ in range(3000)}
    assert {"wrod", "wodr", "wrd", "wor", "woord", "wordd", "woxd"} <= found
    assert "owrd" not in found and "ord" not in found
    # 2 swaps, 3 drops, 3 doubles, and 25 other letters in each of 3 places.
    assert len(found) <= 2 + 3 + 3 + 75


@pytest.fixture
def pairs():
    texts = [f"several longer words {i}" for i in range(20)]
    scores = np.arange(20, dtype=np.float64)
    return ScoredPairs("STS2012.OnWN", texts, texts, scores, "pearson", "STS2012", 3)


def test_with_typos_edits_the_right_side(pairs):
    edited = with_typos(pairs, 1, seed=1)
    assert edited.left == pairs.left
    assert all(a != b for a, b in zip(edited.right, pairs.right, strict=True))
    assert (edited.name, edited.group, edited.metric) == (pairs.name, pairs.group, pairs.metric)
    assert edited.num_unscored == 3 and edited.scores is pairs.scores
    assert with_typos(pairs, 0, seed=1).right == pairs.right


def test_with_typos_depends_on_name_and_seed_only(pairs):
    other = ScoredPairs("STS2012.MSRpar", pairs.left, pairs.right, pairs.scores)
    first = with_typos(pairs, 1, seed=1).right
    with_typos(other, 1, seed=1)
    assert with_typos(pairs, 1, seed=1).right == first
    assert with_typos(pairs, 1, seed=2).right != first
    assert with_typos(other, 1, seed=1).right != first


SENTENCES = [f"they receive necessary letters {number}" for number in range(400)]
FORMS = {"receive": ["recieve", "receve"], "necessary": ["neccesary"]}


@pytest.mark.parametrize(("share", "low", "high"), [(0.0, 0, 0), (0.5, 160, 240), (1.0, 390, 400)])
def test_share(share, low, high):
    """A typo may undo another."""
    texts = Typos(share).add(SENTENCES, np.random.default_rng(0))
    assert low <= sum(a != b for a, b in zip(texts, SENTENCES, strict=True)) <= high


def test_one_to_three_typos():
    """A third of the texts each, except where typos overlap."""
    texts = Typos(1.0).add(SENTENCES, np.random.default_rng(0))
    edits = [OSA.distance(a, b) for a, b in zip(texts, SENTENCES, strict=True)]
    counts = np.bincount(edits, minlength=4)
    assert counts[1:4].min() >= 95 and counts[1:4].sum() >= 390


def test_half_are_known_misspellings():
    texts = Typos(1.0, FORMS).add(SENTENCES, np.random.default_rng(0))
    real = sum(any(form in text for forms in FORMS.values() for form in forms) for text in texts)
    assert 200 <= real <= 360
    capitals = Typos(1.0, FORMS).add(["RECEIVE"] * 50, np.random.default_rng(0))
    assert "recieve" in " ".join(capitals)
    texts = ["", "42", "\u65e5\u672c", "a"]
    assert Typos(1.0, FORMS).add(texts, np.random.default_rng(0)) == texts


def test_typos_depend_on_the_seed_only():
    typos = Typos(0.5, FORMS)
    first, second = (typos.add(SENTENCES, np.random.default_rng(3)) for _ in range(2))
    assert first == second
    assert list(typos.samples(SENTENCES, 1)) == list(typos.samples(SENTENCES, 1))


@pytest.mark.parametrize(("kind", "expected"), [
    ("joined", {"a modernold world", "amodern old world", "a modern oldworld"}),
    ("split", {"a mo dern old world", "a mod ern old world", "a mode rn old world",
               "a modern old wo rld", "a modern old wor ld"}),
    ("ocr", {"a rnodern old world", "a m0dern old world", "a moclern old world",
             "a modem old world", "a modern 0ld world", "a modern o1d world", "a modern olcl world",
             "a modern old vvorld", "a modern old w0rld", "a modern old wor1d",
             "a modern old worlcl"}),
    ("vowels", {"a mdrn old world", "a modern old wrld"}),
])  # fmt: skip
def test_kinds_of_errors(kind, expected):
    random = np.random.default_rng(0)
    found = {KINDS[kind]("a modern old world", random) for _ in range(500)}
    assert found <= expected and len(found) > 0.8 * len(expected)
    assert KINDS[kind]("", random) == "" and KINDS[kind]("xyz", random) == "xyz"


@pytest.mark.parametrize("kind", KINDS)
def test_two_errors_of_a_kind(kind):
    texts = ["a modern old world of many words"] * 5
    pairs = ScoredPairs("STS2012.OnWN", texts, texts, np.arange(5.0))
    edited = with_typos(pairs, kind, seed=1)
    assert edited.left == texts and edited.right == with_typos(pairs, kind, seed=1).right
    assert not {*texts} & {*edited.right}


def test_errors_of_other_kinds_in_training():
    text = "some modern corners of the world"
    found = [
        Typos(1.0, None, ["joined"]).add([text], np.random.default_rng(i))[0] for i in range(99)
    ]
    num_joined = sum(text.count(" ") > other.count(" ") for other in found)
    assert 50 < num_joined < 80  # 1 - the mean of 1/2, 1/4 and 1/8, of 99
    assert any(len(other) > len(text) for other in found)

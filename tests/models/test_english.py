"""Tests of the shipped model `english`: similarities, corrections, files."""

from __future__ import annotations

import numpy as np
import pytest

from tests.commands import call
from tf_charagram._files.writing import sha256_of
from tf_charagram.models._storage.locations import read_card, shipped_models
from tf_charagram.models.embedder import TextEmbedder

NAME = "english"
#: Pairs, and the cosines of their vectors when the model was shipped.
PAIRS = [
    ("vehicals on the rode", "vehicles on the road", 0.5876),
    ("how do i resett my pasword", "How can I change my password?", 0.7875),
    ("colour", "color", 0.9390),
    ("a dog", "two cats", 0.1033),
]
QUESTIONS = [
    "How can I change my password?", "Where is my order?", "How do I return an item?",
    "Can I pay by credit card?", "How do I delete my account?",
]  # fmt: skip


@pytest.fixture(scope="module")
def english():
    return TextEmbedder.load(NAME)


def test_cosines_stay(english):
    lefts, rights, cosines = zip(*PAIRS, strict=True)
    np.testing.assert_allclose(english.similarity(lefts, rights), cosines, atol=2e-4)


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("resett my pasword", 0),
        ("wheres my pakage", 1),
        ("visa acepted?", 3),
        ("close my acount", 4),
    ],
)
def test_misspelled_questions_find_their_answers(english, query, answer):
    assert english.neighbors(query, QUESTIONS, k=1)[0].text == QUESTIONS[answer]


@pytest.mark.parametrize(
    "pair",
    ["recieve receive", "definately definitely", "goverment government", "thier their",
     "seperate separate", "tomorow tomorrow", "don\u2019t don't"],
)  # fmt: skip
def test_common_misspellings_are_corrected(english, pair):
    wrong, right = pair.split()
    assert english.similarity([wrong], [right])[0] > 0.8


@pytest.mark.parametrize(
    "pair",
    ["linq line", "ldap lap", "iphone5 iphones", "abacterial bacterial", "qsort sort",
     "jsmith@acme.com msmith@acme.com", "Corel core", "cytisine cytosine"],
)  # fmt: skip
def test_right_words_stay_themselves(english, pair):
    word, other = pair.split()
    assert english.similarity([word], [other])[0] < 0.95
    assert english.read_as([word]) == [word]


def test_joined_words_and_digits(english):
    read = english.read_as(["Goodbye to the peopleofthe w0rld, from a c0rnputer 5ystem"])
    assert read == ["Goodbye to the people of the world, from a computer system"]
    read = english.read_as(["h3ll0 fr1ends, th1s is a g00d passw0rd"])
    assert read == ["h3ll0 friends, this is a good password"]
    codes = ["sch1 fs10 w11c 50ft 10am 15in mp3 ps5 1050 b2b wh1000 el10 128gb 5mm 0x10"]
    assert english.read_as(codes) == codes


def test_accepted_words_stay(english):
    words = ["lemur moped poach drench Krankenhaus palabra Sarkozy amqp cldr httpx"]
    assert english.read_as(words) == words


@pytest.mark.parametrize("form", [
    "cafe\u0301 samsung", "\ufeffcafe\u200b samsung",
    "CAF\u00c9 \uff33\uff41\uff4d\uff53\uff55\uff4e\uff47",
])  # fmt: skip
def test_forms_of_a_text_are_one(english, form):
    assert english.similarity([form], ["caf\u00e9 samsung"])[0] == pytest.approx(1)


def test_unknown_characters_are_told_apart(english):
    lefts = ["\u65e5\u672c\u8a9e", "Toyota \u30d7\u30ea\u30a6\u30b9", "\U0001f600", ""]
    rights = ["\u6771\u4eac", "Toyota \u30e4\u30ea\u30b9", "\U0001f389", "the"]
    assert max(english.similarity(lefts, rights)) < 0.75


def test_card_describes_the_files():
    folder, card = shipped_models()[NAME], read_card(shipped_models()[NAME])
    sizes = {file.name: file.stat().st_size for file in folder.iterdir()}
    assert sum(sizes.values()) <= 10_500_000
    assert card["files"].keys() == sizes.keys() - {"card.json"}
    for name, facts in card["files"].items():
        assert (facts["bytes"], facts["sha256"]) == (sizes[name], sha256_of(folder / name))
    assert card["scores"] and all(source["licence"] for source in card["data"])


def test_listed(capsys):
    assert call("models") == 0
    assert NAME in capsys.readouterr().out

"""The tagged sentences that ship with the package: their tags, their words and their splits."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from tf_charagram.data.starter.tagged import tagged_sentences
from tf_charagram.errors import ConfigError

SPLITS = ("train", "dev", "test")
PENN = set(
    """CC CD DT EX FW IN JJ JJR JJS LS MD NN NNP NNPS NNS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH
    VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB . , : `` '' $ -LRB- -RRB- HYPH NFP ADD""".split()
)
# The words of closed classes, whatever their case.
CLOSED = {
    "a an the every each": {"DT"},
    "i you he she it we they me him us them": {"PRP"},
    "my your his its our their": {"PRP$"},
    "of at with from by into": {"IN"},
    "and or nor": {"CC"},
    "would should might could will ca wo 'll": {"MD"},
    "is has does": {"VBZ"},
    "was were did": {"VBD"},
    "n't not very always never": {"RB"},
    "who": {"WP"},
    "where when why how": {"WRB"},
    "to": {"TO", "IN"},
    "that": {"IN", "DT", "WDT"},
    "there": {"EX", "RB"},
    "her": {"PRP", "PRP$"},
    "'s": {"POS", "VBZ", "PRP"},
    "'d": {"MD", "VBD"},
    "do": {"VB", "VBP"},
    ". ?": {"."},
    "- %": {"HYPH", "NN"},
}


@pytest.fixture(scope="module")
def all_sentences():
    return [sentence for split in SPLITS for sentence in tagged_sentences(split)]


@pytest.fixture(scope="module")
def tokens(all_sentences):
    return [
        token
        for sentence in all_sentences
        for token in zip(sentence.words, sentence.tags, strict=True)
    ]


def test_splits(all_sentences):
    sizes = [len(tagged_sentences(split)) for split in SPLITS]
    assert sum(sizes) >= 420
    assert min(sizes[1:]) >= 40 and max(sizes[1:]) <= sizes[0] / 7
    assert tagged_sentences("train") == tagged_sentences("train")


def test_no_sentence_twice(all_sentences):
    distinct = {" ".join(sentence.words).lower() for sentence in all_sentences}
    assert len(distinct) == len(all_sentences)


def test_length(all_sentences, tokens):
    assert 9 <= len(tokens) / len(all_sentences) <= 14


def test_tags_are_of_the_penn_treebank(tokens):
    assert {tag for _, tag in tokens} <= PENN
    # The splits for scoring have no tag that training lacks.
    seen = {tag for sentence in tagged_sentences("train") for tag in sentence.tags}
    assert {tag for _, tag in tokens} == seen


@pytest.mark.parametrize("words", CLOSED)
def test_words_of_closed_classes(tokens, words):
    found = {tag for word, tag in tokens if word.lower() in words.split()}
    assert found == CLOSED[words]


def test_neighbours(all_sentences):
    """A verb after `to`, none after `to` as a preposition, no verb after an article."""
    for sentence in all_sentences:
        pairs = list(zip(sentence.words, sentence.tags, strict=True))
        for (word, tag), (_, following) in pairwise(pairs):
            if tag == "TO":
                assert following == "VB", sentence
            if word.lower() == "to" and tag == "IN":
                assert following != "VB", sentence
            if word.lower() in {"a", "an", "the"}:
                assert following not in {"VB", "VBZ", "VBP", "VBD", "MD", "TO"}, sentence


def test_numbers_and_names(tokens):
    for word, tag in tokens:
        if re.fullmatch(r"[0-9][0-9.,:]*", word):
            assert tag in {"CD", "LS"}, word
        if tag in {"NNP", "NNPS"}:
            assert re.search("[A-Z]", word), word


def test_unknown_split():
    with pytest.raises(ConfigError, match=r"Unknown split 'tset'. Did you mean 'test'\?"):
        tagged_sentences("tset")

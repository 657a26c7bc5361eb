"""Pairs of several sources, read at every pass."""

from __future__ import annotations

import pytest

from tf_charagram.data._tables.lines import BadLines
from tf_charagram.errors import ConfigError, DataError
from tf_charagram.tasks.paraphrase._corpus.corpus import PairCorpus


def corpus_of(*sources, **settings):
    readers = [lambda _, pairs=pairs: iter(pairs) for pairs in sources]
    return PairCorpus(readers, BadLines(), **settings)


def read(corpus):
    """Returns the texts of the first pass and the pairs of a later one."""
    texts = list(corpus.survey())
    pairs = [example[:2] for example in corpus]
    assert len(pairs) == corpus.num_pairs
    assert corpus.num_chars == sum(len(left) + len(right) for left, right in pairs)
    return texts, pairs


def test_sources_in_order_in_every_pass():
    first, second = [("a", "b"), ("b", "c")], [("a", "b"), ("c", "c")]
    corpus = corpus_of(first, second)
    texts, pairs = read(corpus)
    assert texts == ["a", "b", "b", "c", "a", "b", "c", "c"]
    assert pairs == first + second == read(corpus)[1]
    assert corpus.listed == ["a", "b", "c"] and corpus.num_empty == 0
    assert [example.original for example in corpus] == pairs


def test_empty_texts_are_left_out_and_counted(caplog):
    corpus = corpus_of([("a", "b"), ("", "x"), ("y", " \t\u3000"), ("\u2028", ""), ("b", "a")])
    assert read(corpus)[1] == [("a", "b"), ("b", "a")]
    assert corpus.listed == ["a", "b"] and corpus.num_empty == 3
    assert [record.getMessage() for record in caplog.records] == [
        "left out 3 pairs with an empty text"
    ]


@pytest.mark.parametrize(
    ("pairs", "count"), [([], 0), ([("a", "b")], 1), ([("a", "b"), ("", "c"), (" ", "d")], 1)]
)
def test_fewer_than_two_pairs(pairs, count):
    with pytest.raises(ConfigError, match=f"Training needs at least 2 pairs, .* Found: {count}"):
        list(corpus_of(pairs).survey())


def test_weights_repeat_and_draw():
    many = [(f"left {i}", f"right {i}") for i in range(2000)]
    few = [("a", "b"), ("c", "d")]
    corpus = corpus_of(many, few, weights=[0.25, 3], seed=4)
    texts, pairs = read(corpus)
    assert pairs[-6:] == [few[0]] * 3 + [few[1]] * 3
    drawn = pairs[:-6]
    assert 430 < len(drawn) < 570  # five standard deviations, 19.4 each
    assert drawn == sorted(set(drawn), key=many.index)
    assert texts == [text for pair in [*many, *few] for text in pair]
    again, other = (corpus_of(many, few, weights=[0.25, 3], seed=seed) for seed in (4, 5))
    assert read(again)[1] == pairs != read(other)[1]


def test_pairs_with_typos_are_added():
    pairs = [(f"number {i} is leftmost", f"rightmost is {i}") for i in range(1000)]
    corpus = corpus_of(pairs, typos=0.5, seed=1)
    read(corpus)
    examples = list(corpus)
    clean = [example[:2] for example in examples if example[:2] == example.original]
    edited = [example for example in examples if example[:2] != example.original]
    assert list(dict.fromkeys(clean)) == pairs  # two edits can undo each other
    assert 420 < len(edited) < 580  # five standard deviations, 15.8 each
    sides = [int(example.left == example.original[0]) for example in edited]
    for example, side in zip(edited, sides, strict=True):
        assert example.original in pairs
        assert example[side] != example.original[side]
        assert example[1 - side] == example.original[1 - side]
    assert 0.35 < sum(sides) / len(sides) < 0.65
    assert list(corpus) == examples


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_wrong_share_of_typos(share):
    message = r"`typos` must be in \[0, 1\]. Received: "
    with pytest.raises(ConfigError, match=message):
        corpus_of([("a", "b")], typos=share)


def test_typos_are_not_listed_and_need_long_words():
    corpus = corpus_of([("a cat", "longer words"), ("a b", "c d")] * 50, typos=1.0)
    texts = list(corpus.survey())
    assert corpus.listed == ["a cat", "longer words", "a b", "c d"]
    assert corpus.num_pairs == 150
    edited = [example for example in corpus if example.has_typos]
    assert {example.left for example in edited} == {"a cat"}
    assert len(texts) == 200 and len(list(corpus.texts_with_typos())) == 100
    assert corpus.num_pairs == 150


def test_bad_lines_are_counted_once():
    def pairs(bad_lines):
        yield from [("a", "b"), ("b", "c")]
        bad_lines.report("file", 3, "bad")

    bad_lines = BadLines("skip")
    corpus = PairCorpus([pairs], bad_lines)
    assert len(read(corpus)[1]) == 2
    assert bad_lines.count == 1


def test_a_file_that_changes_during_training():
    pairs = [("a", "b"), ("c", "d")]
    corpus = corpus_of(pairs)
    list(corpus.survey())
    pairs.append(("e", "f"))
    with pytest.raises(DataError, match="a file has changed since it was first read"):
        list(corpus)
    pairs[1:] = [("c", "longer")]
    with pytest.raises(DataError, match="a file has changed"):
        list(corpus)

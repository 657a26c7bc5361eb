"""Texts to ids against the slow reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.reference import text as reference
from tests.text.strategies import (
    CJK_126,
    ids_of,
    max_chars_or_none,
    order_sets,
    raw_lists,
    slow_property_settings,
    text_lists,
)
from tf_charagram.errors import ConfigError
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary


@slow_property_settings
@given(text_lists, raw_lists, order_sets, st.integers(1, 2), max_chars_or_none, st.booleans())
@example(["ab"], ["ab", "", "ba", b"a\xffb"], {1}, 1, None, True)
@example(["ab \ufffd"], ["\u4e2d", b"\xff"], {1, 2}, 1, 3, False)
def test_exact_keys_equal_reference(texts, raws, orders, min_count, max_chars, lowercase):
    """The texts embedded are not those the vocabulary is counted from, but for the first two."""
    options = {"lower": lowercase, "max_chars": max_chars}
    ngrams = reference.vocabulary(texts, orders, min_count, **options)
    assume(ngrams)
    vectorizer = NgramVectorizer.from_texts(
        texts, orders=list(orders), min_count=min_count, max_chars=max_chars, lowercase=lowercase
    )
    assert vectorizer.num_rows == len(ngrams)
    row_of = {ngram: row for row, ngram in enumerate(ngrams)}
    raws = [*texts[:2], *raws]
    expected = []
    for raw in raws:
        found = reference.ngrams(raw, orders, **options)
        expected.append([(ngram, row_of[ngram]) for ngram in found if ngram in row_of])
    assert ids_of(vectorizer, raws) == [[row for _, row in named] for named in expected]
    for raw, named in zip(raws[:2], expected, strict=False):
        if isinstance(raw, str):
            assert vectorizer.ngrams(raw) == [(ngram, (row,)) for ngram, row in named]


@slow_property_settings
@given(text_lists, raw_lists, st.sets(st.integers(1, 7)), st.integers(1, 2), max_chars_or_none)
def test_mixed_keys_equal_reference(texts, raws, orders, min_count, max_chars):
    """Each n-gram in V has one row, and the right count."""
    orders, texts = orders | {8}, [*texts, CJK_126, CJK_126]
    vocabulary = NgramVocabulary.from_texts(texts, orders=orders, min_count=min_count)
    vectorizer = NgramVectorizer(vocabulary=vocabulary, max_chars=max_chars)
    assert vocabulary.alphabet is None and vectorizer.orders == tuple(sorted(orders))
    counts = reference.count_ngrams(texts, orders)
    row_of = {}
    for raw, ids in zip(raws, ids_of(vectorizer, raws), strict=True):
        ngrams = reference.ngrams(raw, orders, max_chars=max_chars)
        kept = [ngram for ngram in ngrams if counts[ngram] >= min_count]
        for ngram, row in zip(kept, ids, strict=True):
            assert row_of.setdefault(ngram, row) == row
            assert vocabulary.counts[row] == counts[ngram]
        if isinstance(raw, str) and raw is raws[0]:
            named = [(ngram, (row_of[ngram],)) for ngram in kept]
            assert vectorizer.ngrams(raw) == named
    assert len(set(row_of.values())) == len(row_of)


@slow_property_settings
@given(
    raw_lists,
    order_sets,
    st.sampled_from([1, 7, 1000, 2**31 - 1]),
    st.integers(1, 3),
    max_chars_or_none,
    st.booleans(),
)
def test_hash_mode(raws, orders, hash_buckets, rows_per_ngram, max_chars, lowercase):
    """Every n-gram has `rows_per_ngram` ids in range, the same wherever it stands."""
    vectorizer = NgramVectorizer(
        orders=list(orders),
        hash_buckets=hash_buckets,
        rows_per_ngram=rows_per_ngram,
        max_chars=max_chars,
        lowercase=lowercase,
    )
    assert vectorizer.num_rows == hash_buckets
    rows_of = {}
    for raw, ids in zip(raws, ids_of(vectorizer, raws), strict=True):
        ngrams = reference.ngrams(raw, orders, lower=lowercase, max_chars=max_chars)
        assert len(ids) == rows_per_ngram * len(ngrams)
        assert all(0 <= row < hash_buckets for row in ids)
        rows = list(zip(*[iter(ids)] * rows_per_ngram, strict=True))
        for ngram, its_rows in zip(ngrams, rows, strict=True):
            assert rows_of.setdefault(ngram, its_rows) == its_rows
        if isinstance(raw, str) and raw is raws[0]:
            assert vectorizer.ngrams(raw) == list(zip(ngrams, rows, strict=True))
    if hash_buckets == 2**31 - 1:  # A collision here is a matter of 1 in a million.
        assert len(set(rows_of.values())) == len(rows_of)


def test_hash_mode_tells_rare_characters_apart():
    """Those past the table of lowercase letters, which ends at U+1E943."""
    vectorizer = NgramVectorizer(orders=[1], hash_buckets=2**31 - 1)
    characters = ["\U0001e943", "\U0001e944", "\U0001f600", "\U0001f601", "\U00020000"]
    assert len({ids[1] for ids in ids_of(vectorizer, characters)}) == 5


def test_hash_mode_is_uniform_and_its_rows_are_independent():
    """Chi-squared over 100 buckets has mean 99 and deviation 14; 200 is 7 deviations away."""
    vectorizer = NgramVectorizer(orders=[4, 5], hash_buckets=100, rows_per_ngram=2, max_chars=None)
    text = " ".join(f"{i:06d}" for i in range(0, 10**6, 97))
    rows = dict(vectorizer.ngrams(text))
    pairs = np.array(list(rows.values()))
    assert len(pairs) > 10_000
    expected = len(pairs) / 100
    for column in pairs.T:
        assert (((np.bincount(column, minlength=100) - expected) ** 2) / expected).sum() < 200
    assert np.mean(pairs[:, 0] == pairs[:, 1]) == pytest.approx(0.01, abs=0.005)


def test_lone_surrogates_do_not_stop_ngrams():
    """Python encodes them as three bytes that UTF-8 forbids, each read as U+FFFD."""
    names = [name for name, _ in NgramVectorizer(orders=[1], hash_buckets=9).ngrams("a\ud800")]
    assert names == [" ", "a", *["\ufffd"] * 3, " "]


@pytest.mark.parametrize("options", [{}, {"hash_buckets": 50, "rows_per_ngram": 2}])
def test_spans(options):
    """Where the n-grams are: repeated ones at each place, and the spaces around the text."""
    orders = [1, 2, 3]
    vectorizer = (
        NgramVectorizer(orders=orders, **options)
        if options
        else NgramVectorizer.from_texts(["a cat", "at"], orders=orders)
    )
    for raw in ("A  cat at", "", "dog"):
        normalized, spans = vectorizer.spans(raw)
        names = [name for name, _ in vectorizer.ngrams(raw)]
        assert [normalized[start:stop] for start, stop in spans] == names
        assert spans == sorted(set(spans))
    normalized, spans = vectorizer.spans("A  cat at")
    assert normalized == " a cat at "
    assert (0, 1) in spans and (9, 10) in spans and {(4, 6), (7, 9)} <= set(spans)


@pytest.mark.parametrize(
    "source",
    [{"vocabulary": NgramVocabulary.from_texts(["abcd"])}, {"hash_buckets": 3}],
    ids=["vocabulary", "hash"],
)
def test_spans_of_a_text_that_was_cut(source):
    assert NgramVectorizer(**source, max_chars=3).spans("abc dcba")[0] == " abc "


@pytest.mark.parametrize("method", ["ngrams", "spans"])
def test_no_ngrams_of_longest_only(method):
    vocabulary = NgramVocabulary.from_texts(["abc"])
    vectorizer = NgramVectorizer(vocabulary=vocabulary, longest_only=True)
    with pytest.raises(ConfigError, match=r"folded model \(`longest_only`\) .* that is not folded"):
        getattr(vectorizer, method)("abc")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"hash_buckets": 3, "vocabulary": NgramVocabulary.from_texts(["a"])},
            "Give only one of `vocabulary` and `hash_buckets`",
        ),
        ({"hash_buckets": 0}, r"`hash_buckets` must be in \[1, 2\^31\). Received: 0"),
        ({"hash_buckets": 3, "rows_per_ngram": "2"}, "`rows_per_ngram` must be an integer"),
        (
            {"hash_buckets": 3, "rows_per_ngram": 0},
            "`rows_per_ngram` must be at least 1, .* Received: rows_per_ngram=0",
        ),
        (
            {"vocabulary": NgramVocabulary.from_texts(["a"]), "rows_per_ngram": 2},
            "above 1 only together with `hash_buckets`. Received: rows_per_ngram=2",
        ),
        (
            {
                "vocabulary": NgramVocabulary.from_texts([CJK_126], orders=[8]),
                "longest_only": True,
            },
            "`longest_only` needs a `vocabulary` with exact keys",
        ),
        (
            {"hash_buckets": 3, "dictionary": Dictionary({"cat": 1}), "lowercase": False},
            "`dictionary` needs `lowercase`: its words are lowercase",
        ),
        (
            {"hash_buckets": 3, "fold_characters": True},
            "`fold_characters` needs a `vocabulary` with exact keys",
        ),
        (
            {"fold_characters": True, "lowercase": False},
            "`fold_characters` needs `lowercase`",
        ),
        ({"unknown_rows": -1}, r"`unknown_rows` must be in \[0, 2\^30\). Received: -1"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ConfigError, match=message):
        NgramVectorizer(**arguments)

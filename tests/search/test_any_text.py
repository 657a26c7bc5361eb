"""Scores of any script and any symbol: marks that spell a word count, optional ones do not."""

from __future__ import annotations

import numpy as np
import pytest

from tf_charagram import TextReader
from tf_charagram.search import TextIndex, TextScorer, deduplicate, match

# Different texts, and the highest score that they may have.
DIFFERENT = {
    "hindi_1": ("\u0926\u093f\u0928", "\u0926\u093e\u0928", 0.7),
    "hindi_2": ("\u0926\u093f\u0928", "\u0926\u0940\u0928", 0.7),
    "bengali": ("\u0995\u09be\u09b2", "\u0995\u09bf\u09b2", 0.7),
    "tamil": ("\u0b95\u0bb2\u0bcd", "\u0b95\u0bbe\u0bb2\u0bcd", 0.8),
    "telugu": ("\u0c24\u0c32", "\u0c24\u0c3e\u0c32", 0.8),
    "thai": ("\u0e02\u0e48\u0e32\u0e27", "\u0e02\u0e49\u0e32\u0e27", 0.8),
    "lao": ("\u0e81\u0eb4\u0e99", "\u0e81\u0eb5\u0e99", 0.8),
    "burmese": ("\u1019\u103c\u1014\u103a", "\u1019\u103c\u1004\u103a", 0.8),
    "tai_viet": ("\uaa80\uaab0\uaa9a", "\uaa80\uaab2\uaa9a", 0.8),
    "c_1": ("C", "C++", 0.5),
    "c_2": ("C", "C#", 0.5),
    "c_3": ("C++", "C#", 0.5),
    "grades": ("A+", "A-", 0.5),
    "charges": ("Na+", "Na", 0.7),
    "phones": ("Galaxy S8", "Galaxy S8+", 0.7),
    "channels": ("Disney", "Disney+", 0.7),
    "temperatures": ("temp -5 C", "temp +5 C", 0.7),
    "ages": ("<5 years", ">5 years", 0.7),
    "invoices_1": (
        "Invoice 1001 Acme 100.00 2024-01-05", "Invoice 1002 Acme 100.00 2024-01-06", 0.75,
    ),
    "invoices_2": (
        "Invoice 1001 Acme 100.00 2024-01-05", "Invoice 1010 Acme 1000.00 2024-10-05", 0.65,
    ),
    "born": ("John Smith 1980-01-02", "John Smith 1981-01-02", 0.68),
    "household": (
        "Maria Novak 12 Hill Road Leeds 4011 19560409",
        "Peter Novak 12 Hill Road Leeds 4011 19880112",
        0.68,
    ),
    "slugs": (f"{'a_long_slug_' * 4}by_night", f"{'a_long_slug_' * 4}in_daylight", 0.95),
    "dna": (f"{'ACGTTGCA' * 10}AAAACCCC", f"{'ACGTTGCA' * 10}TTTTGGGG", 0.95),
    "long_dna": ("ACGT" * 2000 + "A" * 2000, "ACGT" * 2000 + "C" * 2000, 0.95),
    "chinese": (
        "\u6211\u4eec\u660e\u5929\u4e0b\u5348\u4e09\u70b9\u949f\u5728" * 4
        + "\u95e8\u53e3\u7684\u5927\u6811\u4e0b\u9762\u89c1\u9762\u7136",
        "\u6211\u4eec\u660e\u5929\u4e0b\u5348\u4e09\u70b9\u949f\u5728" * 4
        + "\u542c\u8bf4\u90a3\u91cc\u4ef7\u683c\u975e\u5e38\u4fbf\u5b9c",
        0.9,
    ),
}  # fmt: skip

# Texts that differ in optional signs, and the lowest score that they must have.
ALIKE = {
    "harakat": ("\u0645\u064f\u062d\u064e\u0645\u0651\u064e\u062f", "\u0645\u062d\u0645\u062f", 1),
    "tatweel": ("\u0645\u0640\u062d\u0640\u0645\u062f", "\u0645\u062d\u0645\u062f", 1),
    "niqqud": ("\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd", "\u05e9\u05dc\u05d5\u05dd", 1),
    "greek": ("\u03bb\u03cc\u03b3\u03bf\u03c2", "\u039b\u039f\u0393\u039f\u03a3", 1),
    "accents": ("Caf\u00e9", "cafe", 1),
    "case": ("foo", "FOO", 1),
    "minus": ("temp \u22125 C", "temp -5 C", 0.95),
    "plus": ("temp +5 C", "temp 5 C", 0.95),
    "hyphen": ("foo-bar", "foo bar", 0.9),
    "dash": ("foo - bar", "foo bar", 0.95),
    "full_stop": ("Acme Inc.", "Acme Inc", 0.95),
    "wal_mart": ("Walmart", "Wal-Mart", 0.8),
    "star_bucks": ("Starbucks", "Star bucks", 0.8),
    "o_brien": ("OBrien", "O'Brien", 0.8),
    "model": ("Sony WH-1000XM5", "Sony WH1000XM5", 0.9),
}


@pytest.fixture(scope="module", params=[None, "english"])
def scorer(request):
    model = request.param and TextReader.load(request.param)
    texts = [text for pair in (*DIFFERENT.values(), *ALIKE.values()) for text in pair[:2]]
    return TextScorer(texts, model)


@pytest.mark.parametrize("name", DIFFERENT)
def test_different_texts(scorer, name):
    left, right, most = DIFFERENT[name]
    scores = scorer.score([left, right, left], [right, left, left])
    assert scores[:2].max() <= most and scores[2] == 1


@pytest.mark.parametrize("name", ALIKE)
def test_texts_that_differ_in_what_is_optional(scorer, name):
    left, right, least = ALIKE[name]
    scores = scorer.score([left, right], [right, left])
    assert scores.min() >= least


def test_the_same_text_wins():
    assert TextIndex(["C#", "C", "C++"], None).search("C++")[0].row == 2
    assert match(["foo"], ["FOO", "foo"], None).pairs[0].right == 1
    # More case variants than candidates.
    word = "abcdefghijklm" * 5
    forms = [word[:at] + word[at].upper() + word[at + 1 :] for at in range(len(word))]
    assert [pair.right for pair in match(forms, forms, None).pairs] == [*range(len(forms))]
    assert match([word], forms, None).pairs[0].right == 0


@pytest.mark.parametrize("model", [None, "english"])
def test_threshold_1_finds_equal_texts(model):
    draw = np.random.default_rng(0)
    letters = [*"abcdefghijklmnop "]
    texts = [f"q{''.join(draw.choice(letters, 12))}z {number}" for number in range(100)]
    found = match(texts, [text.upper() for text in texts], model, threshold=1.0)
    assert [pair[:2] for pair in found.pairs] == [(row, row) for row in range(100)]
    assert deduplicate([*texts, *texts], model, threshold=1.0).kept == [*range(100)]


NAMES = [
    ("Walmart", "Wal-Mart"), ("Starbucks", "Star bucks"), ("OBrien", "O'Brien"),
    ("FedEx", "Fed Ex"), ("PayPal", "Pay Pal"), ("Coca-Cola", "Cocacola"),
    ("McDonalds", "McDonald's"), ("Kmart", "K-Mart"), ("Facebook", "Face book"),
    ("JPMorgan Chase", "J.P. Morgan Chase"), ("AT&T Wireless", "ATT Wireless"),
    ("Rolls-Royce", "Rollsroyce"), ("Land O'Lakes", "Land O Lakes"), ("L'Oreal", "LOreal"),
    ("7-Eleven", "7Eleven"), ("Jean-Luc", "Jeanluc"), ("Mac Arthur", "MacArthur"),
    ("D'Angelo", "DAngelo"), ("Al-Rashid", "Alrashid"), ("IBM", "I.B.M."),
]  # fmt: skip
OTHERS = [
    "Walmer", "Mart", "Wallmark", "Starburst", "Star Alliance", "O'Neil", "Fed Reserve", "Pay Less",
    "Cola Bottling", "Donald's Farm", "K Market", "Book Barn", "J. Morgan", "Wireless Zone",
    "Rolls", "Great Lakes", "Oreo", "Eleven", "Jean", "Arthur", "Angelo", "Rashid", "IBN",
]  # fmt: skip


@pytest.mark.parametrize("side", [0, 1])
def test_names_with_other_spaces(side):
    """Whether or not the list has the query's own spelling."""
    names = [pair[1 - side] for pair in NAMES] + OTHERS
    queries = [pair[side] for pair in NAMES]
    hits = TextIndex(names, None).search(queries, k=1)
    assert [found[0].row for found in hits] == [*range(len(NAMES))]
    hits = TextIndex([*names, *queries], None).search(queries, k=2)
    assert [found[1].row for found in hits] == [*range(len(NAMES))]

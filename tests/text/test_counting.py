"""Counters whose counts are added up: threads, processes and machines that share the texts."""

from __future__ import annotations

import logging
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import text as reference
from tests.text.strategies import order_sets, slow_property_settings, text_lists
from tests.text.test_vocabulary import CJK_126, assert_same
from tf_charagram.errors import ConfigError
from tf_charagram.text.counting import CountSettings, NgramCounter
from tf_charagram.text.vocabulary import NgramVocabulary


def added_up(lists, orders, max_distinct=50):
    """Counts each list by itself, and returns the vocabulary of the sum."""
    settings = CountSettings(tuple(orders))
    with NgramCounter(settings, max_distinct) as total:
        for texts in lists:
            with NgramCounter(pickle.loads(pickle.dumps(settings)), max_distinct) as counter:
                counter.count(texts, num_threads=1)
                for part in counter.parts():
                    total.add(pickle.loads(pickle.dumps(part)))
        return NgramVocabulary.from_counter(total, 1, None)


@slow_property_settings
@given(st.lists(text_lists, min_size=2, max_size=4), order_sets)
def test_counters_with_alphabets_of_their_own(lists, orders):
    texts = ["a", *(text for some in lists for text in some)]
    orders = {2, *orders}
    expected = NgramVocabulary.from_texts(texts, orders=orders)
    assert_same(added_up([["a"], *lists], orders), expected)
    assert expected.ngrams() == reference.vocabulary(texts, orders)


@pytest.mark.parametrize(
    "lists",
    [
        [[CJK_126, "cat"], ["a cat"], [CJK_126]],
        [["a cat"], [CJK_126, "cat"], ["hat"]],
        # Exact each, and together one character too many.
        [[CJK_126[:70], "cat"], ["a cat"], [CJK_126[60:]], ["hat"]],
    ],
    ids=["mixed first", "mixed later", "mixed by the sum"],
)
def test_one_is_mixed(lists, caplog):
    texts = [text for some in lists for text in some]
    expected = NgramVocabulary.from_texts(texts, orders=[1, 3, 8])
    assert expected.alphabet is None
    caplog.clear()
    assert_same(added_up(lists, [1, 3, 8]), expected)
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert "Using 64-bit mixed" in warnings[-1].getMessage()


@pytest.mark.parametrize("num_threads", [1, 2, 5])
def test_any_number_of_threads_gives_the_same(num_threads):
    """Which characters come first depends on the threads, and what is chosen does not."""
    texts = [chr(0x61 + n % 26) * 3 + chr(0x3B1 + n % 20) + CJK_126[n % 100] for n in range(400)]
    settings = {"orders": [2, 4], "chunk_size": 3, "max_distinct": 40}
    found = NgramVocabulary.from_texts(texts, num_threads=num_threads, **settings)
    assert found.ngrams() == reference.vocabulary(texts, [2, 4])


def test_an_error_of_the_texts_ends_counting():
    def texts():
        yield from ["cat"] * 50
        raise ConfigError("no more")

    with pytest.raises(ConfigError, match="no more"):
        NgramVocabulary.from_texts(texts(), chunk_size=2, max_distinct=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"unicode_form": "NFX"}, "`unicode_form` must be None, NFC, NFD, NFKC or NFKD"),
        ({"max_chars": 0}, "`max_chars` must be at least 1 or None. Received: 0"),
    ],
)
def test_settings_are_checked_before_texts_are_read(arguments, message):
    with pytest.raises(ConfigError, match=message):
        NgramVocabulary.from_texts(iter(lambda: pytest.fail("read"), None), **arguments)

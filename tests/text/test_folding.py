"""Texts in one form against the slow reference, and the forms of one word."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.reference.folding import fold
from tests.reference.text import normalize as normalized
from tests.text.strategies import (
    TRICKY,
    ids_of,
    property_settings,
    slow_property_settings,
    text_lists,
)
from tf_charagram.text._algorithm.reading import SymbolReader
from tf_charagram.text._algorithm.symbols import Symbols
from tf_charagram.text._algorithm.word_boundaries import words_of
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text.alphabet import Alphabet
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary

ASCII = "".join(map(chr, range(0x21, 0x7F)))
ACCENTED = (
    "\u00e9\u00ea\u00c9\u1ebf\u1ead\u00e5\u212b"
    "\u1f82\u0439\u01fd\u01fe\u30d7\ud55c\uac00\u0958\u09cb"
)
MARKS = "\u0301\u0302\u0323\u0345\u0313\u0300\u0307\u3099\u20e3\u11ab\u1161"
LETTERS = (
    "aeEiIo\u0438\u03b1\u30d5\u1112\u0131\u0130\u0141\u00df\u00f8"
    "\u00c6\ufb01\uff33\u2460\u00b4\u201c\u2014"
)
hard = st.text(ACCENTED + MARKS + LETTERS + "\u00ad\ufe0f ") | st.text(TRICKY)
alphabets = st.sets(st.sampled_from(sorted({*(ACCENTED + MARKS + LETTERS + TRICKY).lower()})))


def reader(alphabet, dictionary=None, max_chars=None, kind=SymbolReader):
    characters = sorted(map(ord, {*alphabet} - {" "}))
    options = {"max_chars": max_chars, "fold_characters": True}
    alphabet = Alphabet(np.array(characters, np.int32))
    return kind(alphabet, dictionary, **options)


def folding(text, **options):
    vocabulary = NgramVocabulary.from_texts([text], orders=[1, 2, 3])
    return NgramVectorizer(vocabulary=vocabulary, fold_characters=True, **options)


@property_settings
@given(st.lists(hard, max_size=4), alphabets)
@example(["\u1e9e \u00df SS"], {"\u00df"})
def test_equals_reference(texts, alphabet):
    alphabet = {char for char in alphabet if normalized(char, pad=False) == char}
    expected = [fold(text, alphabet) for text in texts]
    assert reader(alphabet).read_as(texts) == expected
    assert reader(alphabet, kind=Symbols).read_as(texts) == expected


@pytest.mark.parametrize(("form", "plain"), [
    ("cafe\u0301", "caf\u00e9"),
    ("CAFE\u0301", "caf\u00e9"),
    ("\uff33\uff41\uff4d\uff53\uff55\uff4e\uff47", "samsung"),
    ("\ufb01re", "fire"),
    ("\ufefffire", "fire"),
    ("fi\u200bre\u00ad", "fire"),
    ("Stra\u00dfe", "strasse"),
    ("\u0141\u00f3d\u017a", "lodz"),
    ("D\u0130YARBAKIR", "diyarbak\u0131r"),
    ("Vi\u1ec7t Nam", "viet nam"),
    ("\u00d8re, \u00c6r\u00f8", "ore, aero"),
    ("\u2460\u00bd", "11/2"),
    ("don\u2019t don\u00b4t", "don't don't"),
    ("\u201cno\u201d \u2014 \u2026", '"no" - ...'),
    ("\u1112\u1161\u11ab", "\ud55c"),
    ("\u30d5\u309a", "\u30d7"),
    ("\u2764\ufe0f", "\u2764"),
])  # fmt: skip
def test_forms_of_one_text(form, plain):
    vectorizer = folding(f"{ASCII} caf\u00e9")
    found, expected = ids_of(vectorizer, [form, plain])
    assert found == expected
    assert vectorizer.spans(form) == vectorizer.spans(plain)


def test_characters_of_the_alphabet_stay():
    text = (
        "stra\u00dfe \u0142\u00f3d\u017a \u2019 \u1ebf \u0915\u094d\u0937\u093f \ud55c \u0430\u0301"
    )
    assert folding(text).spans(text)[0] == f" {text} "
    assert folding("x").spans("x\u0301\u0915\u093f\u0439")[0] == " x\ufffd\ufffd\ufffd\ufffd "


def test_words_of_a_dictionary():
    """Counts are summed, so "caffe" is read as "caf\u00e9" and not as "carfe"."""
    dictionary = Dictionary({"caf\u00e9s": 500, "cafes": 500, "carfes": 600, "stra\u00dfen": 9})
    vectorizer = folding(ASCII, dictionary=dictionary)
    assert vectorizer.dictionary is dictionary
    texts = ["Caffes, the CAFE\u0301S", "Strase\u00adn stra\u00dfen"]
    assert vectorizer.read_as(texts) == ["Cafes, the CAFES", "Strassen strassen"]
    for text, read in zip(texts, vectorizer.read_as(texts), strict=True):
        assert vectorizer.spans(text) == vectorizer.as_written().spans(read)


@slow_property_settings
@given(text_lists)
def test_reads_words_as_the_graph_does(texts):
    dictionary = Dictionary({"abab": 5, "\u00e9aba": 3, "baa": 1})
    vectorizer = folding(f"{ASCII}\u00df", dictionary=dictionary)
    expected = ids_of(vectorizer, texts)
    read = vectorizer.read_as(texts)
    assert ids_of(vectorizer.as_written(), read) == expected
    assert {*words_of(read)} == {*words_of(vectorizer.read_as(read))}


def test_adding_words_to_one_form():
    dictionary = Dictionary({"caf\u00e9": 8, "cafe": 4, "b": 1})
    respelled = dictionary.respelled(reader(ASCII).read_as)
    assert respelled.words == ["cafe", "b"]
    assert respelled.log_counts.tolist() == [3.5, 0.0]
    assert respelled.respelled(reader(ASCII).read_as) is respelled

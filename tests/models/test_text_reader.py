"""The reader and the embedder are one model: equal vectors, and texts read as the same."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.models.answers import randomized
from tests.text.kinds import KINDS
from tests.text.kinds import TEXTS as KIND_TEXTS
from tests.texts import NASTY, words
from tests.variants import some_now
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.models._answers.explanation import explain
from tf_charagram.models._storage.stored_tables import TABLE_DTYPES
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.models.text_reader import TextReader
from tf_charagram.text._algorithm.unicode import code_points_of
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text._spelling.word_filter import WordFilter
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary

NGRAM_KINDS = sorted(set(KINDS) - {"characters", "words"})
BYTES = [bytes([byte]) for byte in range(256)] + [b"a" + bytes([byte]) * 3 for byte in range(256)]


@dataclass
class Both:
    """A model as both load it."""

    embedder: TextEmbedder
    reader: TextReader

    @cached_property
    def folded(self):
        """The model that is exported, which adds rows up in the same order."""
        return self.embedder.folded()


def both(embedder, folder, table_dtype="float32"):
    embedder.save(folder, table_dtype=table_dtype)
    return Both(TextEmbedder.load(folder), TextReader.load(folder))


def made(vectorizer, **options):
    encoder = Charagram(num_rows=vectorizer.num_rows, dim=6, **options)
    return TextEmbedder(vectorizer, randomized(encoder))


def check_equal(models, texts):
    """Checks the contract of a reader and an embedder."""
    texts = list(texts)
    expected = models.folded.encode(texts, normalize=True)
    found = models.reader.encode(texts, normalize=True)
    # Sums of tens of thousands of float32 numbers in another order differ in more digits.
    bounds = np.array([1e-6 if len(text) < 10_000 else 1e-4 for text in texts])
    assert (np.abs(found - expected).max(axis=1) <= bounds).all()
    assert models.reader.read_as(texts) == models.embedder.read_as(texts)
    shares = models.embedder.known_share(texts)
    assert_allclose(models.reader.known_share(texts), shares, rtol=0, atol=1e-6)


def check_explained(models, texts):
    """Checks that both find the same n-grams, with the same vectors."""
    other = models.reader.ngrams(texts[0])
    for text in texts:
        expected = models.embedder.explain(text, texts[0])
        found = explain(models.reader.ngrams(text), other)
        assert found.left == expected.left
        assert_allclose(found.contributions, expected.contributions, rtol=0, atol=1e-6)


def misspelled(sentences, seed, number):
    """Returns sentences with letters changed, added, dropped and swapped, and spaces dropped."""
    draw = random.Random(seed)
    texts = []
    for _ in range(number):
        chars = list(draw.choice(sentences))
        for _ in range(draw.randrange(4)):
            place = draw.randrange(len(chars))
            letter = draw.choice("aeiounrtm015' -\u00e9\u4e2d")
            piece = draw.choice(["", letter, chars[place] + letter, chars[place].upper()])
            chars[place : place + draw.choice([1, 1, 2])] = piece
            chars = chars or ["a"]
        texts.append("".join(chars))
    return texts


def of_all_scripts(seed, number):
    """Returns texts of characters drawn from all of Unicode, mixed with ASCII."""
    draw = random.Random(seed)
    classes = [code_points_of(name).tolist() for name in ("letters", "marks", "decomposed")]
    texts = []
    for _ in range(number):
        chars = []
        for _ in range(draw.randrange(1, 12)):
            chosen = draw.choice(classes)
            first = draw.randrange(len(chosen))
            near = chosen[first : first + 40]
            chars += draw.choices([*map(chr, near), "e", "n", " "], k=3)
        texts.append("".join(chars))
    return texts


SENTENCES = [
    "How do I reset my password?",
    "The vehicles were painted in different colours",
    "It's a modern dictionary of 1500 words",
    "M\u00fcller & S\u00f6hne GmbH, Caf\u00e9 na\u00efve",
    "they don\u2019t know the neighbourhood",
]


@pytest.fixture(scope="module")
def english():
    return Both(TextEmbedder.load("english"), TextReader.load("english"))


def test_nasty_texts(english):
    check_equal(english, NASTY.values())


def test_every_byte(english):
    check_equal(english, BYTES)


@pytest.mark.parametrize("size", [1000, pytest.param(50_000, marks=pytest.mark.long)])
def test_misspelled_texts(english, size):
    check_equal(english, misspelled(SENTENCES, 1, size))


@pytest.mark.parametrize("size", [1000, pytest.param(50_000, marks=pytest.mark.long)])
def test_all_scripts(english, size):
    check_equal(english, of_all_scripts(2, size))


@pytest.mark.long
def test_every_code_point(english):
    chars = [chr(code) for code in range(0x110000)]
    check_equal(english, ["a".join(chars[i : i + 20]) for i in range(0, len(chars), 20)])


def test_misspelled_words(english):
    dictionary = english.embedder.vectorizer.dictionary.words
    draw = random.Random(3)
    chosen = [" ".join(draw.choices(dictionary, k=4)) for _ in range(500)]
    joined = ["".join(draw.choices(dictionary[:2000], k=2)) for _ in range(200)]
    check_equal(english, misspelled(chosen, 4, 1000) + joined)


def test_few_texts_and_many(english):
    assert english.reader.encode([]).shape == (0, english.reader.dim)
    assert english.reader.encode(np.array(["a"])).dtype == np.float32
    texts = misspelled(SENTENCES, 5, 2500)
    few = np.concatenate([english.reader.encode([text]) for text in texts[-50:]])
    assert_array_equal(english.reader.encode(texts)[-50:], few)


def test_similarity(english):
    lefts, rights = SENTENCES[:-1], SENTENCES[1:]
    expected = english.embedder.similarity(lefts, rights)
    assert_allclose(english.reader.similarity(lefts, rights), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", some_now([*NGRAM_KINDS], "unsure"))
def test_kinds(name, tmp_path):
    vectorizer = KINDS[name](KIND_TEXTS)
    models = both(made(vectorizer), tmp_path)
    check_equal(models, [*KIND_TEXTS, *NASTY.values(), *BYTES])
    check_equal(models, misspelled(SENTENCES, 6, 200) + of_all_scripts(7, 200))
    if models.reader.can_explain:
        check_explained(models, [*KIND_TEXTS[:5], *SENTENCES, "\u4e2d\u4e01", ""])


@pytest.mark.parametrize("table_dtype", TABLE_DTYPES)
@pytest.mark.parametrize("orders", [(1, 3), pytest.param((2, 3, 4), marks=pytest.mark.variant)])
def test_folded_models(table_dtype, orders, tmp_path):
    vectorizer = NgramVectorizer.from_texts(SENTENCES, orders=orders)
    models = both(made(vectorizer).folded(), tmp_path, table_dtype)
    check_equal(models, misspelled(SENTENCES, 8, 200))


@pytest.mark.parametrize("num_layers", [1, 2])
@pytest.mark.parametrize("activation", some_now(["linear", "tanh", "relu"], "tanh"))
def test_layers(activation, num_layers, tmp_path):
    vectorizer = NgramVectorizer.from_texts(words(50), orders=[2, 3])
    models = both(made(vectorizer, activation=activation, num_layers=num_layers), tmp_path, "int4")
    check_equal(models, words(60, seed=1))


@pytest.mark.parametrize("form", some_now(["NFC", "NFD", "NFKC", "NFKD"], "NFKC"))
def test_unicode_forms(form, tmp_path):
    vectorizer = NgramVectorizer.from_texts(SENTENCES, unicode_form=form)
    check_equal(both(made(vectorizer), tmp_path), [*NASTY.values(), *SENTENCES])


@pytest.mark.parametrize("max_chars", some_now([1, 4, 9], 4))
def test_truncated_texts(max_chars, tmp_path):
    vectorizer = NgramVectorizer(
        vocabulary=NgramVocabulary.from_texts(SENTENCES),
        dictionary=Dictionary({"password": 9, "neighbour": 5}, WordFilter.from_words(["passwort"])),
        fold_characters=True,
        unknown_rows=20,
        max_chars=max_chars,
    )
    models = both(made(vectorizer), tmp_path)
    texts = ["passwort passwrd", "  a  bc d", "\u4e2d\u4e01\u4e2d\u4e01\u4e2d", *SENTENCES]
    check_equal(models, texts + misspelled(SENTENCES, 9, 200))


@pytest.mark.long
def test_trained_run(trained):
    models = Both(TextEmbedder.load(trained.folder), TextReader.load(trained.folder))
    check_equal(models, [*words(40), *NASTY.values(), *SENTENCES])


@pytest.mark.long
def test_kept_words(english, tmp_path):
    words_file = tmp_path / "words.txt"
    words_file.write_text("Vehical pasword", encoding="utf-8")
    for kept in ({"vehical": 9, "pasword": 7}, words_file):
        models = Both(
            TextEmbedder.load("english", keep_words=kept),
            TextReader.load("english", keep_words=kept),
        )
        check_equal(models, ["my vehical and pasword", "vehicals pasworrd"])
    as_written = Both(
        TextEmbedder.load("english", correct_spelling=False),
        TextReader.load("english", correct_spelling=False),
    )
    check_equal(as_written, ["my vehical and pasword", *SENTENCES])
    assert english.reader.read_as(["my pasword"]) == ["my password"]

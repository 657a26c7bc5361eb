"""Correction of misspelled words against the slow reference."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import correction as reference
from tests.reference.text import normalize
from tests.reference.word_filter import Filter
from tests.text.strategies import TRICKY, in_numpy, slow_property_settings
from tests.variants import some_now
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text._algorithm.reading import SymbolReader
from tf_charagram.text._algorithm.symbols import Symbols
from tf_charagram.text._algorithm.tensors import string_tensor
from tf_charagram.text._spelling.correction import MAX_LETTERS
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text._spelling.word_filter import WordFilter
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary

ALL_CHARACTERS = frozenset(map(chr, range(0x110000)))
COUNTS = {"vehicles": 300, "road": 900, "the": 9000, "there": 2000, "three": 1800, "caf\u00e9": 20}

# Few letters, so that many words are one typo apart.
some_words = st.text("aab\u00e9\U00010400", min_size=1, max_size=MAX_LETTERS + 2) | st.text(
    "aacdilmrnvw", min_size=1, max_size=8
)
dictionaries = st.dictionaries(some_words, st.integers(1, 40), min_size=1, max_size=12)
between = st.sampled_from([" ", "-", "_", "1", "10", "7", "\x00"]) | st.text(TRICKY, max_size=2)
with_digits = st.text("aacdil1mrn4vw0", min_size=3, max_size=8)
pieces = some_words | with_digits | between
texts = st.lists(pieces, max_size=8).map("".join)


def read_as(vectorizer, text):
    """Reads a text in NumPy, as the graph does: `test_equals_reference` compares them."""
    symbols, _ = in_numpy(vectorizer)
    return symbols.string(symbols([text])).strip(" ")


def lowered(counts):
    return {normalize(word, pad=False): count for word, count in counts.items() if word.isalpha()}


@pytest.fixture(scope="module")
def vectorizer():
    return hashing(COUNTS)


@pytest.fixture(scope="module")
def joining():
    """Returns a vectorizer of words that are found in joined words."""
    counts = {
        "the": 90_000,
        "a": 50_000,
        "s": 40_000,
        "on": 30_000,
        "good": 2000,
        "bad": 9,
        "rare": 1,
    }
    counts |= {"road": 3000, "roads": 2000, "one": 20_000}
    return hashing(counts, WordFilter.from_words(["onethe"]))


def hashing(counts, accepted_words=None):
    return NgramVectorizer(hash_buckets=1000, dictionary=Dictionary(counts, accepted_words))


@slow_property_settings
@given(
    dictionaries, st.lists(texts, max_size=5), st.booleans(),
    st.none() | st.lists(some_words.map(lambda word: normalize(word, pad=False)), max_size=3),
)  # fmt: skip
def test_equals_reference(counts, raws, is_exact, right):
    """With exact keys only the characters of the n-grams are told apart."""
    alphabet = ALL_CHARACTERS
    vectorizer = hashing(counts, None if right is None else WordFilter.from_words(right))
    if is_exact:
        alphabet = {*"ab\u00e9-_ 1\U00010428"}
        ngrams = NgramVocabulary.from_ngrams(sorted(alphabet))
        vectorizer = NgramVectorizer(vocabulary=ngrams, dictionary=vectorizer.dictionary)
    known = {word: count for word, count in lowered(counts).items() if {*word} <= alphabet}
    for raw in raws:
        text, read = normalize(raw, lower=False, pad=False), read_as(vectorizer, raw)
        assert vectorizer.spans(raw)[0].strip(" ") == read
        found = () if right is None else Filter(right)
        assert reference.is_reading(text, read, known, alphabet, found), (text, read)


@pytest.mark.parametrize(("text", "read"), [
    ("Vehicls on the Road", "vehicles on the road"),
    ("vehicels vehhicles vehixles vehicle", "vehicles vehicles vehicles vehicles"),
    ("thre", "there"),  # "three" also lacks one letter, and is rarer
    ("thhree", "three"),  # once too often, not "threee" from "there"
    ("vehicals", "vehicals"),  # two errors
    ("roda-raod,roads", "road-road,road"),
    ("rod teh", "rod teh"),  # three letters
    ("vhcls rd", "vehicles rd"), ("vehides vehicies", "vehicles vehicles"),
    ("vehicls1 vehicls_ 2vehicls", "vehicls1 vehicles_ 2vehicls"),
    ("r0ad Vehic1es vehide5 2vehicles", "road vehicles vehide5 2vehicles"),
    ("v3h1cles v3h1c1e5 thr33 r04d 7he", "vehicles v3h1c1e5 thr33 road 7he"),
    ("v3hicls vehicl5 vhc1s v2hicles 10ads", "v3hicls vehicl5 vhc1s v2hicles 10ads"),
    ("vehicls\U0001f600", "vehicles\U0001f600"),
    ("CAFE\u0301 Caf\u00c9 cafe", "cafe\u0301 caf\u00e9 caf\u00e9"),
    ("", ""),
    (" ", ""),
])  # fmt: skip
def test_examples(vectorizer, text, read):
    assert read_as(vectorizer, text) == read


@pytest.mark.parametrize(("text", "read"), [
    ("vehicls@road.com, raod.", "vehicls@road.com, road."),
    ("/vehicls/raod C:\\raod", "/vehicls/raod c:\\raod"),
    ("vehicls_id _roda raod_", "vehicls_id _roda road_"),
    ("roda.Next roda. Next roda...", "roda.next road. next road..."),
    ("myVehicls VEHICLS on the raod", "myvehicls vehicls on the road"),
    ("VEHICLS ON THE RAOD", "vehicles on the road"),
    ("Vehicls", "vehicles"),
])  # fmt: skip
def test_words_of_code_are_left_alone(vectorizer, text, read):
    assert read_as(vectorizer, text) == read
    assert vectorizer.read_as([text])[0].lower() == read


@pytest.mark.parametrize(("text", "read"), [
    ("Ontheroad, goodroads", "on the road, good roads"),
    ("aroad atheroad roada", "a road a the road road a"),
    ("sroad theroadtheroad", "road theroadtheroad"),  # "s" is part of a word; four words
    ("badrare theraree", "badrare theraree"),  # less probable than a name
    ("therod 0ntheroad", "therod 0ntheroad"),  # two kinds of errors
    ("onethe ontheroads", "onethe on the roads"),  # one of the accepted words
])  # fmt: skip
def test_joined_words(joining, text, read):
    assert read_as(joining, text) == read
    texts = joining(tf.constant([text, read])).to_list()
    assert texts[0] == texts[1]


@pytest.mark.parametrize("num_characters", some_now([40, 200, 400, 4000, 40_000], 40, 40_000))
def test_words_are_told_apart_whatever_the_alphabet(num_characters):
    """Symbols of 6, 8, 9, 12 and 16 bits; words of letters from both ends of the alphabet.

    The Hangul syllables are at the end; most characters before them are Chinese.
    """
    alphabet = [chr(code) for code in range(0xD7A4 - num_characters, 0xD7A4)]
    # Chinese has no spaces around words.
    letters = [char for char in alphabet if char.isalpha() and not "\u3400" <= char <= "\u9fff"]
    first, last = letters[0], letters[-1]
    words = [word + last * 3 for word in letters] + [first * n + last for n in range(3, 16)]
    ngrams = NgramVocabulary.from_ngrams(alphabet)
    dictionary = Dictionary({word: 1 for word in words})
    vectorizer = NgramVectorizer(vocabulary=ngrams, dictionary=dictionary)
    for word in (*words[:20], *words[-20:]):
        assert read_as(vectorizer, word) == word
    misspelled = first * 3 + letters[1] + last
    assert read_as(vectorizer, misspelled) == first * 4 + last
    assert vectorizer.spans(misspelled)[0] == f" {first * 4 + last} "


@pytest.mark.parametrize("alphabet", ["vehicls ", "vehicls !\u2605\U0001f600"])
def test_next_to_characters_that_have_no_symbol(alphabet):
    ngrams = NgramVocabulary.from_ngrams(sorted(alphabet))
    vectorizer = NgramVectorizer(vocabulary=ngrams, dictionary=Dictionary(COUNTS))
    for char in "\U0001f600\u2605!,\u2026\x00":
        read = read_as(vectorizer, f"{char}vehicls{char}{char} vehicls")
        assert read.count("vehicles") == 2 and len(read) == 20, char
    # Parts of words with such a character are left alone.
    assert "vehicles" not in read_as(vectorizer, "vehicls\u4e2d vehicls\u0301 9vehicls")


@pytest.mark.parametrize(("known", "text"), [
    ("\u4e2d\u56fd\u4eba\u6c11", "\u4e2d\u56fd\u4eba\u6c11\u7684"),
    ("\u6211\u5f88\u9ad8\u5174", "\u6211\u4e0d\u9ad8\u5174"),
    ("\u884c\u304d\u307e\u3059", "\u884c\u3051\u307e\u3059"),
    ("\u30ab\u30bf\u30ab\u30ca", "\u30ab\u30bf\u30ab\u30cb"),
    ("\u0e2a\u0e27\u0e22\u0e07\u0e32\u0e21", "\u0e2a\u0e27\u0e22\u0e07\u0e32"),
])  # fmt: skip
def test_scripts_without_spaces_are_left_alone(known, text):
    assert read_as(hashing({known: 900, "road": 9}), text) == text
    assert read_as(hashing({known: 900, "road": 9}), text + " raod") == text + " road"


def test_longest_only_reads_the_same():
    vocabulary = NgramVocabulary.from_texts(["vehicles on the road"], orders=[2, 3, 4])
    parts = {"vocabulary": vocabulary, "dictionary": Dictionary(COUNTS)}
    folded = NgramVectorizer(**parts, longest_only=True)
    texts = tf.constant(["Vehicls", "vehicles", "vehilces"])
    first, *others = folded(texts).to_list()
    assert others == [first, first]
    assert first != folded(tf.constant(["road"])).to_list()[0]


def test_cut_texts():
    """Words are corrected after the cut, and the rest stays cut off."""
    vectorizer = NgramVectorizer(
        hash_buckets=1000, orders=[8], dictionary=Dictionary(COUNTS), max_chars=7
    )
    assert read_as(vectorizer, "vehicls vehicls") == "vehicles"
    texts = ["vehicls vehicls", "vehicls", "vehicles", "roda vehicls", "x"]
    cut, whole, right, other, _ = vectorizer(tf.constant(texts)).to_list()
    assert cut == whole == right
    assert (len(cut), len(other)) == (len(" vehicles ") - 7, len(" road ve ") - 7)


@pytest.mark.parametrize("options", [{"hash_buckets": 9}, {"vocabulary": None}])
def test_clones_know_the_words(options):
    vectorizer = NgramVectorizer(**options, dictionary=Dictionary(COUNTS))
    if not options.get("hash_buckets"):
        vectorizer.adapt(["vehicles"])
    clone = NgramVectorizer.from_config(vectorizer.get_config())
    assert clone.dictionary.words == vectorizer.dictionary.words
    assert (
        clone(tf.constant(["vehicls"])).to_list() == vectorizer(tf.constant(["vehicles"])).to_list()
    )


@pytest.mark.parametrize("options", [{"hash_buckets": 99}, {"hash_buckets": None}])
def test_typographic_apostrophes(options):
    """Dictionaries and most texts have that of ASCII, phones write the others."""
    vectorizer = NgramVectorizer(orders=[2], **options, dictionary=Dictionary(COUNTS))
    if options["hash_buckets"] is None:
        vectorizer.adapt(["don't the vehicles", "\u2019t"])
    for apostrophe in "\u2018\u2019":
        assert read_as(vectorizer, f"Don{apostrophe}t vehicls") == "don't vehicles"


# Weights of all errors; of the words read, the letters written, and one by their number.
WEIGHTS = np.array([*range(-900, 3800, 250), 400, -200, 3000], np.int32)


@slow_property_settings
@given(dictionaries, st.lists(with_digits | some_words, min_size=1, max_size=5))
def test_shares_equal_reference(counts, words):
    dictionary = Dictionary(counts, sureness=WEIGHTS)
    symbols = SymbolReader(None, dictionary)
    known = reference.log_probabilities(lowered(counts))
    logs = reference.log_triples(known)
    readings = symbols.readings(words, 0.0)
    in_arrays = Symbols(None, dictionary).readings(words, 0.0)
    np.testing.assert_array_equal(readings.changed, in_arrays.changed)
    np.testing.assert_array_equal(readings.shares, in_arrays.shares)
    for row, share in zip(readings.changed.numpy(), readings.shares.numpy(), strict=True):
        word = normalize(words[row], pad=False)
        choices = reference.corrections(word, lowered(counts))
        shares = [reference.share(WEIGHTS.tolist(), word, read, known, logs) for read in choices]
        # A term that is half a thousandth may be rounded up or down.
        assert min(abs(share - other) for other in set().union(*shares)) < 0.006


def test_mean_of_two_vectors():
    """The vector of a changed text is that of both readings, by the mean share of its words."""
    ngrams = NgramVocabulary.from_texts(["vehicles on the road, vehicls, raod"], orders=[2, 3])
    written = NgramVectorizer(vocabulary=ngrams)
    dictionary = Dictionary(COUNTS, sureness=WEIGHTS)
    vectorizer = written.with_parts(ngrams, dictionary)
    encoder = Charagram(num_rows=written.num_rows, dim=4)
    texts = ["vehicls on the raod", "the road", "raod", ""]
    readings = vectorizer.reader.readings(string_tensor(texts))
    assert readings.changed.numpy().tolist() == [0, 2]
    read = TextEmbedder(written, encoder).encode(["vehicles on the road", texts[1], "road", ""])
    expected = TextEmbedder(written, encoder).encode(texts)
    shares = readings.shares.numpy()[:, np.newaxis]
    assert 0.1 < shares.min() and shares.max() < 0.65
    expected[[0, 2]] += shares * (read - expected)[[0, 2]]
    vectors = TextEmbedder(vectorizer, encoder).encode(texts)
    np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_unsure_words_are_read_as_written():
    """All readings count a little in vectors; only those of more than a half are shown."""
    weights = np.zeros_like(WEIGHTS)
    vectorizer = NgramVectorizer(hash_buckets=1000, dictionary=Dictionary(COUNTS, sureness=weights))
    assert read_as(vectorizer, "vehicls") == "vehicls"
    readings = vectorizer.reader.readings(string_tensor(["vehicls on a raod", "vehicls"]))
    assert readings.changed.numpy().tolist() == [0, 1]
    np.testing.assert_allclose(readings.shares, 0.65 / 2, atol=0.01)


def test_words_cut_off_change_no_share():
    vectorizer = NgramVectorizer(
        hash_buckets=1000, dictionary=Dictionary(COUNTS, sureness=WEIGHTS), max_chars=4
    )
    texts = ["road vehicls", "raod vehicls", "road"]
    assert vectorizer.reader.readings(string_tensor(texts)).changed.numpy().tolist() == [1]

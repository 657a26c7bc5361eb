"""Texts to word ids: the words, the vocabulary, and malformed texts."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given

from tests.reference import text as reference
from tests.text.strategies import raw_lists, slow_property_settings
from tests.texts import NASTY
from tf_charagram.errors import ConfigError
from tf_charagram.text.splitting import split_words
from tf_charagram.text.words import WordVectorizer

# Of what `strategies` draws: control characters, the zero-width space, a mark of direction.
INVISIBLE = {*range(0x20), *range(0x7F, 0xA0), 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F)}
INVISIBLE |= {0x061C, 0x2060, *range(0x2066, 0x206A), 0xFEFF}


def as_bytes(raw):
    return raw if isinstance(raw, bytes) else raw.encode("utf-8", "surrogatepass")


def split(*texts, lowercase=True, unicode_form=None, max_chars=None):
    raws = [as_bytes(text) for text in texts]
    words = split_words(tf.constant(raws, tf.string), lowercase, unicode_form, max_chars)
    return [[word.decode() for word in row] for row in words.to_list()]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The cat, (or dog)!", "the cat , ( or dog ) !"),
        ("don't can't n't do n't", "do n't ca n't n't do n't"),
        ("it's John\u2019s they're 's I'D", "it 's john 's they 're 's i 'd"),
        ("o'clock rock'n'roll aujourd'hui dogs'", "o'clock rock'n'roll aujourd'hui dogs '"),
        ("'quote' 'start", "' quote ' ' start"),
        ("3.14 1,000 1999, $5 100% 2nd", "3.14 1,000 1999 , $ 5 100 % 2nd"),
        ("x-ray a_b http://a.b ...", "x - ray a _ b http : / / a . b . . ."),
        ("na\u00efve e\u0301t\u00e9\u2014", "na\u00efve e\u0301t\u00e9 \u2014"),
        ("\u4f60\u597d\uff0c\u4e16 abc\u4f60", "\u4f60 \u597d \uff0c \u4e16 abc \u4f60"),
        ("\u3068\u3066\u3082 \u30ab\u30bf", "\u3068\u3066\u3082 \u30ab\u30bf"),
        ("\u05e9\u05dc\u05d5\u05dd. \u0645\u0631\u060c", "\u05e9\u05dc\u05d5\u05dd . \u0645\u0631 \u060c"),  # noqa: E501
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"),  # noqa: E501
        ("\u0939\u093f\u0928\u094d\u0926\u0940", "\u0939\u093f\u0928\u094d\u0926\u0940"),
        ("hi\U0001f44d\U0001f3fd\U0001f600", "hi \U0001f44d\U0001f3fd \U0001f600"),
        ("\U0001f468\u200d\U0001f469", "\U0001f468\u200d\U0001f469"),
        ("a\u200bb\ufeffc\0d\u3000e\u00a0f", "a b c d e f"),
        (b"caf\xe9 \xff\xfe", "caf \ufffd \ufffd\ufffd"),
        (" \t\r\n", ""),
    ],
)  # fmt: skip
def test_words(text, words):
    assert split(text) == [words.split(" ") if words else []]


def test_settings():
    assert split("Don'T IT'S", lowercase=False) == [["Do", "n'T", "IT", "'S"]]
    assert split("\uff21\ufb01", unicode_form="NFKC") == [["afi"]]
    # The space between the words counts, the spaces before them do not.
    assert split("  ab  cd", max_chars=4) == [["ab", "c"]]
    assert split("ab", "cd ef", "", "gh", max_chars=3) == [["ab"], ["cd"], [], ["gh"]]


@slow_property_settings
@given(raw_lists)
def test_splitting_loses_nothing_but_space(raws):
    """And splits nothing twice, and keeps texts apart."""
    rows = split(*raws)
    assert rows == [split(raw)[0] for raw in raws]
    for raw, words in zip(raws, rows, strict=True):
        assert all(words)
        assert split(" ".join(words)) == [words]
        normalized = reference.normalize(raw).replace("\u2019", "'")
        visible = [c for c in normalized if c != " " and ord(c) not in INVISIBLE]
        assert "".join(words) == "".join(visible)


def test_ids():
    vectorizer = WordVectorizer.from_texts(["b a, b", "", "\u4f60 \U0001f600 a b \uffee"])
    assert vectorizer.words == ["b", "a", ",", "\u4f60", "\uffee", "\U0001f600"]
    assert vectorizer.num_rows == 7
    ids = vectorizer(tf.constant(["A b?", "", "\U0001f600,"]))
    assert isinstance(ids, tf.RaggedTensor)
    assert ids.dtype == tf.int32 and ids.row_splits.dtype == tf.int64
    assert ids.to_list() == [[2, 1, 0], [], [6, 3]]
    assert vectorizer(tf.constant([], tf.string)).shape[0] == 0


def test_vocabulary_is_counted_from_a_stream(monkeypatch):
    texts = ["a b c", "a b", "a d", "", "d d e " * 3]
    whole = WordVectorizer.from_texts(texts)
    monkeypatch.setattr("tf_charagram.text.words._CHUNK_TEXTS", 2)
    monkeypatch.setattr("tf_charagram.text.words._CHUNK_CHARS", 4)
    assert WordVectorizer.from_texts(iter(texts)).words == whole.words == list("daebc")
    assert WordVectorizer.from_texts(texts, min_count=2).words == list("daeb")
    assert WordVectorizer.from_texts(texts, max_words=3).words == list("dae")
    assert WordVectorizer.from_texts(["A a"], lowercase=False).words == ["A", "a"]
    assert WordVectorizer.from_texts(["ab cd"], max_chars=2).words == ["ab"]


def test_state_round_trip(tmp_path):
    texts = [text for text in NASTY.values() if isinstance(text, str)]
    vectorizer = WordVectorizer.from_texts(texts, max_chars=99, lowercase=False)
    config = json.loads(json.dumps(vectorizer.settings()))
    np.savez(tmp_path / "words.npz", **vectorizer.state())
    with np.load(tmp_path / "words.npz", allow_pickle=False) as state:
        restored = WordVectorizer.from_state(config, dict(state))
    assert restored.get_config() == vectorizer.get_config()
    assert restored.words == vectorizer.words
    inputs = tf.constant([as_bytes(text) for text in NASTY.values()])
    assert restored(inputs).to_list() == vectorizer(inputs).to_list()


@pytest.mark.parametrize("name", NASTY)
def test_nasty_text_leaves_its_neighbours_alone(name):
    vectorizer = WordVectorizer.from_texts(["cat dog"])
    ids = vectorizer(tf.constant([b"dog", as_bytes(NASTY[name]), b"cat"]))
    assert [ids[0].numpy().tolist(), ids[2].numpy().tolist()] == [[2], [1]]


def test_runs_in_a_graph():
    vectorizer = WordVectorizer.from_texts(["cat dog"])
    graph = tf.function(vectorizer, input_signature=[tf.TensorSpec([None], tf.string)])
    for batch in ([], [""], ["Dog's cat", "", "cat"]):
        texts = tf.constant(batch, tf.string)
        assert graph(texts).to_list() == vectorizer(texts).to_list()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"min_count": 0}, "`min_count` must be at least 1. Received: min_count=0"),
        ({"max_words": 0}, "`max_words` must be at least 1 or None. Received: 0"),
        ({"min_count": 3}, "no word that occurs 3 times or more. Lower `min_count`"),
        ({"unicode_form": "NFX"}, "`unicode_form` must be None, NFC, NFD, NFKC or NFKD. .*'NFX'"),
        ({"max_chars": 0}, "`max_chars` must be at least 1 or None. Received: 0"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ConfigError, match=message):
        WordVectorizer.from_texts(["a b a"], **arguments)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("abc", "`words` must be a list of texts. Received a single string"),
        (["\ud800"], "`words` must be strings without surrogates"),
        (["a", None], "`words` must be strings without surrogates"),
    ],
)
def test_what_are_no_words(words, message):
    with pytest.raises(ConfigError, match=message):
        WordVectorizer(words=words)


@pytest.mark.parametrize("offsets", [[], [0], [1, 3], [0, 2], [0, 2, 1, 3]])
def test_offsets_that_do_not_fit(offsets):
    utf8 = np.frombuffer(b"abc", np.uint8)[: 0 if offsets == [0] else 3]
    state = {"utf8": utf8, "offsets": np.array(offsets, np.int64)}
    with pytest.raises(ValueError, match="do not go from their first byte to their last"):
        WordVectorizer.from_state({}, state)


@pytest.mark.parametrize("words", [[], ["a", "b", "a"]])
def test_words_are_distinct(words):
    with pytest.raises(ConfigError, match="at least one word, and none twice"):
        WordVectorizer(words=words)

"""Character ids against the slow reference, in eager mode, in a graph, and after a round trip."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.reference import text as reference
from tests.text.strategies import (
    as_bytes,
    max_chars_or_none,
    raw_lists,
    slow_property_settings,
    text_lists,
)
from tf_charagram.errors import ConfigError
from tf_charagram.text.characters import CharacterVectorizer
from tf_charagram.text.symbols import Alphabet

TEXTS = ("", "Cat", "cats  cat", "\u4e2d\u4e01", " ", "dog")


def ids_of(vectorizer, raws):
    return vectorizer(tf.constant([as_bytes(raw) for raw in raws], tf.string)).to_list()


def graph_ops(function):
    """Returns the names of all operations of a traced function, inner ones included."""
    definition = function.get_concrete_function().graph.as_graph_def()
    inner = (node.op for f in definition.library.function for node in f.node_def)
    return {*(node.op for node in definition.node), *inner}


@slow_property_settings
@given(text_lists, raw_lists, max_chars_or_none, st.booleans())
@example(["ab"], ["ab", "", "ba", b"a\xffb", "a\ufffd"], None, True)
@example(["ab \ufffd"], ["\u4e2d", b"\xff", " a  b "], 2, False)
def test_equals_reference(texts, raws, max_chars, lowercase):
    """The texts embedded are not those the alphabet is counted from, but for the first two."""
    options = {"lower": lowercase, "max_chars": max_chars}
    alphabet = {char for text in texts for char in reference.normalize(text, **options)} - {" "}
    assume(alphabet)
    vectorizer = CharacterVectorizer.from_texts(texts, lowercase=lowercase, max_chars=max_chars)
    symbols = {" ": 1} | {char: 3 + i for i, char in enumerate(sorted(alphabet))}
    assert vectorizer.num_rows == 3 + len(alphabet)
    raws = [*texts[:2], *raws]
    expected = [
        [symbols.get(char, 2) for char in reference.normalize(raw, **options)] for raw in raws
    ]
    assert ids_of(vectorizer, raws) == expected


def test_by_hand():
    """Alphabet a, b, t: ids 3, 4, 5."""
    vectorizer = CharacterVectorizer.from_texts(iter(["Tab", "bat"]))
    assert vectorizer.num_rows == 6
    assert ids_of(vectorizer, ["bAt", " a\tz ", "", " "]) == [
        [1, 4, 3, 5, 1], [1, 3, 1, 2, 1], [], []
    ]  # fmt: skip


def test_counts_more_texts_than_one_chunk():
    texts = (chr(0x4E00 + i % 3_000) for i in range(3_500))
    assert CharacterVectorizer.from_texts(texts).num_rows == 3 + 3_000


def test_characters_that_are_cut_are_not_counted():
    vectorizer = CharacterVectorizer.from_texts(["abcd"], max_chars=2)
    assert vectorizer.state()["alphabet"].tolist() == [ord("a"), ord("b")]


def test_graph_equals_eager():
    """And has no Python in it, no table, and nothing that only an add-on package has."""
    vectorizer = CharacterVectorizer.from_texts(TEXTS)
    graph = tf.function(vectorizer, input_signature=[tf.TensorSpec([None], tf.string)])
    for batch in (TEXTS, TEXTS[:1], ()):
        found = graph(tf.constant(batch, tf.string))
        assert found.to_list() == ids_of(vectorizer, batch)
        assert found.dtype == tf.int32 and found.row_splits.dtype == tf.int64
        assert found.row_splits.shape == (len(batch) + 1,)
    ops = graph_ops(graph)
    assert "UnicodeDecode" in ops
    assert not any("PyFunc" in op or "Table" in op or ">" in op for op in ops), ops


def test_batch_mates_change_nothing():
    vectorizer = CharacterVectorizer.from_texts(TEXTS)
    together = ids_of(vectorizer, TEXTS)
    assert together == [ids_of(vectorizer, [text])[0] for text in TEXTS]
    assert together[::-1] == ids_of(vectorizer, TEXTS[::-1])


def test_state_round_trip(tmp_path):
    vectorizer = CharacterVectorizer.from_texts(TEXTS, lowercase=False, max_chars=7)
    config = json.loads(json.dumps(vectorizer.settings()))
    np.savez(tmp_path / "state.npz", **vectorizer.state())
    with np.load(tmp_path / "state.npz", allow_pickle=False) as state:
        restored = CharacterVectorizer.from_state(config, dict(state))
    assert restored.get_config() == vectorizer.get_config()
    assert config["lowercase"] is False and config["max_chars"] == 7
    assert ids_of(restored, TEXTS) == ids_of(vectorizer, TEXTS)
    assert restored.num_rows == vectorizer.num_rows


def test_has_no_weights_and_no_resources():
    vectorizer = CharacterVectorizer.from_texts(["a"])
    assert vectorizer.weights == [] and vectorizer.resources == [] and not vectorizer.trainable


def test_lone_surrogates_are_replaced():
    assert CharacterVectorizer.from_texts(["a\ud800"]).num_rows == 5


def test_unicode_form():
    pytest.importorskip("tensorflow_text")
    vectorizer = CharacterVectorizer.from_texts(["\uff43\uff41\uff54"], unicode_form="NFKC")
    assert ids_of(vectorizer, ["\uff23at"]) == ids_of(vectorizer, ["cat"]) == [[1, 4, 3, 5, 1]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"unicode_form": "nfc"}, "`unicode_form` must be None, NFC, .* Received: 'nfc'"),
        ({"max_chars": 0}, "`max_chars` must be at least 1 or None. Received: 0"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ConfigError, match=message):
        CharacterVectorizer(alphabet=Alphabet(), **arguments)
    with pytest.raises(ConfigError, match=message):
        CharacterVectorizer.from_texts(["a"], **arguments)


def test_characters_are_no_alphabet():
    with pytest.raises(ConfigError, match=r"`alphabet` must be an `Alphabet`. Received: 'abc'"):
        CharacterVectorizer(alphabet="abc")


@pytest.mark.parametrize("texts", [[], ["", " \t"]], ids=str)
def test_texts_without_characters(texts):
    with pytest.raises(ConfigError, match="The texts have no character to make an alphabet of"):
        CharacterVectorizer.from_texts(texts)

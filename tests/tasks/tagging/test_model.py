"""A sentence has the same tags by every route, next to any other sentences."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.reference import charagram as charagram_reference
from tests.reference import tagger as reference
from tests.texts import NASTY
from tests.variants import some_now
from tf_charagram.encoders.characters import CharCnn, CharLstm
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError
from tf_charagram.tasks.tagging import model as module
from tf_charagram.tasks.tagging.head import TaggingHead
from tf_charagram.tasks.tagging.model import TaggedToken, Tagger
from tf_charagram.text.characters import CharacterVectorizer
from tf_charagram.text.vectorizer import NgramVectorizer

WORDS = "The cat sat on the mats , did n't it ? I saw Dr. Dog in New York".split()
TAGS = ["NN", "VB", "-LRB-", "\u00e9"]
ENCODERS = {
    "charagram": (NgramVectorizer, Charagram, {"num_layers": 2, "activation": "tanh"}),
    "char_cnn": (CharacterVectorizer, CharCnn, {"input_dim": 3}),
    "char_lstm": (CharacterVectorizer, CharLstm, {"input_dim": 3}),
}
TEXTS = ["The cat didn't sit.", "", "I saw Dr. Dog (in New York)", "unseen: \u00dcber \U0001f600!"]
SENTENCES = [["The", "cat"], [], WORDS, ["", " ", "New York", "a\0b", "\u4f60\u597d"]]


def make(name="charagram", lowercase=True):
    vectorizer_class, encoder_class, options = ENCODERS[name]
    vectorizer = vectorizer_class.from_texts(WORDS, lowercase=lowercase)
    encoder = encoder_class(num_rows=vectorizer.num_rows, dim=6, **options)
    head = TaggingHead(labels=TAGS, word_dim=6, lstm_dim=4, hidden_dim=5, use_capitals=lowercase)
    rng = np.random.default_rng(0)
    for weight in (*encoder.weights, *head.weights):
        scale = 0.1 if "bias" in weight.name else 1.5
        weight.assign(rng.normal(scale=scale, size=weight.shape))
    return Tagger(vectorizer, encoder, head)


@pytest.fixture(scope="module")
def taggers():
    return {name: make(name) for name in ENCODERS}


@pytest.fixture(scope="module")
def tagger(taggers):
    return taggers["charagram"]


def check_same(found, expected):
    """The same tokens and tags; scores but for rounding."""
    assert [len(sentence) for sentence in found] == [len(sentence) for sentence in expected]
    for one, other in zip(chain(*found), chain(*expected), strict=True):
        assert one._replace(score=0.0) == other._replace(score=0.0)
        assert one.score == pytest.approx(other.score, abs=1e-5)


def test_equals_reference(tagger):
    weights = [w.numpy().astype(float) for w in tagger.weights]
    (table, b, K, b2), others = weights[:4], weights[4:]
    names = [f"{way}_{name}" for way in ("forward", "backward") for name in "KRb"]
    vocabulary = tagger.vectorizer.vocabulary.ngrams()

    def compose(word):
        return charagram_reference.embed([word], vocabulary, table, b, "tanh", (K, b2))[0]

    own = dict(zip([*names, "H", "bh", "S", "bs"], others, strict=True))
    logits = reference.logits(SENTENCES, compose, own, use_capitals=True)
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    found = tagger.tag(SENTENCES)
    assert [[token.token for token in sentence] for sentence in found] == SENTENCES
    tokens = list(chain(*found))
    assert [token.tag for token in tokens] == [TAGS[i] for i in expected.argmax(axis=1)]
    assert len({token.tag for token in tokens}) > 2
    assert_allclose([token.score for token in tokens], expected.max(axis=1), rtol=1e-4)
    assert {(token.start, token.end) for token in tokens} == {(None, None)}


def test_texts_are_split(tagger):
    found = tagger.tag(TEXTS)
    tokens = [[token.token for token in sentence] for sentence in found]
    assert tokens[0] == ["The", "cat", "did", "n't", "sit", "."] and tokens[1] == []
    assert "Dr." in tokens[2]
    for text, sentence in zip(TEXTS, found, strict=True):
        assert [text[token.start : token.end] for token in sentence] == [
            token.token for token in sentence
        ]
    given = [[token._replace(start=None, end=None) for token in sentence] for sentence in found]
    check_same(tagger.tag(tokens), given)


def test_nothing(tagger):
    assert tagger.tag([]) == []
    assert tagger.tag([""]) == tagger.tag([[]]) == tagger.tag(iter([" \t"])) == [[]]


@pytest.mark.parametrize("name", some_now(ENCODERS, "charagram"))
def test_any_text(taggers, name):
    texts = [text for text in NASTY.values() if isinstance(text, str) and len(text) < 10_000]
    for sentences in (texts, [[text, text] for text in texts]):
        for sentence in taggers[name].tag(sentences):
            assert all(0.0 < token.score <= 1.0 and token.tag in TAGS for token in sentence)
    lone = taggers[name].tag(["a\ud800b c"])[0]
    assert [(token.token, token.start, token.end) for token in lone][-1] == ("c", 4, 5)


def test_one_long_sentence_among_many(tagger):
    """5,000 tokens among 999 short ones change nothing."""
    sentences = [["a", "cat"]] * 500 + [["cat", "mat"] * 2_500] + [["The", "dog", "sat"]] * 499
    found = tagger.tag(sentences)
    assert [len(sentence) for sentence in found] == [2] * 500 + [5_000] + [3] * 499
    places = (0, 500, 501)
    expected = tagger.tag([sentences[i] for i in places], batch_size=1)
    check_same([found[i] for i in places], expected)


def test_no_group_is_padded_to_more_than_it_may_be(tagger, monkeypatch):
    padded, original = [], TaggingHead.call

    def call(self, vectors, capitals, positions, training=False):
        padded.append([int(size) for size in positions.bounding_shape()])
        return original(self, vectors, capitals, positions, training=training)

    monkeypatch.setattr(TaggingHead, "call", call)
    monkeypatch.setattr(module, "_MAX_WORD_STEPS", 20)
    sentences = [["a", "cat"]] * 9 + [["cat"] * 50] + [["The", "dog", "sat"]] * 9
    # Not in a graph, so that numbers are seen.
    probabilities = tagger.call(tf.ragged.constant(sentences, row_splits_dtype=tf.int64))
    assert len(probabilities) == 9 * 2 + 50 + 9 * 3
    assert padded[0] == [1, 50] and sum(rows for rows, _ in padded) == 19
    assert all(rows * time <= 20 for rows, time in padded[1:])
    assert len(padded) == 4


@pytest.mark.parametrize("batch_size", [1, 2, 1000])
def test_batch_size_changes_nothing(tagger, batch_size):
    sentences = [*TEXTS, *SENTENCES, *TEXTS[::-1]]
    check_same(tagger.tag(sentences, batch_size=batch_size), tagger.tag(sentences))


@pytest.mark.parametrize("name", some_now(ENCODERS, "charagram", "char_lstm"))
def test_other_sentences_and_their_order_change_nothing(taggers, name):
    tokens = st.sampled_from([*WORDS, "", "unseen", "Cat", "x" * 40])
    sentences = st.lists(st.lists(tokens, max_size=7), min_size=1, max_size=5)

    @settings(max_examples=5, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(sentences, sentences, st.randoms(use_true_random=False))
    def check(sentences, others, rng):
        order = list(range(len(sentences) + len(others)))
        rng.shuffle(order)
        found = taggers[name].tag([[*sentences, *others][i] for i in order])
        check_same(
            [found[order.index(i)] for i in range(len(sentences))],
            [taggers[name].tag([sentence])[0] for sentence in sentences],
        )

    check()


@pytest.fixture(scope="module")
def signatures(tagger, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported")
    tagger.export(folder)
    return tf.saved_model.load(str(folder)).signatures


def test_served_answers(signatures, tagger):
    served = {
        key: value.numpy() for key, value in signatures["tag"](texts=tf.constant(TEXTS)).items()
    }
    columns = (served[key].tolist() for key in ("tokens", "tags", "scores", "starts", "ends"))
    rows = [
        TaggedToken(token.decode(), tag.decode(), *numbers)
        for token, tag, *numbers in zip(*columns, strict=True)
    ]
    ends = np.cumsum(served["row_lengths"])
    split = [
        rows[end - length : end] for end, length in zip(ends, served["row_lengths"], strict=True)
    ]
    check_same(split, tagger.tag(TEXTS))
    lengths = tf.constant([len(sentence) for sentence in SENTENCES], tf.int64)
    served = signatures["tag_tokens"](tokens=tf.constant([*chain(*SENTENCES)]), row_lengths=lengths)
    expected = list(chain(*tagger.tag(SENTENCES)))
    assert [tag.decode() for tag in served["tags"].numpy()] == [token.tag for token in expected]
    assert_allclose(served["scores"], [token.score for token in expected], atol=1e-5)


def test_served_nothing(signatures):
    for texts in ([], [""], ["", " "]):
        found = signatures["tag"](texts=tf.constant(texts, tf.string, [len(texts)]))
        assert found["row_lengths"].numpy().tolist() == [0] * len(texts)
        assert all(found[name].shape == (0,) for name in ("tokens", "tags", "scores", "starts"))
        lengths = tf.zeros([len(texts)], tf.int64)
        found = signatures["tag_tokens"](tokens=tf.constant([], tf.string), row_lengths=lengths)
        assert found["tags"].shape == found["scores"].shape == (0,)


@pytest.mark.parametrize(
    "lengths", [[], [1], [3], [-1, 3], [2**62, 2**62, 2**62, 2**62, 2], [5, -3]], ids=str
)
def test_row_lengths_that_do_not_fit(signatures, lengths):
    with pytest.raises(tf.errors.InvalidArgumentError, match="must sum to the number of `tokens`"):
        signatures["tag_tokens"](
            tokens=tf.constant(["a", "b"]), row_lengths=tf.constant(lengths, tf.int64)
        )


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ("The cat", "`sentences` must be a list of sentences. Received: 'The cat'"),
        ([["The", 3]], "A sentence must be a string or a list of strings. Received: list"),
        (None, "`sentences` must be a list of sentences. Received: None"),
    ],
)
def test_errors(tagger, sentences, message):
    with pytest.raises(ConfigError, match=message):
        tagger.tag(sentences)


def test_head_of_another_width(tagger):
    head = TaggingHead(labels=["A"], word_dim=5)
    with pytest.raises(ConfigError, match=r"`word_dim` of the head \(5\) does not match .* \(6\)"):
        Tagger(tagger.vectorizer, tagger.encoder, head)

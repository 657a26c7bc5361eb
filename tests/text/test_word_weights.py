"""Weights of words, and ids of signs: the same in both executors, in models and their folders."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.variants import some_now
from tf_charagram import TextEmbedder, TextReader
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary

NGRAMS = [" n", "no", "not", "ot", "t ", " r", "ro", "roa", "oa", "ad", "d ", " ("]
WEIGHTS = {"not": 2.0, "road": 0.5}


def dictionary():
    return Dictionary({"not": 50, "road": 40, "a": 9}).with_weights(WEIGHTS, 1.5)


def embedder(**options):
    vocabulary = NgramVocabulary.from_ngrams([*NGRAMS, "+x", "#y", "=z"])
    settings = {"unknown_rows": 64, "dictionary": dictionary(), **options}
    vectorizer = NgramVectorizer(vocabulary=vocabulary, **settings)
    return TextEmbedder(vectorizer, Charagram(num_rows=vectorizer.num_rows, dim=5, seed=3))


def weighted_sum(model, text, weights):
    table = model.encoder.ngram_table.numpy()
    found = model.vectorizer.as_written().ngrams(text)
    return sum(weights[name] * table[list(ids)].sum(axis=0) for name, ids in found)


def test_words_count_by_their_weights():
    model = embedder()
    of_not = dict.fromkeys(NGRAMS[:5], 2.0)
    of_road = dict.fromkeys(NGRAMS[5:11], 0.5)
    # The n-gram between two words counts as the word that it starts in: "t " as "not".
    expected = weighted_sum(model, "not road", {**of_not, **of_road})
    assert_allclose(model.encode(["not road"])[0], expected, atol=1e-6)
    # A misspelled word counts as the word that it is read as, another one as all others.
    assert_allclose(model.encode(["raod"]), model.encode(["road"]), atol=1e-6)
    other = weighted_sum(model, "no", dict.fromkeys([" n", "no"], 1.5))
    assert_allclose(model.encode(["no"])[0], other, atol=1e-6)


@pytest.mark.parametrize(
    "text",
    some_now(["not a road", "no raod (not)", "c++ c#", "\u65e5 + not"], "no raod (not)"),
)
def test_reader_folded_and_explained(text, tmp_path):
    model = embedder(hash_signs=True)
    model.save(tmp_path)
    reader = TextReader.load(tmp_path)
    vector = model.encode([text])
    assert_allclose(reader.encode([text]), vector, atol=1e-6)
    assert_allclose(model.folded().encode([text]), vector, atol=1e-6)
    assert_allclose(TextEmbedder.load(tmp_path).encode([text]), vector, atol=1e-6)
    for parts in (model.ngrams(text), reader.ngrams(text)):
        assert len(parts.spans) == len(parts.vectors) - 1
        assert_allclose(parts.vectors.sum(axis=0), vector[0], atol=1e-6)


def test_signs_differ():
    model = embedder(hash_signs=True)
    texts = ["c++", "c#", "a = b", "(a)", "(b)", "=", "#"]
    vectors = model.encode(texts, normalize=True)
    cosines = vectors @ vectors.T - np.eye(len(texts))
    assert cosines.max() < 0.99 and np.linalg.norm(vectors, axis=1).min() > 0.99
    assert not embedder().encode(["#", "="]).any()
    # Letters without an n-gram have no row.
    assert not model.encode(["xx"]).any()


def test_weights_are_saved_merged_and_respelled():
    old = dictionary()
    restored = Dictionary.from_arrays(old.to_arrays())
    assert restored.weight_steps.tolist() == old.weight_steps.tolist() == [64, 16, 48, 48]
    merged = old.merged(Dictionary({"toad": 45}))
    assert dict(zip(merged.words, merged.weight_steps.tolist(), strict=False))["toad"] == 48
    assert merged.weight_steps[-1] == 48
    other = Dictionary({"caf\u00e9": 3, "road": 2}).with_weights(WEIGHTS, 1.0)
    respelled = other.respelled(lambda words: ["cafe" for _ in words])
    assert respelled.words == ["cafe", "road"] and respelled.weight_steps.tolist() == [32, 16, 32]


def test_words_that_are_rare_in_texts_count_more(tmp_path):
    # 3,000 usual words and 3,099 of the texts: 1,515 + 3,096 "not", 1,212 "road", 273 + 3 "a".
    old = dictionary()
    shares = np.array([1515.15 + 3096, 1212.12, 272.73 + 3]) / 6099
    usual = np.array([50, 40, 9]) / 99
    bits = np.maximum(-np.log2([shares, usual]), 3)
    expected = np.array([2.0, 0.5, 1.5]) * (bits[0] / bits[1]) ** 0.3
    counts = {"not": 3096, "a": 3, "unknown": 10**9}
    steps = old.weighed_by(counts).weight_steps
    assert_allclose(steps[:3] / 32, expected, atol=1 / 32)
    assert steps[3] == old.weight_steps[3]
    # Words that are as frequent as usual keep their weights.
    same = old.weighed_by({"not": 50, "road": 40, "a": 9}).weight_steps
    assert same.tolist() == old.weight_steps.tolist()
    model = embedder()
    model.save(tmp_path)
    rare = {"word_counts": {"a": 50_000}}
    vector = TextEmbedder.load(tmp_path, **rare).encode(["not road"])
    assert_allclose(TextReader.load(tmp_path, **rare).encode(["not road"]), vector, atol=1e-6)
    assert np.abs(vector - model.encode(["not road"])).max() > 0.01


def test_models_without_weights_stay():
    plain = Dictionary({"not": 50, "road": 40})
    assert plain.weighed_by({"not": 1000}) is plain


@pytest.mark.parametrize("steps", [[1, 2], [1, 2, 3, 200], [1, 2, 3]])
def test_damaged_weights(steps):
    arrays = dictionary().to_arrays()
    arrays["dictionary_weights"] = np.array(steps, np.uint8)
    with pytest.raises(ValueError, match="the weights of the dictionary must be bytes below 128"):
        Dictionary.from_arrays(arrays)


def test_signs_need_rows():
    with pytest.raises(ConfigError, match=r"`hash_signs` needs `unknown_rows`\. Received: 0"):
        embedder(unknown_rows=0, hash_signs=True)

"""Analyses of embedders: neighbours, lengths, shares, parameters, against small tables."""

from __future__ import annotations

import numpy as np
import pytest

from research.analysis import neighbors
from research.analysis.inputs import unit_embeds
from research.analysis.norms import most_frequent_tags, ngram_norms, word_norms
from research.analysis.parameters import active_parameters
from research.analysis.shares import ngram_shares
from research.analysis.words import seen_in
from tf_charagram.encoders.averaging import WordAverage
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.words import WordVectorizer

WORDS = ["cat", "cats", "dog", "dogs", "horse"]


def embedder(activation="linear", dim=4):
    vectorizer = NgramVectorizer.from_texts(WORDS, orders=(2, 3))
    encoder = Charagram(num_rows=vectorizer.num_rows, dim=dim, activation=activation)
    rows = np.random.default_rng(0).normal(size=(vectorizer.num_rows, dim))
    encoder.sum.table.assign(rows)
    return TextEmbedder(vectorizer, encoder)


@pytest.fixture(scope="module")
def model():
    return embedder()


@pytest.fixture(scope="module")
def averages():
    vectorizer = WordVectorizer.from_texts(WORDS)
    return TextEmbedder(vectorizer, WordAverage(num_rows=vectorizer.num_rows, dim=4))


def test_nearest_texts_leave_out_the_query():
    vectors = {"a": [1, 0], "b": [0.8, 0.6], "c": [0, 1], "d": [-1, 0]}
    embed = lambda texts: np.array([vectors[text] for text in texts], np.float32)  # noqa: E731
    table = neighbors.nearest_texts({"m": embed}, ["a", "c"], list("abcdb"), k=2, known={"a"})
    assert table.rows == (("a", "yes", "b, c"), ("c", "no", "b, a"))
    assert table.title == "Nearest among 4 texts"


def test_what_was_seen_in_training(model):
    queries = ["Fawn", "re-allocation", "not able", "able", "abl", "fawn not"]
    texts = ["a fawn", "Not able", "the re-allocation of"]
    assert seen_in(queries, texts) == {"Fawn", "re-allocation", "not able", "able"}
    table = neighbors.nearest_texts(unit_embeds({"m": model}), ["cat"], WORDS, known=set())
    assert table.column("seen in training") == {"cat": "no"}


def test_nearest_ngrams_compare_their_own_vectors(model):
    names, vectors = neighbors.ngram_vectors(model)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = unit @ unit[names.index("ca")]
    cosines[names.index("ca")] = -2
    nearest = names[int(cosines.argmax())].replace(" ", "_")
    table = neighbors.nearest_ngrams({"m": model}, ["ca", "zz"], k=1)
    assert table.rows == (("ca", nearest), ("zz", None))


def test_models_of_words_have_no_ngrams(averages):
    with pytest.raises(ConfigError, match="has no vectors of single n-grams"):
        neighbors.ngram_vectors(averages)


def test_word_norms_and_parts_of_speech(model):
    words = [f"{word}{i}" for word in WORDS for i in range(8)]
    counts = {word: i + 1 for i, word in enumerate(words)}
    tags = {word: "NN" for word in words[:25]} | {word: "VB" for word in words[25:30]}
    table = word_norms({"m": model}, counts, tags, k=3)
    cells = table.column("m")
    assert len(cells["longest"].split(", ")) == len(cells["shortest"].split(", ")) == 3
    lengths = np.linalg.norm(model.encode(words).astype(float), axis=1)
    assert cells["longest"].split(", ")[0] == words[int(lengths.argmax())]
    assert cells["shortest"].split(", ")[0] == words[int(lengths.argmin())]
    ranks = lambda values: np.argsort(np.argsort(values))  # noqa: E731
    if len(set(lengths)) == len(lengths):
        expected = 100 * np.corrcoef(ranks(lengths), ranks(list(counts.values())))[0, 1]
        assert cells["length and frequency, Spearman x 100"] == pytest.approx(expected)
    # 5 verbs are too few for a mean.
    noun = "NN, 25 words, % of the mean length"
    assert cells[noun] == pytest.approx(100 * lengths[:25].mean() / lengths.mean())
    assert len(table.rows) == 4


def test_most_frequent_tags():
    sentences = [[("Run", "VB"), ("dog", "NN")], [("run", "NN")], [("RUN", "NN")]]
    assert most_frequent_tags(sentences) == {"run": "NN", "dog": "NN"}


def test_ngram_norms(model):
    table = ngram_norms({"m": model}, WORDS, k=2)
    names, vectors = neighbors.ngram_vectors(model)
    lengths = np.linalg.norm(vectors.astype(float), axis=1)
    of_three = np.array([len(name) == 3 for name in names])
    cells = table.column("m")
    percent = 100 * lengths[of_three].mean() / lengths.mean()
    assert cells["3-grams, % of the mean length"] == pytest.approx(percent)
    assert len(cells["longest"].split(", ")) == 2
    assert cells["longest"].split(", ")[0] == names[int(lengths.argmax())].replace(" ", "_")


@pytest.mark.parametrize("activation", ["linear", "tanh"])
def test_shares_sum_to_all(activation):
    table = ngram_shares({"m": embedder(activation)}, ["cats", "cat dog"])
    for row in table.rows:
        cells = dict(zip(table.columns, row, strict=True))
        total = cells["2-grams, %"] + cells["3-grams, %"] + cells["bias, %"]
        assert total == pytest.approx(100)
    (cats, both) = (dict(zip(table.columns, row, strict=True)) for row in table.rows)
    assert cats["across words, %"] == 0
    assert both["text"] == "cat dog" and both["model"] == "m"


def test_shares_are_products_with_the_whole(model):
    names = [name for name, _ in model.vectorizer.ngrams("dogs")]
    rows = {name: row for row, name in enumerate(neighbors.ngram_vectors(model)[0])}
    vectors = neighbors.ngram_vectors(model)[1].astype(float)
    parts = np.array([vectors[rows[name]] for name in names])
    whole = parts.sum(axis=0)
    shares = 100 * parts @ whole / (whole @ whole)
    largest = names[int(shares.argmax())].replace(" ", "_")
    (row,) = ngram_shares({"m": model}, ["dogs"], k=1).rows
    assert row[-1] == f"{largest} {shares.max():.0f}"


def test_parameters_of_a_text(model, averages):
    table = active_parameters({"ngrams": model, "words": averages}, ["cat", "cat cat"])
    (ngrams, words) = table.rows
    # " c ca at t " and " ca cat at ": 4 bigrams, 3 trigrams; twice, and "t c" across the space.
    table_rows = model.encoder.num_rows
    assert ngrams[1] == 4 * table_rows + 4 and ngrams[2] == 4 * 7 + 4
    assert words[1] == 4 * 6 and words[2] == 4
    assert ngrams[3] is None


def test_errors(model):
    with pytest.raises(ConfigError, match="at least 1 text"):
        active_parameters({}, [])
    with pytest.raises(ConfigError, match=r"k of at least 1\. Received: 1 texts, k=0"):
        ngram_shares({"m": model}, ["not"], 0)
    with pytest.raises(ConfigError, match="`counts` must have at least 2 words"):
        word_norms({}, {"a": 1})

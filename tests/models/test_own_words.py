"""Which words of new texts become known to a model that corrects words."""

from __future__ import annotations

import pytest

from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import RunError
from tf_charagram.models._storage import own_words as module
from tf_charagram.models._storage.own_words import WordCounts
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.models.text_reader import TextReader
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text.vectorizer import NgramVectorizer

KNOWN = Dictionary({"weak": 900, "toolkit": 300, "spelling": 70, "the": 5000})


def own_words(texts):
    words = WordCounts()
    assert list(words.of(iter(texts))) == texts
    return list(words.own_words(KNOWN))


@pytest.mark.parametrize(("texts", "expected"), [
    ([], []),
    (["", " ", "1 2 3", "\x00", "\ufffd"] * 9, []),
    (["the weak toolkit"] * 9, []),
    (["weka"] * 4, []),
    (["weka"] * 5, ["weka"]),
    (["Weka, WEKA-weka!"] * 2, ["weka"]),
    (["weka"] * 5 + ["weak"] * 50, ["weka"]),
    (["weka"] * 5 + ["weak"] * 51, []),
    (["weaktoolkit"] * 5 + ["weak"] * 99 + ["toolkit"] * 50, ["weaktoolkit"]),
    (["weaktoolkit"] * 5 + ["weak"] * 99 + ["toolkit"] * 51, []),
    (["tookit"] * 9 + ["Toolkit"] * 200, []),
    (["treebank"] * 60 + ["treebnak"] * 5, ["treebank"]),
    (["treebank"] * 50 + ["treebnak"] * 5, ["treebank", "treebnak"]),
    (["kenlm"] * 5000 + ["kenml"] * 400 + ["knelm"] * 50, ["kenlm"]),
    (["ngram"] * 5 + ["treebank"] * 6, ["treebank", "ngram"]),
    (["n2gram c++ x\u0301"] * 5, ["c"]),
    (["стул 椅子 kürbis"] * 5, ["kürbis", "стул", "椅子"]),
    (["\U0001d41a\U0001d41b" * 3] * 5, ["\U0001d41a\U0001d41b" * 3]),
])  # fmt: skip
def test_own_words(texts, expected):
    assert own_words(texts) == expected


def test_counts_are_those_of_the_texts():
    words = WordCounts()
    list(words.of(["weka weka", "treebank"] * 8))
    assert words.own_words(KNOWN) == {"weka": 16, "treebank": 8}


def test_many_words_at_once():
    words = WordCounts()
    letters = "bcdfghjklm"
    texts = [
        f"{a}{b}{c}{d}oolkit" for a in letters for b in letters for c in letters for d in "aeiou"
    ]
    list(words.of(texts * 5))
    assert len(words.own_words(KNOWN)) == len(texts)


def test_rare_words_are_forgotten(monkeypatch):
    monkeypatch.setattr(module, "_MAX_WORDS", 100)
    words = WordCounts()
    texts = ["weka " + "xy"[i % 2] * (i + 3) for i in range(9000)]
    most = 0
    for index, _ in enumerate(words.of(texts)):
        most = max(most, len(words.counts))
        assert words.counts["weka"] > index
    assert words.counts["weka"] == len(texts)
    assert 50 <= most <= 100


def test_own_words_of_a_model(tmp_path):
    vectorizer = NgramVectorizer(hash_buckets=99, dictionary=KNOWN)
    model = TextEmbedder(vectorizer, Charagram(num_rows=99, dim=2))
    model.save(tmp_path / "model")
    texts = [*["weka the toolkit"] * 20, "wekaa", "tolkit"]
    own = module.own_words(tmp_path / "model", texts)
    assert own == {"weka": 20}
    words = ["weka wekaa tolkit"]
    for kept, expected in (({}, "weak wekaa toolkit"), (own, "weka weka toolkit")):
        reader = TextReader.load(tmp_path / "model", keep_words=kept)
        assert reader.read_as(words) == [expected]
    assert module.own_words(tmp_path / "model", texts[:4]) == {}
    TextEmbedder(vectorizer.with_parts(None, None), model.encoder).save(tmp_path / "plain")
    assert module.own_words(tmp_path / "plain", texts) == {}
    with pytest.raises(RunError, match="is not a model folder"):
        module.own_words(tmp_path / "nothing", texts)

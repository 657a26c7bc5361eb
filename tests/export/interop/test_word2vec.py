"""Vectors of words as word2vec text."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from tests.commands import call
from tests.search.conftest import save_model
from tf_charagram.data.readers.word_vectors import scan_word_vectors
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.export.interop.word2vec import write_word2vec
from tf_charagram.models.embedder import TextEmbedder

WORDS = ["cat", "caf\N{LATIN SMALL LETTER E WITH ACUTE}", "new york", "a\N{NO-BREAK SPACE}b", "1 2"]
NAMES = ["cat", WORDS[1], "new_york", "a_b", "1_2"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return save_model(tmp_path_factory.mktemp("word2vec") / "model", seed=1)


@pytest.fixture(scope="module")
def embedder(model):
    return TextEmbedder.load(model)


@pytest.mark.parametrize("name", ["vectors.txt", "vectors.txt.gz"])
def test_own_reader(embedder, tmp_path, name, caplog):
    path = tmp_path / name
    assert write_word2vec(embedder, WORDS, path) == len(WORDS)
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if name.endswith(".gz") else raw).decode()
    assert text.startswith(f"5 {embedder.dim}\ncat ") and text.count("\n") == 6
    names, vectors = zip(*scan_word_vectors(path), strict=True)
    assert list(names) == NAMES
    np.testing.assert_allclose(np.stack(vectors), embedder.encode(WORDS), rtol=1e-5)
    assert "the header announces" not in caplog.text


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_gensim(embedder, tmp_path):
    models = pytest.importorskip("gensim.models")
    write_word2vec(embedder, WORDS, tmp_path / "vectors.txt.gz")
    found = models.KeyedVectors.load_word2vec_format(tmp_path / "vectors.txt.gz")
    assert found.index_to_key == NAMES
    np.testing.assert_allclose(found.vectors, embedder.encode(WORDS), rtol=1e-5)


def test_words_that_become_equal(embedder, tmp_path):
    path = tmp_path / "vectors.txt"
    assert write_word2vec(embedder, ["new york", " ", "new_york", "", "new  york", "a"], path) == 2
    vectors = dict(scan_word_vectors(path))
    assert list(vectors) == ["new_york", "a"]
    np.testing.assert_allclose(vectors["new_york"], embedder.encode(["new york"])[0], rtol=1e-5)


def test_a_lone_surrogate(embedder, tmp_path):
    path = tmp_path / "vectors.txt"
    write_word2vec(embedder, ["a\udc80"], path)
    assert [word for word, _ in scan_word_vectors(path)] == ["a?"]


def test_errors(embedder, tmp_path):
    (tmp_path / "vectors.txt").write_text("old")
    with pytest.raises(ConfigError, match="There are no words to write"):
        write_word2vec(embedder, [" "], tmp_path / "vectors.txt")
    assert (tmp_path / "vectors.txt").read_text() == "old"
    with pytest.raises(RunError, match=r"Cannot write .*v\.txt: "):
        write_word2vec(embedder, ["cat"], tmp_path / "vectors.txt" / "v.txt")


def test_command(model, embedder, tmp_path, capsys):
    (tmp_path / "words").write_text("cat\nnew york\n\ncat\n")
    out = tmp_path / "vectors.txt"
    command = "export.interop.word2vec"
    assert call(command, model, "--texts", tmp_path / "words", "--out", out) == 0
    assert capsys.readouterr().err == f"2 words -> {out}\n"
    vectors = dict(scan_word_vectors(out))
    assert list(vectors) == ["cat", "new_york"]
    np.testing.assert_allclose(vectors["cat"], embedder.encode(["cat"])[0], atol=1e-5)
    assert call(command, model, "--out", out) == 1
    assert "has no texts.txt: name a file with --texts." in capsys.readouterr().err


def test_the_words_are_not_overwritten(model, tmp_path, capsys):
    (tmp_path / "words.txt").write_text("cat\n")
    (tmp_path / "link").symlink_to("words.txt")
    arguments = ["--texts", tmp_path / "words.txt", "--out", tmp_path / "link"]
    assert call("export.interop.word2vec", model, *arguments) == 1
    assert "link is read as well, and would be overwritten" in capsys.readouterr().err
    assert (tmp_path / "words.txt").read_text() == "cat\n"

"""Models made of a table of n-grams, and vectors written as word2vec text."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from tests.commands import call
from tests.search.conftest import save_model
from tf_charagram.data.readers.words import scan_word_vectors
from tf_charagram.errors import ConfigError, DataError, RunError
from tf_charagram.export.convert import (
    model_from_table,
    read_ngrams,
    read_table,
    write_word2vec,
)
from tf_charagram.models.embedder import TextEmbedder

# In no order; as in the authors' lists, with spaces at both ends of words.
NGRAMS = ["at", " c", "cat ", "t d", "ca", "og", "\N{LATIN SMALL LETTER E WITH ACUTE} "]
TEXTS = ["cat", "Cat  dog", "caf\N{LATIN SMALL LETTER E WITH ACUTE}", "catcat", "", "xyz"]


def expected(texts, vectors, bias):
    """Sums the vectors of all n-grams of each text, as often as they come."""
    rows = []
    for text in texts:
        padded = f" {' '.join(text.lower().split())} "
        spans = [padded[i : i + n] for n in (2, 3, 4) for i in range(len(padded) - n + 1)]
        rows.append(bias + sum(vectors[NGRAMS.index(span)] for span in spans if span in NGRAMS))
    return np.stack(rows)


@pytest.fixture
def table():
    random = np.random.default_rng(0)
    vectors = random.normal(size=(len(NGRAMS), 5)).astype(np.float32)
    return vectors, random.normal(size=5).astype(np.float32)


@pytest.mark.parametrize(
    ("activation", "function"), [("linear", np.array), ("tanh", np.tanh)], ids=["linear", "tanh"]
)
def test_against_numpy(table, activation, function):
    model = model_from_table(NGRAMS, *table, activation=activation)
    np.testing.assert_allclose(model.encode(TEXTS), function(expected(TEXTS, *table)), atol=1e-6)


def test_a_row_for_all_texts(table):
    last = np.full((1, 5), 0.5, np.float32)
    vectors, bias = table
    model = model_from_table(NGRAMS, np.vstack([vectors, last]), bias)
    found = model.encode(TEXTS)
    np.testing.assert_allclose(found, expected(TEXTS, vectors, bias + 0.5), atol=1e-6)


def test_capitals():
    """A list with capitals is of a model that tells them apart."""
    model = model_from_table(["Ca", "ca"], np.eye(2), np.zeros(2))
    np.testing.assert_allclose(model.encode(["Ca", "ca"]), np.eye(2))


@pytest.mark.parametrize("suffix", ["npz", "npy"])
def test_command(table, tmp_path, capsys, suffix):
    (tmp_path / "ngrams").write_text("".join(f"{ngram}\n" for ngram in NGRAMS), encoding="utf-8")
    out, path, (vectors, bias) = tmp_path / "model", tmp_path / f"table.{suffix}", table
    if suffix == "npz":
        np.savez(path, W=vectors, b=bias)
    else:
        np.save(path, vectors)
    arguments = ["--ngrams", tmp_path / "ngrams", "--table", path]
    assert call("convert", *arguments, "--output", out) == 0
    assert capsys.readouterr().err == f"7 n-grams, 5 dimensions -> {out}\n"
    bias = bias if suffix == "npz" else np.zeros(5)
    model = TextEmbedder.load(out)
    np.testing.assert_allclose(model.encode(TEXTS), expected(TEXTS, vectors, bias), atol=1e-6)
    assert call("convert", *arguments, "--output", out) == 1
    assert f"{out} exists. Add --overwrite to replace it" in capsys.readouterr().err
    assert call("convert", *arguments, "--output", out, "--overwrite") == 0


class TestLists:
    def test_of_the_authors(self, tmp_path):
        """The character before the tab is not part of the n-gram; duplicates have no row."""
        (tmp_path / "n").write_text("at_\t9\n c_\t2.0\nat_\t5\nca_\t1\n")
        assert read_ngrams(tmp_path / "n") == ["at", " c", "ca"]
        assert read_ngrams(tmp_path / "n", min_count=2) == ["at", " c"]

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("", "expected n-grams, one per line, found none"),
            ("at\nca_\t1\n", "a count on each line or on none"),
            ("at_\tx\n", r"n:1: expected an n-gram, a tab and a count, found the count 'x'"),
        ],
    )
    def test_errors(self, tmp_path, content, message):
        (tmp_path / "n").write_text(content)
        with pytest.raises(DataError, match=message):
            read_ngrams(tmp_path / "n")

    def test_repeated_and_too_long(self, table):
        with pytest.raises(ConfigError, match=r"`ngrams` must be distinct"):
            model_from_table([*NGRAMS[:-1], "at"], *table)
        with pytest.raises(ConfigError, match="must be integers from 1 to 8"):
            model_from_table([*NGRAMS[:-1], "ngrams ngrams"], *table)


class TestTables:
    def test_number_of_rows(self, table):
        message = r"Number of n-grams \(4\) does not match number of rows \(7\)\. Give the list"
        with pytest.raises(ConfigError, match=message):
            model_from_table(NGRAMS[:4], *table)

    @pytest.mark.parametrize(
        ("arrays", "message"),
        [
            ({"a": np.eye(2), "b": np.eye(2)}, r"at most one \(dim,\), found \(2, 2\), \(2, 2\)"),
            ({"a": np.eye(2), "b": np.ones(3)}, r"at most one \(dim,\), found \(2, 2\), \(3,\)"),
            ({"a": np.ones(3)}, r"expected arrays \(num_rows, dim\) .* found \(3,\)"),
            ({"a": np.full((2, 2), np.inf)}, "holds NaN or infinity"),
            ({"a": np.array([["x"]])}, "cannot be read as NumPy arrays of numbers: could not"),
            (
                {"a": np.array([[None]])},
                "arrays of numbers: Object arrays cannot be loaded",
            ),
        ],
    )
    def test_errors(self, tmp_path, arrays, message):
        np.savez(tmp_path / "t.npz", **arrays)
        with pytest.raises(DataError, match=message):
            read_table(tmp_path / "t.npz")

    def test_pickles(self, tmp_path):
        (tmp_path / "charagram.pickle").write_bytes(b"\x80\x02.")
        with pytest.raises(DataError, match="cannot be read as NumPy arrays"):
            read_table(tmp_path / "charagram.pickle")

    def test_activation(self, table):
        with pytest.raises(ConfigError, match=r"Unknown activation 'tan'. Did you mean 'tanh'\?"):
            model_from_table(NGRAMS, *table, activation="tan")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return save_model(tmp_path_factory.mktemp("word2vec") / "model", seed=1)


@pytest.fixture(scope="module")
def embedder(model):
    return TextEmbedder.load(model)


class TestWord2vec:
    WORDS = ("cat", "caf\xe9", "new york", "a\xa0b", "1 2", " ", "new_york", "")
    NAMES = ("cat", "caf\xe9", "new_york", "a_b", "1_2")

    @pytest.mark.parametrize("name", ["vectors.txt", "vectors.txt.gz"])
    def test_own_reader(self, embedder, tmp_path, name):
        path = tmp_path / name
        assert write_word2vec(embedder, self.WORDS, path) == len(self.NAMES)
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if name.endswith(".gz") else raw).decode()
        assert text.startswith(f"5 {embedder.dim}\ncat ") and text.count("\n") == 6
        names, _, vectors = zip(*scan_word_vectors(path), strict=True)
        assert names == self.NAMES
        np.testing.assert_allclose(np.stack(vectors), embedder.encode(self.WORDS[:5]), rtol=1e-5)

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    def test_gensim(self, embedder, tmp_path):
        models = pytest.importorskip("gensim.models")
        write_word2vec(embedder, self.WORDS, tmp_path / "vectors.txt.gz")
        found = models.KeyedVectors.load_word2vec_format(tmp_path / "vectors.txt.gz")
        assert tuple(found.index_to_key) == self.NAMES
        np.testing.assert_allclose(found.vectors, embedder.encode(self.WORDS[:5]), rtol=1e-5)

    def test_errors(self, embedder, tmp_path):
        (tmp_path / "vectors.txt").write_text("old")
        with pytest.raises(ConfigError, match="There are no words to write"):
            write_word2vec(embedder, [" "], tmp_path / "vectors.txt")
        assert (tmp_path / "vectors.txt").read_text() == "old"
        with pytest.raises(RunError, match=r"Cannot write .*v\.txt: "):
            write_word2vec(embedder, ["cat"], tmp_path / "vectors.txt" / "v.txt")

    def test_command(self, model, embedder, tmp_path, capsys):
        (tmp_path / "words").write_bytes(b"cat\nnew york\n\ncat\nlone ?")
        out = tmp_path / "vectors.txt"
        assert call("convert", model, "--texts", tmp_path / "words", "--output", out) == 0
        assert capsys.readouterr().err == f"3 words -> {out}\n"
        vectors = {word: vector for word, _, vector in scan_word_vectors(out)}
        assert list(vectors) == ["cat", "new_york", "lone_?"]
        np.testing.assert_allclose(vectors["cat"], embedder.encode(["cat"])[0], atol=1e-5)
        assert call("convert", model, "--texts", tmp_path / "words", "--output", out) == 1
        assert f"{out} exists. Add --overwrite to replace it" in capsys.readouterr().err
        assert call("convert", model, "--output", out, "--overwrite") == 1
        assert "has no texts.txt: name a file with --texts." in capsys.readouterr().err

    def test_the_words_are_not_overwritten(self, model, tmp_path, capsys):
        (tmp_path / "words.txt").write_text("cat\n")
        (tmp_path / "link").symlink_to("words.txt")
        arguments = ["--texts", tmp_path / "words.txt", "--output", tmp_path / "link"]
        assert call("convert", model, *arguments) == 1
        assert "link is read as well, and would be overwritten" in capsys.readouterr().err
        assert (tmp_path / "words.txt").read_text() == "cat\n"


@pytest.mark.parametrize(
    "flags", [[], ["--ngrams", "a"], ["run", "--ngrams", "a", "--table", "b"]], ids=len
)
def test_one_direction(tmp_path, capsys, flags):
    assert call("convert", *flags, "--output", tmp_path / "out") == 1
    assert "Give a model, or both --ngrams and --table." in capsys.readouterr().err

"""Models of a list of n-grams and a table: what they answer, and what is wrong with the files."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.commands import call
from tf_charagram.errors import ConfigError, DataError
from tf_charagram.export.interop.charagram_table import (
    NgramTable,
    import_charagram,
    read_ngrams,
    read_table,
)
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.vocabulary import NgramVocabulary

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
    return NgramTable(
        random.normal(size=(len(NGRAMS), 5)).astype(np.float32),
        random.normal(size=5).astype(np.float32),
    )


@pytest.mark.parametrize(
    ("activation", "function"), [("linear", np.array), ("tanh", np.tanh)], ids=["linear", "tanh"]
)
def test_against_numpy(table, activation, function):
    model = import_charagram(NGRAMS, table, activation=activation)
    np.testing.assert_allclose(model.encode(TEXTS), function(expected(TEXTS, *table)), atol=1e-6)


def test_a_row_for_all_texts(table):
    last = np.full((1, 5), 0.5, np.float32)
    model = import_charagram(NGRAMS, NgramTable(np.vstack([table.vectors, last]), table.bias))
    found = model.encode(TEXTS)
    np.testing.assert_allclose(found, expected(TEXTS, table.vectors, table.bias + 0.5), atol=1e-6)


def test_capitals():
    """A list with capitals is of a model that tells them apart."""
    model = import_charagram(["Ca", "ca"], NgramTable(np.eye(2), np.zeros(2)))
    np.testing.assert_allclose(model.encode(["Ca", "ca"]), np.eye(2))


def write(folder, suffix, table):
    path = folder / f"table.{suffix}"
    if suffix == "npz":
        np.savez(path, W=table.vectors, b=table.bias)
    elif suffix == "npy":
        np.save(path, table.vectors)
    else:
        np.savetxt(path, table.vectors)
    return path


@pytest.mark.parametrize("suffix", ["npz", "npy", "txt", "txt.gz"])
def test_command(table, tmp_path, capsys, suffix):
    (tmp_path / "ngrams").write_text("".join(f"{ngram}\n" for ngram in NGRAMS), encoding="utf-8")
    out = tmp_path / "model"
    arguments = ["--ngrams", tmp_path / "ngrams", "--table", write(tmp_path, suffix, table)]
    assert call("export.interop.charagram_table", *arguments, "--out", out) == 0
    assert capsys.readouterr().err == f"7 n-grams, 5 dimensions -> {out}\n"
    bias = table.bias if suffix == "npz" else np.zeros(5)
    model = TextEmbedder.load(out)
    np.testing.assert_allclose(model.encode(TEXTS), expected(TEXTS, table.vectors, bias), atol=1e-6)
    assert call("export.interop.charagram_table", *arguments, "--out", out) == 1
    assert "exists already" in capsys.readouterr().err


@pytest.mark.slow
def test_scores_and_exports(table, tmp_path, capsys):
    import_charagram(NGRAMS, table).save(tmp_path / "model")
    (tmp_path / "2012.OnWN.tsv").write_text("1\tcat\tdog\n2\tcat\tcats\n5\tcat\tcat\n")
    place = ["--eval-data", tmp_path / "2012.OnWN.tsv", "--json"]
    assert call("evaluate", tmp_path / "model", *place) == 0
    assert json.loads(capsys.readouterr().out)["scores"]["STS2012.OnWN"] > 0
    assert call("export.command", tmp_path / "model", "--to", tmp_path / "served") == 0
    assert (tmp_path / "served" / "1" / "saved_model.pb").is_file()


class TestLists:
    def test_of_the_authors(self, tmp_path):
        """The character before the tab is no part of the n-gram; repeated ones have no row."""
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
        with pytest.raises(ConfigError, match=r"must be distinct. Received: 1 .* such as 'at'"):
            import_charagram([*NGRAMS[:-1], "at"], table)
        with pytest.raises(ConfigError, match="must be integers from 1 to 8"):
            import_charagram([*NGRAMS[:-1], "ngrams ngrams"], table)

    def test_same_rows_as_counted(self):
        """The keys of given n-grams are those that texts give."""
        counted = NgramVocabulary.from_texts(["cat \N{CJK UNIFIED IDEOGRAPH-732B}"], orders=(1, 3))
        given = NgramVocabulary.from_ngrams(counted.ngrams()[::-1], counted.counts[::-1])
        assert given.ngrams() == counted.ngrams()[::-1]
        np.testing.assert_array_equal(given.counts, counted.counts[::-1])


class TestTables:
    def test_number_of_rows(self, table):
        message = r"Number of n-grams \(4\) does not match number of rows \(7\)\. Give the list"
        with pytest.raises(ConfigError, match=message):
            import_charagram(NGRAMS[:4], table)

    @pytest.mark.parametrize(
        ("arrays", "message"),
        [
            (
                {"a": np.eye(2), "b": np.eye(2)},
                r"a table and at most one bias, found arrays \(2, 2\)",
            ),
            ({"a": np.eye(2), "b": np.ones(3)}, r"\(2, 2\) needs a bias \(2,\), found \(3,\)"),
            ({"a": np.full((2, 2), np.inf)}, "holds NaN or infinity"),
            ({"a": np.array([["x"]])}, "expected arrays of numbers"),
            (
                {"a": np.array([[None]])},
                "cannot be read as numbers: Object arrays cannot be loaded",
            ),
        ],
    )
    def test_errors(self, tmp_path, arrays, message):
        np.savez(tmp_path / "t.npz", **arrays)
        with pytest.raises(DataError, match=message):
            read_table(tmp_path / "t.npz")

    def test_pickles(self, tmp_path):
        (tmp_path / "charagram.pickle").write_bytes(b"\x80\x02.")
        with pytest.raises(DataError, match=r"expected a table in a file \.npy, \.npz, \.txt"):
            read_table(tmp_path / "charagram.pickle")

    def test_activation(self, table):
        with pytest.raises(ConfigError, match=r"Unknown activation 'tan'. Did you mean 'tanh'\?"):
            import_charagram(NGRAMS, table, activation="tan")

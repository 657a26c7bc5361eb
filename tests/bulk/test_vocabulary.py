"""`charagram vocabulary`, and training with what it wrote."""

from __future__ import annotations

import gzip
import io
import shutil
import sys

import pytest

from tests.commands import QUICK, call
from tests.text.test_vocabulary import assert_same
from tf_charagram.data.starter import train_pairs
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary
from tf_charagram.text.vocabulary_file import load_vocabulary, save_vocabulary

PAIRS = ["a cat\tthe hat", "a dog\ta frog", "\tno left side", "one\ttwo"]
LINES = ["a line\twith a tab", "", "caf\u00e9 \u4e2d\u6587", "the last one"]


@pytest.fixture
def files(tmp_path):
    """Returns the paths of a file of pairs and of one of lines."""
    pairs, lines = tmp_path / "pairs.tsv", tmp_path / "lines.gz"
    pairs.write_text("".join(f"{pair}\n" for pair in PAIRS), encoding="utf-8")
    lines.write_bytes(gzip.compress("".join(f"{line}\n" for line in LINES).encode()))
    return pairs, lines


def expected(**settings):
    texts = [text for pair in (PAIRS[0], PAIRS[1], PAIRS[3]) for text in pair.split("\t")]
    return NgramVocabulary.from_texts([*texts, *LINES], **settings)


@pytest.mark.parametrize(
    ("flags", "settings"),
    [
        ((), {}),
        (("--workers", 3, "--min-count", 2), {"min_count": 2}),
        (("--ngrams", "1,3", "--max-per-order", 4), {"orders": [1, 3], "max_per_order": 4}),
        (("--unicode-form", "NFKD", "--max-chars", 3), {"unicode_form": "NFKD", "max_chars": 3}),
    ],
)
def test_pairs_and_lines(files, tmp_path, capsys, flags, settings):
    """The sides of a pair are two texts; a line is one, with whatever is in it."""
    pairs, _ = files
    arguments = ["--data", pairs, "--input", tmp_path / "l*.gz", "--out", tmp_path / "v.npz"]
    assert call("vocabulary", *arguments, *flags) == 0
    vectorizer = load_vocabulary(tmp_path / "v.npz")
    assert_same(vectorizer.vocabulary, expected(**settings))
    assert vectorizer.unicode_form == settings.get("unicode_form")
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("10 texts in ")
    assert said.endswith(f": {len(vectorizer.vocabulary):,} n-grams")


@pytest.mark.parametrize(("flag", "index"), [("--data", 0), ("--input", 1)])
def test_a_file_that_is_read_is_not_written(files, capsys, flag, index):
    path = files[index]
    content = path.read_bytes()
    assert call("vocabulary", flag, path, "--out", path) == 1
    assert f"{path} is read as well, and would be overwritten" in capsys.readouterr().err
    assert path.read_bytes() == content


def test_standard_input_quietly(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"cat\nhat\n")))
    )
    out = tmp_path / "v.npz"
    assert call("vocabulary", "--input", "-", "--out", out, "--quiet") == 0
    assert_same(load_vocabulary(out).vocabulary, NgramVocabulary.from_texts(["cat", "hat"]))
    assert capsys.readouterr().err == ""


def test_bad_lines(tmp_path, capsys):
    (tmp_path / "pairs.tsv").write_text("a\tb\nc\nd\te\n")
    arguments = ["--data", tmp_path / "pairs.tsv", "--out", tmp_path / "v.npz"]
    assert call("vocabulary", *arguments) == 1
    assert "pairs.tsv:2: " in capsys.readouterr().err
    assert not (tmp_path / "v.npz").exists()
    assert call("vocabulary", *arguments, "--on-bad-line", "skip") == 0
    assert " n " not in load_vocabulary(tmp_path / "v.npz").vocabulary.ngrams()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--out", "v.npz"], "Give pairs with --data or texts with --input"),
        (["--data", "starter"], "`out` must be the file to write. Give it with --out."),
        (["--data=starter", "--out=v", "--engine=rya"], "Unknown engine 'rya'. Did you mean 'ray'"),
        (
            ["--data=starter", "--out=v", "--workers=0"],
            "`workers` must be at least 1. Received: workers=0",
        ),
        (["--input=-", "--out=v", "--engine=ray"], "The engine ray reads files on its nodes"),
        (["--input=none.txt", "--out=v"], "none.txt: cannot be read: No such file"),
        (["--data=startr", "--out=v"], "Unknown file or data set 'startr'. Did you mean"),
        (["--data=starter", "--out=v", "--min-count=0"], "`min_count` must be at least 1"),
        (["--data=starter", "--out=v", "--min-count=9999999"], "occurs 9999999 times or more"),
        (["--data=starter", "--out=v", "--ngrams=9"], "n-gram orders must be integers from 1 to"),
    ],
)
def test_errors(flags, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert call("vocabulary", *flags) == 1
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """Returns a vocabulary of the starter set."""
    path = tmp_path_factory.mktemp("counted") / "v.npz"
    assert call("vocabulary", "--data", "starter", "--out", path, "--ngrams", "2,3") == 0
    return path


@pytest.mark.usefixtures("unexported")
def test_training_with_it(counted, tmp_path, capsys):
    """The vocabulary that training would count of the same pairs."""
    texts = (text for pair in train_pairs() for text in pair)
    expected = NgramVocabulary.from_texts(texts, orders=[2, 3])
    assert_same(load_vocabulary(counted).vocabulary, expected)
    # Other texts, so that what training could count itself is something else.
    (tmp_path / "pairs.tsv").write_text("".join(f"cat {n}\that {n}\n" for n in range(60)))
    path = shutil.copy(counted, tmp_path / "v.npz")
    arguments = ["--data", tmp_path / "pairs.tsv", *QUICK, "--out", tmp_path / "run"]
    arguments += ["--vocabulary", path, "--ngrams", "2,3"]
    assert call("train", *arguments) == 0
    assert_same(TextEmbedder.load(tmp_path / "run").vectorizer.vocabulary, expected)
    # A resumed run must have the same.
    save_vocabulary(path, NgramVectorizer.from_texts(["cat"], orders=[2, 3]))
    capsys.readouterr()
    assert call("train", *arguments, "--resume") == 1
    assert "v.npz was " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--ngrams", "2,3,4"], "v.npz with ngrams (2, 3) there, (2, 3, 4) here"),
        (["--ngrams", "2,3", "--unicode-form", "NFC"], "unicode_form None there, NFC here"),
        (["--min-count", 2], "The n-grams of `vocabulary` are chosen already. Leave out `min_c"),
        (["--max-per-order", 2], "The n-grams of `vocabulary` are chosen already."),
        (["--hash-buckets", 2], "The n-grams of `vocabulary` are chosen already."),
        (["--encoder", "word_average"], "`vocabulary` is not an option of the encoder 'word_av"),
    ],
)
def test_settings_that_do_not_go_with_it(counted, flags, message, capsys, tmp_path):
    out = tmp_path / "run"
    arguments = ["--data", "starter", "--vocabulary", counted, "--out", out]
    assert call("train", *arguments, *flags) == 1
    assert message in capsys.readouterr().err
    assert not out.exists()

"""What commands say about words that were read as others, and about unreadable texts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.commands import call
from tf_charagram.cli._flags.corrections import Corrections
from tf_charagram.encoders.averaging import WordAverage
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.models.text_reader import TextReader
from tf_charagram.text._algorithm.word_boundaries import words_of
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary
from tf_charagram.text.words import WordVectorizer

TEXTS = ["Vehicls on the raod", "vehicls,  vehicls!", "", "thsi wrods"]


@pytest.mark.parametrize(("shows_all", "end"), [
    (False, ", ... (--show-corrections lists all)"), (True, ", wrods as words"),
])  # fmt: skip
def test_counts(shows_all, end, capsys):
    corrections = Corrections(TextEmbedder.load("english"))
    corrections.add(TEXTS[:2])
    corrections.add(TEXTS[2:])
    corrections.say(shows_all, "some texts")
    assert capsys.readouterr().err == (
        "some texts: 6 of 8 words read as others: vehicls as vehicles (3 times), raod as "
        f"road, thsi as this{end}\nsome texts: 1 of 4 texts empty\n"
    )


def test_nothing_to_say(capsys):
    corrections = Corrections(TextEmbedder.load("english"))
    corrections.add(["vehicles on the road"])
    corrections.say(shows_all=True)
    assert capsys.readouterr().err == ""


def embedder_of(vectorizer):
    return TextEmbedder(vectorizer, Charagram(num_rows=vectorizer.num_rows, dim=2))


def test_other_forms_are_no_corrections(capsys):
    vectorizer = NgramVectorizer(
        vocabulary=NgramVocabulary.from_texts(["the fire"]),
        dictionary=Dictionary({"fire": 2}),
        fold_characters=True,
    )
    corrections = Corrections(embedder_of(vectorizer))
    corrections.add(["\ufb01re fi\u00adre fir\u00e9e"])
    corrections.say(shows_all=True)
    assert capsys.readouterr().err == "1 of 3 words read as others: firee as fire\n"


def test_unknown_and_empty_texts(capsys):
    vectorizer = NgramVectorizer.from_texts(["the fire"])
    words = WordVectorizer.from_texts(["the fire"])
    for embedder, unknown in (
        (
            embedder_of(vectorizer),
            "2 of 6 texts mostly characters that the model does not know\n",
        ),
        (TextEmbedder(words, WordAverage(num_rows=words.num_rows, dim=2)), ""),
    ):
        corrections = Corrections(embedder)
        corrections.add(["fire \u65e5", "\u65e5\u672c", "\u0436 \u0436 f", "", " \t", "fi\u0436"])
        corrections.say(shows_all=False)
        assert capsys.readouterr().err == f"{unknown}2 of 6 texts empty\n"


def test_commands(tmp_path, capsys):
    lines = tmp_path / "lines.txt"
    lines.write_text("\n".join([*TEXTS, "\u65e5\u672c"]))
    (tmp_path / "pairs.tsv").write_text("vehicls\tcars\t1\nroad\tstreet\t3\nroad\tcars\t2\n")
    embed = ["embed", "english", "--input", lines]
    evaluate = ["evaluate", "english", "--eval-data", tmp_path / "pairs.tsv", "--json"]

    def said(*command):
        assert call(*command, "--show-corrections") == 0
        return [line for line in capsys.readouterr().err.splitlines() if " of " in line]

    assert said("search", lines, "raod", "cars") == [
        "1 of 2 words read as others: raod as road",
    ]
    texts = [
        "1 of 5 texts mostly characters that the model does not know",
        "1 of 5 texts empty",
    ]
    for output in (tmp_path / "v.npy", f"{tmp_path}/shards/"):
        assert said(*embed, "--output", output) == [
            "6 of 9 words read as others: vehicls as vehicles (3 times), raod as road, thsi as "
            "this, wrods as words",
            *texts,
        ]
    assert said(*evaluate) == ["english: 1 of 6 words read as others: vehicls as vehicles"]
    frequent = tmp_path / "frequent.txt"
    frequent.write_text("\n".join([*TEXTS, *["vehicls"] * 9]))
    of_frequent = ["embed", "english", "--input", frequent]
    for output in (tmp_path / "f.npy", f"{tmp_path}/frequent/"):
        assert said(*of_frequent, "--output", output)[0].startswith("3 of 17 words read as others")
    shard = np.load(tmp_path / "frequent" / "part-00000-00000.npy")
    np.testing.assert_allclose(shard, np.load(tmp_path / "f.npy"), atol=1e-5)
    keep = ["--keep-words", lines]
    for output in (tmp_path / "kept.npy", f"{tmp_path}/kept/"):
        assert said(*embed, *keep, "--output", output) == texts
    shard = np.load(tmp_path / "kept" / "part-00000-00000.npy")
    np.testing.assert_allclose(shard, np.load(tmp_path / "kept.npy"), atol=1e-5)
    assert np.abs(shard - np.load(tmp_path / "v.npy")).max() > 0.01
    assert said(*evaluate, *keep) == []
    own = ["--own-weights", "--output"]
    for output in (tmp_path / "own.npy", f"{tmp_path}/own/"):
        said(*embed, *own, output)
    texts = lines.read_text(encoding="utf-8").split("\n")
    counts = Counter(words_of(texts))
    expected = TextReader.load("english", word_counts=counts).encode(texts)
    for output in ("own.npy", "own/part-00000-00000.npy"):
        np.testing.assert_allclose(np.load(tmp_path / output), expected, atol=1e-5)
    assert call(*embed, "--output", f"{tmp_path}/kept/", "--resume") == 1
    assert "other settings: keep_words_sha256 was " in capsys.readouterr().err


def test_tables_that_are_read_as_lines(tmp_path, capsys):
    table = tmp_path / "rows.csv"
    table.write_text("name,city\nAnna,Rome\n")
    output = tmp_path / "out.npy"
    arguments = ["embed", "english", "--input", table, "--output", output]
    note = f"{table}: each line is a text; for columns, name them with --on\n"
    for flags, num_rows in (([], 2), (["--on", "name", "--overwrite"], 1)):
        assert call(*arguments, *flags) == 0
        assert (note in capsys.readouterr().err) == (not flags)
        assert len(np.load(output)) == num_rows

"""What commands say about words that were read as others."""

from __future__ import annotations

import pytest

from tests.commands import call
from tf_charagram.cli.corrections import Corrections
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.dictionary import Dictionary
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary

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
        "some texts: 6 of 8 words are read as others: vehicls as vehicles (3 times), raod as "
        f"road, thsi as this{end}\n"
    )


def test_nothing_to_say(capsys):
    corrections = Corrections(TextEmbedder.load("english"))
    corrections.add(["vehicles on the road"])
    corrections.say(shows_all=True)
    assert capsys.readouterr().err == ""


def test_other_forms_are_no_corrections(capsys):
    vectorizer = NgramVectorizer(
        vocabulary=NgramVocabulary.from_texts(["the fire"]),
        dictionary=Dictionary({"fire": 2}),
        fold_characters=True,
    )
    encoder = Charagram(num_rows=vectorizer.num_rows, dim=2)
    corrections = Corrections(TextEmbedder(vectorizer, encoder))
    corrections.add(["\ufb01re fi\u00adre fir\u00e9e"])
    corrections.say(shows_all=True)
    assert capsys.readouterr().err == "1 of 3 words are read as others: firee as fire\n"


def test_commands(tmp_path, capsys):
    (tmp_path / "lines.txt").write_text("\n".join(TEXTS))
    (tmp_path / "pairs.tsv").write_text("vehicls\tcars\t1\nroad\tstreet\t3\nroad\tcars\t2\n")
    texts = ["--texts", tmp_path / "lines.txt"]
    found = []
    for command in (
        ["neighbors", "english", "raod", "cars", *texts],
        ["embed", "english", "--input", tmp_path / "lines.txt", "--output", tmp_path / "v.npy"],
        ["evaluate", "english", "--eval-data", tmp_path / "pairs.tsv", "--json"],
    ):
        assert call(*command, "--show-corrections") == 0
        said = capsys.readouterr().err.splitlines()
        found += [line for line in said if "read as" in line]
    assert found == [
        "raod: 1 of 1 words are read as others: raod as road",
        "6 of 8 words are read as others: vehicls as vehicles (3 times), raod as road, thsi as "
        "this, wrods as words",
        "english: 1 of 6 words are read as others: vehicls as vehicles",
    ]

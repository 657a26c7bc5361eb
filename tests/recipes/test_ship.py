"""The script that makes a model one that ships."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from recipes import ship
from recipes.ship import main, read_facts
from tests.models.answers import parts, randomized
from tests.shipped import FACTS, NAME, ship_tiny
from tf_charagram._files.writing import sha256_of
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.search.texts import read_vocabulary
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary


@pytest.fixture
def arguments(tmp_path):
    """Returns the command line for a small model in a finished run."""
    run = tmp_path / "run"
    TextEmbedder(*parts()).save(run / "model")
    digests = {"/home/me/cats.tsv": "abc"}
    (run / "config.json").write_text(json.dumps({"settings": {}, "data_files": digests}))
    (run / "metrics.json").write_text(json.dumps({"steps": 7, "scores": {}}))
    (tmp_path / "words.txt").write_text("the\ncat\n\nthe\n")
    (tmp_path / "facts.json").write_text(json.dumps(FACTS))
    files = ["--words", tmp_path / "words.txt", "--facts", tmp_path / "facts.json"]
    return [str(value) for value in (run, "tiny", *files, "--to", tmp_path / "pretrained")]


def test_written_files(arguments, tmp_path, capsys):
    assert main(arguments) == 0
    folder = tmp_path / "pretrained" / "tiny"
    names = {"config.json", "vocabulary.npz", "weights.npz", "words.txt.gz", "card.json"}
    assert {file.name for file in folder.iterdir()} == names
    assert gzip.decompress((folder / "words.txt.gz").read_bytes()) == b"the\ncat\n"
    card = json.loads((folder / "card.json").read_text())
    assert card.items() >= FACTS.items()
    assert card["training"] == {"steps": 7, "data_files": {"cats.tsv": "abc"}}
    assert {name: facts["sha256"] for name, facts in card["files"].items()} == {
        name: sha256_of(folder / name) for name in names - {"card.json"}
    }
    assert "bytes of at most 10,500,000; 2 words" in capsys.readouterr().out


def test_dictionary(arguments, tmp_path, capsys):
    """They replace the list of words, and `charagram search` searches them."""
    (tmp_path / "words.tsv").write_text("machines\t30\ngate\t90\nadage\t1\n")
    index = arguments.index("--words")
    arguments[index : index + 2] = ["--dictionary", str(tmp_path / "words.tsv")]
    (tmp_path / "right.txt").write_text("machine\n")
    accepted_words = ["--accepted-words", str(tmp_path / "right.txt")]
    assert main([*arguments, "--max-words", "2", *accepted_words]) == 0
    assert "; 2 words" in capsys.readouterr().out
    (tmp_path / "sureness.txt").write_text("-9000\n" * 19 + "0\n" * 3)
    never = ["--sureness", str(tmp_path / "sureness.txt")]
    assert main([*arguments[:1], "unsure", *arguments[2:], *never]) == 0
    unsure = TextEmbedder.load(tmp_path / "pretrained" / "unsure")
    assert unsure.read_as(["machins"]) == ["machins"]
    assert unsure.vectorizer.dictionary.sureness.tolist() == [-9000] * 19 + [0] * 3
    capsys.readouterr()
    folder = tmp_path / "pretrained" / "tiny"
    assert not (folder / "words.txt.gz").exists()
    assert TextEmbedder.load(folder).read_as(["machins machine"]) == ["machines machine"]
    assert read_vocabulary(None, str(folder)) == ["gate", "machines"]
    assert main([*arguments, "--words", str(tmp_path / "words.txt")]) == 1
    assert "Give only one of --words and --dictionary." in capsys.readouterr().err


def test_made_smaller(arguments, tmp_path):
    assert main([*arguments, "--max-ngrams", "20", "--dim", "4", "--max-words", "1"]) == 1
    # `tanh` allows fewer n-grams only.
    assert main([*arguments, "--max-ngrams", "20", "--table-dtype", "int4"]) == 0
    folder = tmp_path / "pretrained" / "tiny"
    assert TextEmbedder.load(folder).vectorizer.num_rows == 20
    assert json.loads((folder / "config.json").read_text())["table_dtype"] == "int4"


def test_one_form(arguments, tmp_path):
    vectorizer = NgramVectorizer(
        vocabulary=NgramVocabulary.from_texts(["caf\u00e9 gate", "cafes \u65e5"]),
        dictionary=Dictionary({"caf\u00e9": 7, "cafe": 1}),
    )
    encoder = randomized(Charagram(num_rows=vectorizer.num_rows, dim=6))
    whole = TextEmbedder(vectorizer, encoder)
    whole.save(tmp_path / "run" / "model")
    index = arguments.index("--words")
    (tmp_path / "words.tsv").write_text("caf\u00e9\t7\ncafe\t1\ngate\t6\n")
    arguments[index : index + 2] = ["--dictionary", str(tmp_path / "words.tsv")]
    (tmp_path / "right.txt").write_text("caf\u00e9s\n")
    flags = ["--fold", "--unknown-rows", "20", "--no-bias", "--table-dtype", "float16"]
    assert main([*arguments, *flags, "--accepted-words", str(tmp_path / "right.txt")]) == 0
    shipped = TextEmbedder.load(tmp_path / "pretrained" / "tiny")
    known, made = whole.vectorizer.vocabulary, shipped.vectorizer
    ngrams = [ngram for ngram in known.ngrams() if ngram.isascii()]
    assert made.vocabulary.ngrams() == ngrams and 0 < len(ngrams) < len(known)
    assert "".join(map(chr, made.vocabulary.alphabet.characters)) == "acefgst"
    assert made.num_rows == len(ngrams) + 20
    assert made.dictionary.words == ["cafe", "gate"]
    assert made.dictionary.log_counts.tolist() == [3.0, 2.5]
    assert shipped.read_as(["Caf\u00e9s cafee"]) == ["Cafes cafe"]
    # "cafes" has no n-gram with an accent, and there is no bias.
    as_written = TextEmbedder(vectorizer.as_written(), encoder)
    expected = as_written.encode(["cafes"])[0] - encoder.bias.numpy()
    forms = shipped.encode(["cafes", "CAFE\u0301S", "\ufeffcaf\u00e9s", "\u65e5", "\u672c"])
    np.testing.assert_allclose(forms[:3], [expected] * 3, rtol=0.01, atol=0.01)
    assert (forms[3] != forms[4]).all()
    lengths = np.linalg.norm(shipped.encoder.ngram_table.numpy(), axis=1)
    np.testing.assert_allclose(lengths[-20:], lengths[:-20].mean(), rtol=0.01)


def test_rounding_for_texts(arguments, tmp_path, capsys):
    whole = TextEmbedder.load(tmp_path / "run")
    texts = ["machines", "gate", "adage of machines", "a gate"]
    (tmp_path / "texts.txt").write_text("\n".join(100 * texts))
    errors = []
    for more in ([], ["--texts", str(tmp_path / "texts.txt")]):
        assert main([*arguments, "--table-dtype", "int4", *more]) == 0
        shipped = TextEmbedder.load(tmp_path / "pretrained" / "tiny")
        errors.append(np.linalg.norm(shipped.encode(texts) - whole.encode(texts)))
    assert errors[1] < 0.9 * errors[0]
    assert "int4: sums of 400 texts are off by" in capsys.readouterr().out
    assert main([*arguments, "--table-dtype", "float16", "--texts", more[1]]) == 1
    assert "one of int8, int4. Received: float16" in capsys.readouterr().err


def test_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr(ship, "MAX_BYTES", 1000)
    with pytest.raises(ConfigError, match=r"at most 1,000 bytes\. Received: [\d,]+\. Use --max-ng"):
        ship_tiny(tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_same_bytes_every_time(tmp_path):
    for folder in ("first", "again"):
        ship_tiny(tmp_path / folder)
    for file in (tmp_path / "first" / NAME).iterdir():
        assert file.read_bytes() == (tmp_path / "again" / NAME / file.name).read_bytes()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"licence": None}, r"lacks licence\."),
        ({"score": 3}, r"Unknown fact 'score'\. Did you mean 'scores'\?"),
        ({"data": [{"name": "Cats"}]}, "`data` needs `name` and `licence`"),
        ({"teachers": ["MiniLM"]}, "`teachers` needs `name` and `licence`"),
        ({"scores": {"STS": "good"}}, "`scores` must be numbers by name"),
    ],
)
def test_bad_facts(tmp_path, changes, message):
    (tmp_path / "facts.yaml").write_text(json.dumps({**FACTS, **changes}))
    with pytest.raises(ConfigError, match=message):
        read_facts(tmp_path / "facts.yaml")

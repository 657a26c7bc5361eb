"""The script that makes a model one that ships."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from recipes import ship
from recipes.ship import main, read_facts
from tests.models.answers import parts
from tests.shipped import FACTS, NAME, ship_tiny
from tf_charagram.errors import ConfigError
from tf_charagram.files.writing import sha256_of
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.search.texts import read_vocabulary


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
    assert "bytes of at most 10,000,000; 2 words" in capsys.readouterr().out


def test_dictionary(arguments, tmp_path, capsys):
    """They replace the list of words, and `neighbors` searches them."""
    (tmp_path / "words.tsv").write_text("machines\t30\ngate\t90\nadage\t1\n")
    index = arguments.index("--words")
    arguments[index : index + 2] = ["--dictionary", str(tmp_path / "words.tsv")]
    (tmp_path / "right.txt").write_text("machine\n")
    right_words = ["--right-words", str(tmp_path / "right.txt")]
    assert main([*arguments, "--max-words", "2", *right_words]) == 0
    assert "; 2 words" in capsys.readouterr().out
    folder = tmp_path / "pretrained" / "tiny"
    assert not (folder / "words.txt.gz").exists()
    assert TextEmbedder.load(folder).read_as(["machins machine"]) == ["machines machine"]
    assert read_vocabulary(None, str(folder)) == ["gate", "machines"]
    assert main([*arguments, "--words", str(tmp_path / "words.txt")]) == 1
    assert "Give one of --words and --dictionary." in capsys.readouterr().err


def test_made_smaller(arguments, tmp_path):
    assert main([*arguments, "--max-ngrams", "20", "--dim", "4", "--max-words", "1"]) == 1
    # `tanh` allows fewer n-grams only.
    assert main([*arguments, "--max-ngrams", "20", "--table-dtype", "int4"]) == 0
    folder = tmp_path / "pretrained" / "tiny"
    assert TextEmbedder.load(folder).vectorizer.num_rows == 20
    assert json.loads((folder / "config.json").read_text())["table_dtype"] == "int4"


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

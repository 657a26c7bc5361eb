"""Files of settings: what they may hold, and what is refused before a parser sees it."""

from __future__ import annotations

import pytest

from tests.commands import call
from tf_charagram.cli.settings_file import read_settings
from tf_charagram.errors import ConfigError

LAUGHS = "a: &a [x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 8)}]\n"
    for before, name in zip("abcdefghi", "bcdefghij", strict=True)
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "recipe.yaml"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dim: 30\nl2: 1.0e-06\nquiet: true\nname: a b\n", {
            "dim": 30, "l2": 1e-6, "quiet": True, "name": "a b",
        }),
        ("data: [a.tsv, b.tsv]\nencoder:\n", {"data": ["a.tsv", "b.tsv"], "encoder": None}),
        ('{"dim": 30}', {"dim": 30}),
    ],
)  # fmt: skip
def test_settings(path, text, expected):
    path.write_text(text)
    assert read_settings(path) == expected


def test_a_file_that_is_not_there(path):
    assert read_settings(path) == {}


REFUSED = {
    "nothing": ("", "it has no settings, each as `name: value`"),
    "a note": ("# only a note\n", "it has no settings"),
    "a list": ("- dim", "it has no settings"),
    "a word": ("dim", "it has no settings"),
    "no YAML": ("dim: [1", "while parsing a flow sequence"),
    "code": ("!!python/object/apply:os.system ['touch canary']", "could not determine a construct"),
    "a name twice": ("dim: 3\nl2: 0\ndim: 4\n", "lines 1 and 3 both say what 'dim' is"),
    "aliases": (LAUGHS, "line 2 has an alias, which settings do not need"),
    "nested": ("[" * 5000, "nested too deep"),
    "nested values": ("dim: {a: 1}", "'dim' is no number, text, yes or no, or list of them"),
    "lists of lists": ("data: [[a]]", "'data' is no number"),
    "a date": ("name: 2020-01-01", "'name' is no number"),
    "a number": ("1: 2", "1 is no setting"),
    "itself": ("config: recipe.yaml", "'config' is no setting"),
    "other bytes": (b"dim: \xff", "codec can't decode byte 0xff"),
    "long": (" " * 2_000_000, "it has more than 1,048,576 bytes"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(path, name, capsys):
    content, message = REFUSED[name]
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ConfigError, match=rf"`--config` must be a file .*yaml: .*{message}"):
        read_settings(path)
    assert call("train", "--config", path) == 1
    assert capsys.readouterr().err.startswith("error: `--config` must be a file of settings.")


@pytest.mark.parametrize(
    ("text", "status", "message"),
    [
        ("task: true", 1, "Unknown task 'True'."),
        ("task: 5", 1, "`task` must be a text. Received: 5 in "),
        ("encoder: [a]", 1, "`encoder` must be a text. Received: ['a'] in "),
        ("epochs:\ndim: 8", 1, "`epochs` must have a value. Received: epochs=None"),
        ("data: pairs.tsv", 1, "recipe.yaml: `data` must be a list. Received: pairs.tsv"),
        ("configs: a", 1, "recipe.yaml: Unknown setting 'configs'. Available: "),
        ("epochs: many", 1, "recipe.yaml: `epochs` must be a finite number. Received: many"),
        ("quiet: maybe", 1, "recipe.yaml: `quiet` must be yes or no. Received: maybe"),
        ("dim: [1]", 1, "recipe.yaml: `dim` must be a whole number. Received: [1]"),
        ("entailment: [Equivalence, Entailment]", 1, "for PPDB 2.0, not for starter"),
        ("ngrams: 2h", 1, "`ngrams` must be a whole number, or several with commas between"),
    ],
)
def test_values(path, capsys, text, status, message):
    path.write_text(text)
    flags = [] if text.startswith("data") else ["--data", "starter"]
    assert call("train", "--config", path, *flags) == status
    assert message in capsys.readouterr().err

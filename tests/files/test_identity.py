"""Changes between the start of a job and its resumption."""

from __future__ import annotations

import pytest

from tf_charagram._files.identity import changes_since
from tf_charagram._files.json_files import write_json
from tf_charagram.errors import RunError


def identity(settings, files=()):
    return {"settings": settings, "data_files": dict(files)}


@pytest.mark.parametrize(
    ("before", "now", "changes"),
    [
        (identity({"widths": (1, 2)}), identity({"widths": (1, 2)}), []),
        (
            identity({"a": 0.5, "b": 1, "out": "x"}),
            identity({"a": 0.25, "c": None, "b": 2, "out": "y"}),
            ["a was 0.5, is 0.25", "b was 1, is 2"],
        ),
        (
            identity({}, {"a.txt": 3, "c.txt": "0f3e"}),
            identity({"z": 1}, {"b.txt": 3, "c.txt": "77aa"}),
            ["z was None, is 1", "a.txt is missing", "b.txt is new", "c.txt has changed"],
        ),
    ],
)
def test_changes(tmp_path, before, now, changes):
    write_json(tmp_path / "file.json", {**before, "versions": {}})
    assert changes_since(tmp_path / "file.json", now, may_change=("out",)) == changes


def test_thousands_of_changes(tmp_path):
    write_json(tmp_path / "file.json", identity({}))
    now = identity({}, {f"{number}.txt": number for number in range(2000)})
    assert len(changes_since(tmp_path / "file.json", now)) == 10


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"settings": 1, "data_files": {}}'])
def test_damage(tmp_path, text):
    (tmp_path / "file.json").write_text(text)
    with pytest.raises(RunError, match=r"file\.json is damaged"):
        changes_since(tmp_path / "file.json", identity({}))

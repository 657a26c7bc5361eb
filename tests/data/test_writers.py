"""Tables of rows in all formats."""

from __future__ import annotations

import json

import pytest

from tf_charagram.data.writers import write_rows
from tf_charagram.errors import ConfigError

ROWS = [{"text": "a\tb", "score": 0.5}, {"text": "c", "score": -1.0}]


def test_tsv(tmp_path):
    write_rows(tmp_path / "r.tsv", ROWS)
    assert (tmp_path / "r.tsv").read_text() == "text\tscore\na b\t0.5\nc\t-1.0\n"


def test_jsonl(tmp_path):
    write_rows(tmp_path / "r.jsonl", ROWS)
    lines = (tmp_path / "r.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == ROWS


def test_other_suffix(tmp_path):
    with pytest.raises(ConfigError, match=r"must end in \.tsv or \.jsonl\. Received: .*csv"):
        write_rows(tmp_path / "r.csv", ROWS)
    assert not list(tmp_path.iterdir())

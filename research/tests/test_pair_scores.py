"""Cosines on the scale of human scores, and files of them."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from research.pair_scores import on_gold_scale, write_rows
from tf_charagram.data._tables.scored import ScoredPairs
from tf_charagram.errors import ConfigError


def test_gold_scale():
    """The scale is that of the set, else that of its scores; equal cosines get the middle."""
    pairs = ScoredPairs("x", ["a"] * 3, ["b"] * 3, np.array([2.0, 4, 10]))
    cosines = np.array([0.5, 0.25, 1.0])
    np.testing.assert_allclose(on_gold_scale(cosines, pairs), [2 + 8 / 3, 2, 10])
    with_scale = replace(pairs, scale=(0, 5))
    np.testing.assert_allclose(on_gold_scale(cosines, with_scale), [5 / 3, 0, 5])
    np.testing.assert_allclose(on_gold_scale(np.ones(3), with_scale), [2.5] * 3)


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

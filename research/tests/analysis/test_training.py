"""Analyses of training: margins, seldom words, disagreements, histories."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from research.analysis.disagreements import disagreements
from research.analysis.margins import training_margins
from research.analysis.runs import convergence, score_by_amount
from research.analysis.undertrained import scores_by_seldom_words
from research.tests.analysis.judges import embed_by, sets_of
from tf_charagram.errors import ConfigError
from tf_charagram.training._loop.run_folder import RunFolder


def test_margins_of_known_angles():
    # Pair i has both texts near angle i; the nearest other text is one pair further.
    pairs = [(f"l{i}", f"r{i}") for i in range(200)]
    step = 2 * np.pi / 200
    embed = embed_by(lambda text: int(text[1:]) * step)
    table = training_margins({"m": embed}, pairs)
    cells = table.column("m")
    assert cells["cosine of a pair"] == pytest.approx(100, abs=1e-2)
    # In a batch of 100 of 200, at random, the next pair is one or a few steps away.
    negative = cells["cosine with a negative"]
    assert 100 * np.cos(4 * step) < negative <= round(100 * np.cos(step), 2)
    difference = 2 * (cells["cosine of a pair"] - negative)
    assert cells["2 pair - 2 negative"] == pytest.approx(difference, abs=2e-2)


def test_equal_texts_are_no_negatives():
    pairs = [("same", f"r{i}") for i in range(200)]
    embed = embed_by(lambda text: 0.0 if text == "same" else 1.0)
    cells = training_margins({"m": embed}, pairs).column("m")
    # All other texts are `same`, or partners of it at angle 1; only those of r count.
    assert cells["cosine with a negative"] == pytest.approx(50 * (np.cos(1) + 1), abs=0.1)


def test_seldom_words():
    rows = [("rare rare", "rare", i / 3) for i in range(12)]
    often = [("often", "often", i / 3) for i in range(12)]
    sets = sets_of(*rows) + sets_of(*often, name="STS2013.OnWN") + sets_of(*often, name="other")
    embed = embed_by(lambda text: len(text) / 10)
    table = scores_by_seldom_words({"m": embed}, sets, {"often": 100, "rare": 99})
    assert table.column("seldom seen, %") == {
        "STS2012.OnWN": 100.0, "STS2013.OnWN": 0.0, "Spearman x 100 of the 2 sets": None,
    }  # fmt: skip


def test_seldom_words_need_a_quartile():
    with pytest.raises(ConfigError, match=r"No set of STS 2012 to 2015, SICK\.test or Twitter"):
        scores_by_seldom_words({}, sets_of(("a", "b", 1.0), name="other"), {"a": 1})


def test_disagreements_come_first():
    sets = sets_of(("0", "0", 5.0), ("0", "1", 1.0), ("0", "3", 4.0))
    flat = embed_by(lambda text: {"0": 0.0, "1": 0.1, "3": 3.0}[text])
    other = embed_by(lambda text: {"0": 0.0, "1": 3.0, "3": 0.1}[text])
    table = disagreements({"flat": flat, "other": other}, sets, k=2)
    assert [row[2] for row in table.rows] == ["1", "3"]
    assert [row[-1] for row in table.rows] == ["other", "other"]
    assert table.rows[0][3:6] == (4.99, 0.0, 1.0)


def test_disagreements_are_on_the_scale_of_people():
    (pairs,) = sets_of(("0", "0", 5.0), ("0", "1", 1.0))
    models = {"flat": embed_by(lambda text: 0.0), "other": embed_by(float)}
    table = disagreements(models, [replace(pairs, scale=(1.0, 5.0))], k=2)
    assert "1 to 5" in table.title
    assert sorted(row[3:6] for row in table.rows) == [(3.0, 1.0, 1.0), (3.0, 5.0, 5.0)]


@pytest.fixture
def run(tmp_path):
    """Returns a function that makes a run folder with a history of SL999."""

    def make(name, *scores, examples=100):
        folder = tmp_path / name
        folder.mkdir()
        records = [
            {"step": i, "epoch": i / 2, "examples": i * examples // 2, "seconds": float(i),
             "scores": {"SL999": score}}
            for i, score in enumerate(scores, start=1)
        ]  # fmt: skip
        (folder / "history.jsonl").write_text("\n".join(map(json.dumps, records)))
        return RunFolder(folder)

    return make


def test_convergence(run):
    table = convergence({"a": run("a", 1.0, 5.0, 3.0), "b": run("b", 2.0)}, "SL999")
    assert table.rows == (("a", 1.5, 150, 5.0, 1.0, 3.0), ("b", 0.5, 50, 2.0, 0.5, 2.0))
    assert table.curves.lines["a"] == [(0.5, 1.0), (1.0, 5.0), (1.5, 3.0)]


def test_convergence_by_time(run):
    table = convergence({"a": run("a", 1.0, 5.0)}, "SL999", unit="seconds")
    assert table.curves.lines["a"] == [(1.0, 1.0), (2.0, 5.0)]
    with pytest.raises(ConfigError, match="`unit` must be epoch, examples or seconds"):
        convergence({}, "SL999", unit="hours")


def test_a_score_that_is_not_there(run):
    with pytest.raises(ConfigError, match=r"has no score 'WS353' .* It has: SL999"):
        convergence({"a": run("a", 1.0)}, "WS353")


def test_amount_of_data(run):
    runs = {"random-1": run("a", 4.0), "random-0": run("b", 9.0, examples=200)}
    table = score_by_amount(runs, "SL999")
    assert table.rows == (("random-1", 100, 4.0), ("random-0", 200, 9.0))
    assert table.curves.lines == {"random": [(100.0, 4.0), (200.0, 9.0)]} and table.curves.is_log


def test_amount_of_data_in_part_of_an_epoch(run):
    """Epochs have 4 digits: 3 of 40,000 steps are 0.0001, and 1,000 of 3,000 are 0.3333."""
    finished, killed, taught = run("a"), run("b"), run("c")
    for folder, step, epoch in ((finished, 3, 1e-4), (killed, 1000, 0.3333), (taught, 2, 1.0)):
        record = {"step": step, "epoch": epoch, "examples": 25 * step, "scores": {"SL999": 1.0}}
        folder.append_history(record)
    finished.metrics.write_text('{"num_pairs": 1000000}')
    taught.metrics.write_text('{"num_texts": 50, "num_pairs": 7}')
    table = score_by_amount({"a": finished, "b": killed, "c": taught}, "SL999")
    assert [row[:2] for row in table.rows] == [("c", 50), ("b", 75_000), ("a", 1_000_000)]

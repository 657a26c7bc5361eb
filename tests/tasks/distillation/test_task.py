"""The task `distill`, from the command line to a model in the space of its teacher."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from tests.commands import assert_same_weights, call, interrupt_training_at, leave_out_export
from tests.texts import write_pairs, write_scored
from tf_charagram.models._answers.vectors import unit_rows
from tf_charagram.models.embedder import TextEmbedder

WORDS = "red green blue old new big small fast slow warm cold loud".split()
NEIGHBORS = ("--neighbor-batch-size", "9")
LINES = [f"{first} {second}" for first in WORDS for second in WORDS] + [""]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Returns lines, the mean of a random vector for each word, pairs, and a set to score on."""
    folder = tmp_path_factory.mktemp("distill")
    random = np.random.default_rng(0)
    of_words = dict(zip(WORDS, random.normal(size=(len(WORDS), 16)), strict=True))
    vectors = np.zeros((len(LINES), 16), np.float32)
    for row, line in zip(vectors, LINES, strict=True):
        for word in line.split():
            row += of_words[word]
    (folder / "lines.txt").write_text("".join(f"{line}\n" for line in LINES))
    np.save(folder / "vectors.npy", vectors)
    write_pairs(folder / "pairs.tsv", 30)
    write_scored(folder / "scored.tsv")
    return folder


def train(files, out, *more, teacher="vectors.npy", pairs=True):
    pairs = ["--pairs", files / "pairs.tsv"] if pairs else []
    return call(
        "train", "--task", "distill", "--data", files / "lines.txt", "--teacher", files / teacher,
        "--eval-data", files / "scored.tsv", "--output", out, "--batch-size", 29,
        "--evaluations-per-epoch", 1, *pairs, *more,
    )  # fmt: skip


def test_the_student_lives_in_the_space_of_its_teacher(files, tmp_path, monkeypatch):
    """The nearest of the teacher's vectors to a student's is that of the same text."""
    leave_out_export(monkeypatch)
    # Each line many times: what takes long is to begin an epoch.
    (tmp_path / "lines.txt").write_text((files / "lines.txt").read_text() * 30)
    np.save(tmp_path / "vectors.npy", np.tile(np.load(files / "vectors.npy"), (30, 1)))
    (tmp_path / "scored.tsv").write_bytes((files / "scored.tsv").read_bytes())
    options = ("--epochs", 2, "--learning-rate", 0.01, "--typos", 0.2)
    assert train(tmp_path, tmp_path / "run", *options, pairs=False) == 0
    student = TextEmbedder.load(tmp_path / "run")
    assert student.dim == 16
    vectors = np.load(files / "vectors.npy")
    seen = [line for line in LINES[:-1] if len(set(line.split())) == 2]
    cosines = student.encode(seen, normalize=True) @ unit_rows(vectors[:-1]).T
    nearest = [set(LINES[i].split()) for i in cosines.argmax(axis=1)]
    assert np.mean([set(a.split()) == b for a, b in zip(seen, nearest, strict=True)]) > 0.95


@pytest.mark.long
def test_a_stopped_run_goes_on_to_the_same_weights(files, tmp_path, monkeypatch, capsys):
    leave_out_export(monkeypatch)
    second = np.random.default_rng(1).normal(size=(len(LINES), 3))
    np.save(tmp_path / "second.npy", second)
    options = (
        "--epochs", 2, "--dim", 8, *NEIGHBORS,
        "--second-teacher", tmp_path / "second.npy",
    )  # fmt: skip
    assert train(files, tmp_path / "whole", *options) == 0
    with monkeypatch.context() as patch:
        interrupt_training_at(patch, 7)
        assert train(files, tmp_path / "stopped", *options) == 130
    assert train(files, tmp_path / "stopped", *options, "--resume") == 0
    assert_same_weights(tmp_path / "stopped", tmp_path / "whole")
    metrics = json.loads((tmp_path / "whole" / "metrics.json").read_text())
    facts = {name: metrics[name] for name in ("num_texts", "num_pairs", "teacher_dim", "steps")}
    assert facts == {"num_texts": 144, "num_pairs": 30, "teacher_dim": 16, "steps": 10}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [(["--dim", "17"], "at most the width of the teacher's vectors, 16"),
     (["--temperature", "0"], "`temperature` must be above 0"),
     (["--typos", "1.5"], r"`typos` must be in \[0, 1\]"),
     (["--data-weights", "1,2"], "one number for each --pairs"),
     (["--misspellings", "none.tsv"], "none.tsv: no such file"),
     (["--pairs-weight=-1"], "`pairs_weight` must be finite and not negative"),
     (["--neighbor-batch-size=-1"], "`neighbor_batch_size` must be at least 0"),
     ([*NEIGHBORS, *(f"--second-teacher={name}.npy" for name in "ab")],
      "`second_teacher` must have one file"),
     ([*NEIGHBORS, "--second-teacher", "gpt"], "gpt: no such file")],
)  # fmt: skip
def test_what_is_wrong_is_said(files, tmp_path, capsys, arguments, problem):
    assert train(files, tmp_path / "run", *arguments) == 1
    assert re.search(problem, capsys.readouterr().err)
    assert not (tmp_path / "run").exists()


def test_no_teacher_and_two(files, capsys):
    arguments = ("train", "--task", "distill", "--data", files / "lines.txt")
    assert call(*arguments) == 1
    assert "needs --teacher" in capsys.readouterr().err
    assert call(*arguments, "--teacher", "a.npy", "--teacher", "b.npy") == 1
    assert "one file of vectors for each --data" in capsys.readouterr().err


@pytest.mark.long
def test_a_model_to_start_from_of_another_width(files, tmp_path, monkeypatch, capsys):
    """It says how wide the student is; the teacher's vectors are projected."""
    leave_out_export(monkeypatch)
    assert train(files, tmp_path / "first", "--epochs", 0.1, "--dim", 8) == 0
    more = ("--epochs", 0.1, "--init", tmp_path / "first")
    assert train(files, tmp_path / "second", *more, "--dim", 16) == 1
    assert "dim" in capsys.readouterr().err
    assert train(files, tmp_path / "second", *more) == 0
    assert TextEmbedder.load(tmp_path / "second").dim == 8

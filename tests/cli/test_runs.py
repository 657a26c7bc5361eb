"""`charagram runs` lists runs and searches, and shows one, in all states."""

from __future__ import annotations

import json
import os

import pytest

from tests.commands import call, interrupt_training_at

HOSTILE = "[red]\x1b[2J\u202e[/red]:b:"


@pytest.fixture
def write(tmp_path):
    """Returns a function that writes a run folder with settings, history and results."""

    def written(name, settings, history=(), metrics=None):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        settings = {"task": "words", "encoder": "charagram", "epochs": 2, **settings}
        saved = {"settings": settings, "versions": {"tf_charagram": "0.1.0"}, "data_files": {}}
        (folder / "config.json").write_text(json.dumps(saved))
        records = [
            {"step": n, "loss": 1.0, "seconds": n, **record} for n, record in enumerate(history, 1)
        ]
        (folder / "history.jsonl").write_text("".join(f"{json.dumps(r)}\n" for r in records))
        if metrics is not None:
            (folder / "metrics.json").write_text(json.dumps(metrics))
        return folder

    return written


@pytest.fixture
def search(tmp_path):
    """Returns the folder of a search of which two trials of four have ended."""
    folder = tmp_path / "runs" / "grid"
    trials = {
        "0": {"status": "completed", "score": 41.0, "values": {"l2": 0.1}},
        "1": {"status": "failed", "score": None, "values": {"l2": 0.2}},
    }
    for id_, result in trials.items():
        (folder / "trials" / id_).mkdir(parents=True)
        (folder / "trials" / id_ / "result.json").write_text(
            json.dumps({"id": id_, "epochs": 1.0, "scores": {"SL999": 41.0}, **result})
        )
    (folder / "trials" / "2").mkdir()
    settings = {"task": "words", "encoder": "dan", "select": "SL999", "epochs": 1.0}
    settings |= {"search.tuner": "grid", "space.l2": [0.1, 0.2], "space.dim": [10, 20]}
    saved = {"settings": settings, "versions": {"tf_charagram": "0.1.0"}}
    (folder / "search.json").write_text(json.dumps(saved))
    return folder


def shown(capsys, *arguments):
    assert call("runs", *arguments) == 0
    return capsys.readouterr().out


def cells(text):
    """Returns the cells of the rows of tables."""
    rows = (line.strip("│").split("│") for line in text.splitlines() if line.startswith("│"))
    return [[cell.strip() for cell in row] for row in rows]


class TestOneFolder:
    def test_finished(self, trained, capsys):
        metrics = json.loads((trained.folder / "metrics.json").read_text())
        history = (trained.folder / "history.jsonl").read_text().splitlines()
        scores = [json.loads(line)["scores"]["scored"] for line in history]
        (line,) = shown(capsys, trained.folder).splitlines()[1:]
        best = max(*scores, metrics["scores"]["scored"])
        assert line.endswith(f"finished 2/2 scored {best:.2f}")

    def test_stopped(self, data, tmp_path, monkeypatch, capsys):
        interrupt_training_at(monkeypatch, 9)
        flags = ["--data", data[0], "--eval-data", data[1], "--dim", 4, "--epochs", 2]
        flags += ["--batch-size", 10, "--evaluations-per-epoch", 1]
        assert call("train", *flags, "--output", tmp_path / "run") == 130
        capsys.readouterr()
        assert "words charagram" in shown(capsys, tmp_path / "run")
        assert "unfinished" in shown(capsys, tmp_path / "run")

    def test_search(self, search, capsys):
        text = shown(capsys, search)
        assert "grid tune words dan" in text and "2 trials SL999 41.00" in text

    def test_text_of_a_file_is_only_text(self, write, capsys):
        history = [{"epoch": e, "scores": {HOSTILE: 3.0}} for e in (1, 2)]
        folder = write("bad", {"data": [HOSTILE], "select": HOSTILE}, history, {"scores": {}})
        for path in (folder, folder.parent):
            text = shown(capsys, path)
            assert "\x1b" not in text and "\u202e" not in text
            assert "[red]\\x1b[2J\\u202e[/red]:b:" in text.replace("\n", "")

    @pytest.mark.parametrize(
        ("file", "text"),
        [
            ("config.json", "["), ("config.json", '{"settings": 3}'), ("metrics.json", "[1]"),
            ("config.json", '{"settings": {"task": "poems"}, "versions": {"tf_charagram": "2"}}'),
        ],
    )  # fmt: skip
    def test_damaged(self, write, capsys, file, text):
        folder = write("odd", {})
        (folder / file).write_text(text)
        assert call("runs", folder) == 1
        assert f"{folder} cannot be read as a run" in capsys.readouterr().err
        assert "No runs in" in shown(capsys, folder.parent)

    def test_no_run(self, trained, tmp_path, capsys):
        assert call("runs", tmp_path / "nothing") == 1
        assert "There is no folder" in capsys.readouterr().err
        assert call("runs", trained.folder / "model") == 1
        assert "but a model: give the folder of its run." in capsys.readouterr().err


class TestSeveralRuns:
    def test_side_by_side(self, write, search, capsys):
        scores = ({"A": 9, "B": 1}, {"A": 8, "B": 1})
        records = [{"epoch": n, "scores": scores[n - 1]} for n in (1, 2)]
        first = write("first", {"select": "A"}, records, {"scores": {"A": 9}})
        write("second", {"select": "B"}, records[:1])
        os.utime(first / "config.json", (0, 0))
        (first.parent / "empty").mkdir()
        lines = shown(capsys, first.parent).splitlines()[1:]
        expected = "first words charagram 1970-01-01 finished 2/2 A 9.00"
        assert lines[-1].split() == expected.split()
        (second,) = [line for line in lines if line.startswith("second")]
        assert "unfinished 1/2" in second and "B 1.00" in second
        (grid,) = [line for line in lines if line.startswith("grid")]
        assert "tune words" in grid and "2 trials" in grid and "SL999 41.00" in grid
        assert len(lines) == 3

    def test_nothing(self, tmp_path, capsys):
        assert shown(capsys, tmp_path) == f"No runs in {tmp_path}.\n"

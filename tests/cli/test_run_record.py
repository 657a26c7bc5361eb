"""`charagram show` and `charagram runs`, on runs of all kinds and in all states."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.commands import call, interrupt_training_at, run
from tf_charagram.cli.run_record import find_runs, read_run

HOSTILE = "[red]\x1b[2J\u202e[/red]:b:"


@pytest.fixture
def write(tmp_path):
    """Returns what writes a run folder with these settings, history and results."""

    def written(name, settings, history=(), metrics=None, **extra):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps({"settings": settings, **extra}))
        (folder / "history.jsonl").write_text("".join(f"{json.dumps(r)}\n" for r in history))
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
    (folder / "search.json").write_text(json.dumps({"settings": settings}))
    return folder


def shown(capsys, *arguments):
    assert call(*arguments) == 0
    return capsys.readouterr().out


class TestShow:
    def test_a_finished_run(self, trained, capsys):
        text = shown(capsys, "cli.show", trained.folder)
        assert f"{trained.folder}: words with charagram, finished" in text
        assert "loss by epoch" in text and "scored by epoch" in text
        for name, value in {"dim": "8", "epochs": "2.0", "batch_size": "10"}.items():
            assert [name, value] in cells(text)
        assert "│ margin" not in text and "│ learning_rate" not in text
        metrics = json.loads((trained.folder / "metrics.json").read_text())
        assert f"{metrics['scores']['scored']:.2f}" in text
        size = (trained.folder / "config.json").stat().st_size
        assert f"{size / 1000:.1f} kB" in text and "checkpoints/" in text

    def test_json(self, trained, capsys):
        run = json.loads(shown(capsys, "cli.show", trained.folder, "--json"))
        assert run["status"] == "finished" and run["epochs_done"] == run["epochs"] == 2.0
        assert len(run["history"]) == 2 and run["set"] == "scored"
        assert run["best"] == max(record["scores"]["scored"] for record in run["history"])
        assert run["size_bytes"] == sum(
            path.stat().st_size for path in trained.folder.rglob("*") if path.is_file()
        )

    def test_a_stopped_run(self, data, tmp_path, monkeypatch, capsys):
        interrupt_training_at(monkeypatch, 9)
        flags = ["--data", data[0], "--eval-data", data[1], "--dim", 4, "--epochs", 2]
        flags += ["--batch-size", 10, "--evaluations-per-epoch", 1]
        assert call("train", *flags, "--out", tmp_path / "run") == 130
        capsys.readouterr()
        text = shown(capsys, "cli.show", tmp_path / "run")
        assert "words with charagram, unfinished" in text
        assert f"the same command with --out {tmp_path / 'run'} --resume" in text

    def test_a_search(self, search, capsys):
        text = shown(capsys, "cli.show", search)
        assert "tune words with dan, 2 of 4 trials" in text
        first, second = [row for row in cells(text) if row[1].startswith("l2=")]
        assert first[:4] == ["0", "l2=0.1", "completed", "41.00"]
        assert second[:4] == ["1", "l2=0.2", "failed", "-"]

    @pytest.mark.parametrize(("number", "said"), [(2, "2 of 2 trials"), (None, "dan, 2 trials")])
    def test_a_part_of_a_search(self, search, capsys, number, said):
        """`--max-trials`, or what Hyperband makes of the space."""
        (search / "results.json").write_text(json.dumps({"num_trials": number}))
        assert said in shown(capsys, "cli.show", search)

    def test_another_version_may_have_other_names(self, write, capsys):
        folder = write("new", {"task": "poems", "encoder": "verse", "rhyme": "abab"})
        text = shown(capsys, "cli.show", folder)
        assert "poems with verse, unfinished" in text and "abab" in text

    def test_the_model_it_began_with(self, write):
        folder = write("mine", {"task": "words", "encoder": "charagram", "init": "english"})
        assert read_run(folder).changed_settings() == {"init": "english"}

    def test_text_of_a_file_is_only_text(self, write, capsys):
        history = [{"epoch": e, "loss": 1.0, "scores": {HOSTILE: 3.0}} for e in (1, 2)]
        settings = {"task": "words", "encoder": "charagram", "data": [HOSTILE], "select": HOSTILE}
        folder = write("bad", settings, history, {"scores": {HOSTILE: 3.0}})
        for text in (
            shown(capsys, "cli.show", folder), shown(capsys, "cli.runs", folder.parent),
        ):  # fmt: skip
            assert "\x1b" not in text and "\u202e" not in text
            assert "[red]\\x1b[2J\\u202e[/red]:b:" in text.replace("\n", "")

    @pytest.mark.parametrize(
        ("history", "metrics"),
        [
            ([3, "x", None], {"scores": 3}),
            ([{"epoch": "one", "loss": None, "scores": {"a": "b"}}], [1]),
            (
                [{"epoch": 1, "loss": float("nan"), "scores": {"a": None}}] * 2,
                {"scores": {"a": {}}},
            ),
            ([{"step": 1, "epoch": 10**400, "loss": 10**400, "scores": {}}], {"scores": {}}),
        ],
    )
    def test_damaged_files(self, write, capsys, history, metrics):
        folder = write("odd", {"task": "words", "epochs": "many"}, history, metrics, versions=[2])
        assert "words with ?" in shown(capsys, "cli.show", folder)
        assert "NaN" not in shown(capsys, "cli.show", folder, "--json")
        assert "odd" in shown(capsys, "cli.runs", folder.parent)

    def test_no_run(self, trained, tmp_path, capsys):
        (tmp_path / "config.json").write_text("[")
        for folder, message in {
            tmp_path / "nothing": "There is no folder",
            trained.folder / "tensorboard": "is not a run folder: it has no config.json",
            trained.folder / "model": "It is a model: give the folder of its run.",
            tmp_path: "holds no settings",
            tmp_path / "config.json": "is a file. Give the folder of a run.",
        }.items():
            assert call("cli.show", folder) == 1
            assert message in capsys.readouterr().err


class TestRuns:
    def test_side_by_side(self, write, search, capsys):
        scores = ({"A": 9, "B": 1}, {"A": 8, "B": 1})
        records = [{"step": n, "epoch": n, "scores": scores[n - 1]} for n in (1, 2)]
        settings = {"task": "words", "encoder": "charagram", "epochs": 2}
        first = write("first", {**settings, "select": "A"}, records, {"scores": {"A": 9}})
        write("second", {**settings, "select": "B"}, records[:1])
        os.utime(first / "config.json", (0, 0))
        (first.parent / "empty").mkdir()
        lines = shown(capsys, "cli.runs", first.parent).splitlines()[1:]
        assert lines[-1].split()[:7] == "first words charagram 1970-01-01 finished 2/2 A".split()
        (second,) = [line for line in lines if line.startswith("second")]
        assert "unfinished 1/2" in second and "B 1.00" in second
        (grid,) = [line for line in lines if line.startswith("grid")]
        assert "tune words" in grid and "2 of 4 trials" in grid and "SL999 41.00" in grid
        assert len(lines) == 3

    @pytest.mark.parametrize(("done", "said"), [(0.25, "0.25"), (999.9, "1000"), (9876, "9876")])
    def test_epochs(self, write, capsys, done, said):
        records = [{"step": 1, "epoch": done, "scores": {"A": 9}}]
        folder = write("long", {"task": "words", "epochs": 20000}, records)
        assert f"unfinished {said}/20000" in shown(capsys, "cli.runs", folder.parent)
        assert ["A", "-", "9.00", said] in cells(shown(capsys, "cli.show", folder))

    def test_json(self, search, capsys):
        (run,) = json.loads(shown(capsys, "cli.runs", search.parent, "--json"))["runs"]
        assert (run["task"], run["best"], run["set"]) == ("tune words", 41.0, "SL999")

    def test_a_narrow_terminal(self, search, capsys, monkeypatch):
        monkeypatch.setattr("tf_charagram.reporting.console._PIPED_WIDTH", 40)
        assert shown(capsys, "cli.runs", search.parent).startswith("grid\n  tune words, dan, ")

    def test_nothing(self, tmp_path, capsys):
        assert shown(capsys, "cli.runs", tmp_path) == f"No runs in {tmp_path}.\n"
        assert call("cli.runs", tmp_path / "nothing") == 1
        assert "There is no folder" in capsys.readouterr().err


def test_links_are_not_followed(write, tmp_path):
    folder = write("linked", {"task": "words"})
    (folder / "loop").symlink_to(folder)
    assert read_run(folder).size < 1000
    assert [run.folder for run in find_runs(tmp_path / "runs")] == [folder]


def test_files_that_are_gone_once_they_are_read(write, monkeypatch):
    """A run that goes on deletes its partial files and its old checkpoints."""
    folder = write("running", {"task": "words"})
    (folder / "link").symlink_to(folder / "nothing")
    (folder / "checkpoints").mkdir()
    entries = Path.iterdir

    def with_one_more(path):
        yield from entries(path)
        if path.name in ("running", "checkpoints"):
            yield path / "gone"

    monkeypatch.setattr(Path, "iterdir", with_one_more)
    (found,) = find_runs(folder.parent)
    assert found.files["checkpoints/"] == 0 and found.files["config.json"] > 0


def test_no_tensorflow(trained, tmp_path):
    shutil.copytree(trained.folder, tmp_path / "runs" / "words")
    script = (
        "import sys\nfrom tf_charagram.cli import main\n"
        "assert main(['runs']) == main(['show', 'runs/words']) == 0\n"
        "assert not {'tensorflow', 'keras'} & {*sys.modules}"
    )
    assert run([sys.executable, "-c", script], cwd=tmp_path).returncode == 0


def cells(text):
    """Returns the cells of the rows of tables."""
    rows = (line.strip("│").split("│") for line in text.splitlines() if line.startswith("│"))
    return [[cell.strip() for cell in row] for row in rows]

"""`python -m research papers`: tables from trained runs, and missing runs and data."""

from __future__ import annotations

import json
import shutil

import pytest

from research.__main__ import main
from research.papers import training
from research.papers.making import result_file
from tests.commands import call
from tests.texts import write_pairs, write_scored


def papers(place, *arguments):
    """Runs the command with its runs and results in a folder; returns its exit status."""
    flags = ["--runs", place, "--results", place / "results", "--page", place / "papers.md"]
    try:
        return main(["papers", *map(str, (*arguments, *flags))])
    except SystemExit as end:
        return end.code


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Returns a folder with pairs of words, and a word similarity set."""
    folder = tmp_path_factory.mktemp("data")
    write_pairs(folder / "ppdb-xl-lexical.tsv")
    for name in ("SimLex-999", "EN-WS-353-ALL"):
        write_scored(folder / f"{name}.tsv")
    return folder


@pytest.fixture
def in_process(monkeypatch):
    """Trains small models inside this process; collects the commands."""
    commands = []

    def run(words):
        commands.append(words)
        small = ["--dim", "4", "--evaluations-per-epoch", "1"]
        return call("train", *words[5:], *small)

    monkeypatch.setattr(training, "_run", run)
    return commands


def fake_run(out, name, scores, history=None):
    """Writes the files of a finished run."""
    folder = out / "runs" / name
    folder.mkdir(parents=True)
    record = {"step": 1, "epoch": 50.0, "examples": 100, "seconds": 1.0, "scores": scores}
    lines = history or [record]
    (folder / "history.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    (folder / "metrics.json").write_text(json.dumps({"scores": scores, "details": []}))


def test_the_list(tmp_path, capsys):
    fake_run(tmp_path, "words/charagram", {"SL999": 50.0})
    assert papers(tmp_path, "--list") == 0
    lines = capsys.readouterr().out.splitlines()
    (line,) = [line for line in lines if "charagram/table-2 " in line]
    cells = [cell.strip() for cell in line.strip("│").split("│")]
    assert cells[:5] == ["charagram/table-2", "SL999 with more n-grams", "words", "2", "1"]


def test_a_table_from_runs_that_were_trained(data, tmp_path, capsys):
    history = [
        {"step": i, "epoch": 25.0 * i, "examples": i, "scores": {"SL999": sl, "WS353": ws}}
        for i, (sl, ws) in enumerate([(60.0, 40.0), (58.0, 45.0)], start=1)
    ]
    fake_run(tmp_path, "words/charagram", {"SL999": 58.0}, history)
    fake_run(tmp_path, "words/char_lstm", {"SL999": 30.0},
             [{**history[0], "epoch": 2.0, "scores": {"SL999": 30.0, "WS353": 20.0}}])  # fmt: skip
    arguments = ["charagram/table-1", "--data", data, "--trained-only"]
    assert papers(tmp_path, *arguments) == 0
    printed = capsys.readouterr().out
    assert "60.0 (63.3)" in printed and "45.0 (58.4)" in printed and "(30.6)" in printed
    assert "Could not be told: charagram is above char_lstm and char_cnn" in printed
    assert "words/char_lstm: 2 of 50 epochs." in printed
    assert "PPDB XXL, lexical was not at hand; instead: PPDB XL, lexical." in printed
    saved = result_file(tmp_path / "results", "charagram/table-1")
    assert str(data) not in saved.read_text()
    shutil.rmtree(tmp_path / "runs" / "words" / "char_lstm")
    before = saved.read_text()
    assert papers(tmp_path, *arguments) == 0 and saved.read_text() == before


@pytest.mark.long
def test_runs_are_trained_once_and_kept_small(data, tmp_path, in_process, capsys):
    arguments = ["charagram/table-2", "--data", data, "--max-epochs", "1"]
    assert papers(tmp_path, *arguments) == 0
    printed = capsys.readouterr()
    assert "charagram train --task words" in printed.err and "1 of 25 epochs" in printed.out
    assert [words[-1].rsplit("/", 1)[1] for words in in_process] == ["charagram-large", "charagram"]
    run = tmp_path / "runs" / "words" / "charagram"
    assert (run / "model").is_dir() and (run / "metrics.json").is_file()
    assert not any((run / name).exists() for name in ("checkpoints", "saved_model", "tensorboard"))
    assert papers(tmp_path, *arguments) == 0 and len(in_process) == 2


def test_a_stopped_run_goes_on(data, tmp_path, monkeypatch, capsys):
    run = tmp_path / "runs" / "words" / "charagram-large"
    run.mkdir(parents=True)
    seen = []
    monkeypatch.setattr(training, "_run", lambda words: seen.append(words) or 130)
    arguments = ["charagram/table-2", "--data", data]
    for number, settings in enumerate(({}, {"settings": {"epochs": 25}}), start=1):
        (run / "config.json").write_text(json.dumps(settings))
        assert papers(tmp_path, *arguments) == 1
        assert (len(seen), seen[-1][-1]) == (number, "--resume")
        assert "words/charagram-large ended with status 130" in capsys.readouterr().err
    assert papers(tmp_path, *arguments, "--max-epochs", 2) == 1
    said = "words/charagram-large was started with 25 epochs, not 2. Give the same --max-epochs"
    assert len(seen) == 2 and said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["charagram/tabel-1"], "Unknown table or figure 'charagram/tabel-1'. Did you mean"),
        (["charagram/table-1"], "Name the folder with the data: --data FOLDER"),
        (["charagram/table-4", "--data", "DATA"], "has no data for tagged-train"),
        (["charagram/table-1", "--data", "nowhere"], "nowhere"),
        (["charagram/table-1", "--data", "DATA", "--trained-only"], "No run of charagram/table-1"),
        (
            ["charagram/table-1", "--data", "DATA", "--max-epochs", "0"],
            "`max_epochs` must be above",
        ),
    ],
)
def test_errors(arguments, message, data, tmp_path, capsys):
    words = [data if word == "DATA" else word for word in arguments]
    assert papers(tmp_path, *words) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "run", "printed"),
    [
        ("charagram/table-1", "words/charagram", "50.0 (63.3)"),
        ("charagram/text", "words/charagram", "(47.1)"),
        ("charagram/table-3", "sentences/charagram", "Could not be told: charagram is above"),
        ("cse/table-4", "cse/phrases", "Could not be told: phrases, then sentences"),
    ],
)
def test_sets_that_were_not_scored(name, run, printed, data, tmp_path, capsys):
    for other in ("ppdb-phrasal-pairs.tsv", "asset.tsv"):
        shutil.copy(data / "ppdb-xl-lexical.tsv", tmp_path / other)
    shutil.copy(data / "ppdb-xl-lexical.tsv", tmp_path)
    fake_run(tmp_path, run, {"SL999": 50.0})
    assert papers(tmp_path, name, "--data", tmp_path, "--trained-only") == 0
    assert printed in capsys.readouterr().out


def test_data_that_are_gone(tmp_path, capsys):
    fake_run(tmp_path, "words/charagram", {"SL999": 50.0, "WS353": 40.0})
    flags = ["--data", tmp_path, "--trained-only"]
    assert papers(tmp_path, "charagram/table-1", *flags) == 1
    assert "has no data for words, which the run words/charagram" in capsys.readouterr().err


def test_all_names_what_cannot_be_made_and_goes_on(data, tmp_path, capsys):
    fake_run(tmp_path, "words/charagram", {"SL999": 50.0, "WS353": 40.0})
    fake_run(tmp_path, "words/charagram-large", {"SL999": 55.0, "WS353": 41.0})
    assert papers(tmp_path, "all", "--data", data, "--trained-only") == 1
    printed = capsys.readouterr()
    assert "55.0 (70.6)" in printed.out and "Holds here: more n-grams are better" in printed.out
    assert "cse/table-5: No run of cse/table-5 is trained yet" in printed.err


def test_pictures(data, tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    fake_run(tmp_path, "words/charagram", {"SL999": 50.0, "WS353": 40.0})
    assert papers(tmp_path, "charagram/figure-1", "--data", data, "--trained-only") == 0
    assert papers(tmp_path, "--pictures", tmp_path / "pictures") == 0
    assert "<svg" in (tmp_path / "pictures" / "charagram-figure-1.svg").read_text()

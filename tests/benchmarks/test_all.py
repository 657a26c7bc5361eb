"""The command that runs all benchmarks."""

import importlib.util
import json
import subprocess
import sys
from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path

import all as command
import pytest
from suite import machine, running, settings

SCRIPT = command.__file__


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["all.py", *map(str, arguments)])
    return command.main()


@pytest.mark.long
def test_a_smoke_run_measures_writes_a_page_and_compares(tmp_path, monkeypatch, capsys):
    """One process embeds with the model that ships, one hashes; the rest is the real thing."""
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    out = tmp_path / "out"
    flags = ["--quick", "--rounds", "2", "--only", "embed", "--out", str(out)]
    done = subprocess.run(
        [sys.executable, SCRIPT, *flags], capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stdout + done.stderr
    file = out / "benchmarks.json"
    found = json.loads(file.read_text(encoding="utf-8"))
    words = found["benchmarks"]["embed"]["result"]["words"]
    assert words["dims"]["english"] == 384
    assert len(words["english"]["values"]) == 2
    assert 0 < words["hashing"]["low"] <= words["hashing"]["high"]
    text = (out / "benchmarks.md").read_text(encoding="utf-8")
    assert "| words, english over hashing |" in text
    assert "english" in (out / "benchmarks.svg").read_text(encoding="utf-8")

    assert run(monkeypatch, "--page", "--compare", file, "--out", out) == 0
    assert (out / "benchmarks.md").read_text(encoding="utf-8") == text
    assert "0 slower, 0 faster, 3 within the spread." in capsys.readouterr().out

    for key in ("median", "low", "high"):
        words["hashing"][key] *= 10
    old = tmp_path / "old.json"
    old.write_text(json.dumps(found))
    assert run(monkeypatch, "--page", "--compare", old, "--out", out) == 1
    assert "Slower: embed: words, hashing: " in capsys.readouterr().out


class Parsed(Exception):
    """The flags were right."""


@pytest.mark.parametrize("name", settings.BENCHMARKS)
def test_each_benchmark_knows_its_settings(name, monkeypatch):
    """In one process, so that TensorFlow is imported once."""
    path = Path(SCRIPT).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", path)
    script = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, script)  # Dataclasses look themselves up.
    spec.loader.exec_module(script)
    parse = ArgumentParser.parse_known_args

    def parse_and_stop(parser, *rest):
        _, unknown = parse(parser, *rest)
        raise Parsed(" ".join(unknown))

    monkeypatch.setattr(ArgumentParser, "parse_known_args", parse_and_stop)
    for is_quick in (False, True):
        words = settings.command(name, 3, is_quick)
        monkeypatch.setattr(sys, "argv", [str(path), *words, "--json", "result.json"])
        with pytest.raises(Parsed, match=r"^(--data starter)?$"):  # `encoder_table` hands it on.
            script.main()


@pytest.mark.long
@pytest.mark.parametrize("name", ["ids", "train_step", "startup", "supervised"])
def test_what_has_aims_runs(name, tmp_path):
    running.write_small_data(tmp_path)
    record = running.run(name, _places(tmp_path), 2, True, 500)
    assert "result" in record, record


def _places(folder):
    parsed = command.make_parser().parse_args([])
    return settings.places(parsed, Path("nowhere"), folder)


def test_a_failure_is_kept_said_and_leaves_the_others_alone(tmp_path, monkeypatch, capsys):
    broken = replace(settings.BENCHMARKS["embed"], flags="--no-such-flag")
    needy = replace(settings.BENCHMARKS["peers"], needs=("DATA/none",))
    monkeypatch.setattr(settings, "BENCHMARKS", {"embed": broken, "peers": needy})
    assert run(monkeypatch, "--out", tmp_path) == 1
    said = capsys.readouterr().out
    assert "[1/2] embed failed: exit status 2: " in said
    assert "[2/2] peers skipped: there is no DATA/none" in said
    found = json.loads((tmp_path / "benchmarks.json").read_text(encoding="utf-8"))
    assert "unrecognized arguments: --no-such-flag" in found["benchmarks"]["embed"]["failed"]


def test_what_takes_too_long_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "FOLDER", tmp_path)
    (tmp_path / "embed.py").write_text("import time; print('begun', flush=True); time.sleep(600)")
    record = running.run("embed", _places(tmp_path), 1, False, 2)
    assert record["failed"].startswith("longer than 2 s: ")
    assert record["seconds"] < 60


def test_results_of_another_machine_are_not_mixed_in(tmp_path, monkeypatch):
    other = {"machine": {**machine.describe(), "cores": "999"}, "benchmarks": {}}
    (tmp_path / "benchmarks.json").write_text(json.dumps(other))
    with pytest.raises(SystemExit, match=r"of another machine or other versions: give another"):
        run(monkeypatch, "--only", "embed", "--out", tmp_path)

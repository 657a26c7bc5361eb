"""Each command, as a person or a script runs it."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys

import numpy as np
import pytest

from tests.commands import QUICK, call, process, run
from tf_charagram import __version__
from tf_charagram.cli import COMMANDS, main
from tf_charagram.data.sets import evaluation_sets
from tf_charagram.models.embedder import TextEmbedder

LINES = ["cat", "a cat", "", "tab\there", "caf\N{LATIN SMALL LETTER E WITH ACUTE}", "x" * 200]


def last_json(text):
    return json.loads(text.strip().splitlines()[-1])


@pytest.fixture(scope="module")
def embedder(trained):
    return TextEmbedder.load(trained.folder)


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    path = tmp_path_factory.mktemp("lines") / "lines.txt"
    path.write_bytes("".join(f"{line}\n" for line in LINES).encode())
    return path


@pytest.fixture(scope="module")
def ended(trained, tmp_path_factory):
    """Returns the exit status and output of a process of the same run, and its folder."""
    folder = tmp_path_factory.mktemp("process") / "words"
    module = (sys.executable, "-m", "tf_charagram.train")
    ended = run([*module, *trained.arguments, "--output", str(folder), "--json"], cwd=folder.parent)
    assert ended.returncode == 0, ended.stderr
    return ended, folder


class TestTrain:
    def test_json_is_the_last_line_and_the_only_one(self, ended):
        ended, folder = ended
        assert len(ended.stdout.splitlines()) == 1
        metrics = last_json(ended.stdout)
        assert metrics == json.loads((folder / "metrics.json").read_text())
        assert set(metrics["scores"]) == {"scored"}
        assert metrics["scores"]["scored"] == metrics["details"][0]["spearman"]
        assert metrics["num_pairs"] == 60
        assert metrics["steps"] == 12
        for name in ("pairs_per_second", "seconds", "training_seconds", "peak_memory_mb"):
            assert metrics[name] > 0

    def test_paths_exist(self, ended):
        ended, folder = ended
        paths = last_json(ended.stdout)["paths"]
        for name, path in paths.items():
            assert (folder.parent / path).exists(), name
        assert {"run", "model", "saved_model", "history", "metrics", "tensorboard"} <= set(paths)

    def test_what_a_person_sees(self, ended):
        errors = ended[0].stderr
        assert "60 pairs, " in errors
        assert "epoch 2.00" in errors and "pairs/s" in errors
        assert "Correlation x 100" in errors
        assert "Traceback" not in errors and "Warning" not in errors

    def test_history(self, trained):
        lines = (trained.folder / "history.jsonl").read_text().splitlines()
        records = [json.loads(line) for line in lines]
        assert [record["step"] for record in records] == [6, 12]
        assert [record["examples"] for record in records] == [60, 120]
        assert all(record["loss"] >= 0 for record in records)

    def test_config_says_everything(self, trained):
        config = json.loads((trained.folder / "config.json").read_text())
        assert config["settings"]["dim"] == 8 and config["settings"]["margin"] == 0.4
        assert config["versions"]["tf_charagram"] == __version__
        (checksum,) = config["data_files"].values()
        assert len(checksum) == 64

    @pytest.mark.long
    @pytest.mark.usefixtures("unexported")
    def test_hashed(self, data, tmp_path, capsys):
        arguments = [
            "--data",
            data[0],
            "--eval-data",
            data[1],
            *QUICK,
            "--output",
            tmp_path / "run",
        ]
        assert call("train", *arguments, "--hash-buckets", 64, "--json") == 0
        assert last_json(capsys.readouterr().out)["num_rows"] == 64


class TestEvaluate:
    def test_scores_are_those_of_training(self, trained, capsys):
        assert call("evaluate", trained.folder, "--eval-data", trained.scored, "--json") == 0
        found = last_json(capsys.readouterr().out)
        metrics = json.loads((trained.folder / "metrics.json").read_text())
        assert found["scores"] == metrics["scores"]
        assert found["details"] == metrics["details"]

    def test_starter_set(self, trained, capsys):
        assert call("evaluate", trained.folder, "--json") == 0
        found = last_json(capsys.readouterr().out)
        assert set(found["scores"]) == {pairs.name for pairs in evaluation_sets(None)}


class TestEmbed:
    def test_npy(self, trained, embedder, lines, tmp_path):
        out = tmp_path / "vectors.npy"
        arguments = ["--input", lines, "--output", out]
        assert call("embed", trained.folder, *arguments) == 0
        np.testing.assert_allclose(np.load(out), embedder.encode(LINES), rtol=0, atol=1e-6)
        assert list(tmp_path.iterdir()) == [out]

    def test_no_model_is_said_before_input_is_awaited(self, tmp_path, capsys, monkeypatch):
        monkeypatch.setattr("tf_charagram.bulk._shards.inputs.read_texts", lambda files: 1 / 0)
        assert call("embed", tmp_path) == 1
        assert "is not a model folder" in capsys.readouterr().err

    def test_npy_of_nothing(self, trained, embedder, tmp_path):
        (tmp_path / "empty").write_text("")
        out = tmp_path / "vectors.npy"
        assert call("embed", trained.folder, "--input", tmp_path / "empty", "--output", out) == 0
        assert np.load(out).shape == (0, embedder.dim)

    def check_tsv(self, text, embedder):
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter="\t"))
        assert [row[0] for row in rows] == LINES
        found = np.array([row[1:] for row in rows], np.float32)
        np.testing.assert_allclose(found, embedder.encode(LINES), rtol=1e-4, atol=1e-6)

    def test_jsonl(self, trained, embedder, lines, tmp_path):
        out = tmp_path / "vectors.jsonl"
        assert call("embed", trained.folder, "--input", lines, "--output", out) == 0
        records = [json.loads(line) for line in out.read_text().splitlines()]
        assert [record["text"] for record in records] == LINES
        found = np.array([record["embedding"] for record in records])
        np.testing.assert_allclose(found, embedder.encode(LINES), rtol=1e-4, atol=1e-6)

    @pytest.mark.parametrize("pack", [bytes, gzip.compress])
    def test_standard_input_to_standard_output(self, trained, embedder, lines, piped, capsys, pack):
        piped(pack(lines.read_bytes()))
        assert call("embed", trained.folder) == 0
        self.check_tsv(capsys.readouterr().out, embedder)

    @pytest.mark.long
    def test_a_reader_that_has_enough(self, trained, tmp_path):
        (tmp_path / "many").write_text("cat\n" * 5_000)
        command = " ".join(process("embed", trained.folder, "--input", tmp_path / "many"))
        ended = run(["bash", "-o", "pipefail", "-c", f"{command} | head -n 1"], cwd=tmp_path)
        assert ended.returncode == 0
        assert ended.stdout.startswith("cat\t")
        assert "Error" not in ended.stderr

    def test_several_files(self, trained, embedder, lines, tmp_path, capsys):
        (tmp_path / "more.txt").write_text("dog\nno end")
        inputs = ["--input", lines, "--input", tmp_path / "m*.txt"]
        out = tmp_path / "vectors.npy"
        assert call("embed", trained.folder, *inputs, "--output", out) == 0
        expected = embedder.encode([*LINES, "dog", "no end"])
        np.testing.assert_allclose(np.load(out), expected, rtol=0, atol=1e-6)
        said = capsys.readouterr().err
        assert said.startswith("8 lines in ") and said.endswith("1 of 8 texts empty\n")

    @pytest.mark.parametrize("flags", [[], ["--shard-lines", 4], ["--resume"]])
    def test_shards(self, trained, embedder, lines, tmp_path, flags):
        out = tmp_path / "out"
        arguments = ["--input", lines, "--output", out if flags else f"{out}/", *flags]
        assert call("embed", trained.folder, *arguments) == 0
        shards = sorted(out.glob("*.npy"))
        assert len(shards) == (2 if "--shard-lines" in flags else 1)
        found = np.concatenate([np.load(path) for path in shards])
        np.testing.assert_allclose(found, embedder.encode(LINES), rtol=0, atol=1e-6)
        # Now it exists, so it needs no slash to be known as a folder.
        arguments = ["--input", lines, "--output", out, *flags]
        assert call("embed", trained.folder, *arguments) == (0 if "--resume" in flags else 1)

    @pytest.mark.parametrize("slash", ["", "/"])
    def test_shards_of_parquet(self, trained, lines, tmp_path, slash):
        parquet = pytest.importorskip("pyarrow.parquet")
        out = f"{tmp_path}/out.parquet{slash}"
        assert call("embed", trained.folder, "--input", lines, "--output", out) == 0
        [shard] = (tmp_path / "out.parquet").glob("*.parquet")
        assert parquet.read_table(shard).num_rows == len(LINES)

    @pytest.mark.parametrize(
        ("flag", "output"),
        [("--resume", "a.npy"), ("--ray=2", "-"), ("--shard-lines=4", "a.tsv")],
    )
    def test_flags_for_shards_only(self, trained, lines, capsys, flag, output):
        assert call("embed", trained.folder, "--input", lines, "--output", output, flag) == 1
        message = f"{flag.partition('=')[0]} is for shards: give a folder with --output."
        assert message in capsys.readouterr().err

    def test_an_error_leaves_no_file(self, trained, lines, tmp_path, capsys, monkeypatch):
        monkeypatch.setattr("tf_charagram.cli.embed._FEW_LINES", 2)
        out, cut_off = tmp_path / "vectors.npy", tmp_path / "lines.gz"
        out.write_text("old")
        cut_off.write_bytes(gzip.compress(lines.read_bytes())[:-9])
        arguments = ["--input", lines, "--input", cut_off, "--output", out]
        assert call("embed", trained.folder, *arguments) == 1
        assert "vectors.npy exists. Add --overwrite" in capsys.readouterr().err
        assert call("embed", trained.folder, *arguments, "--overwrite") == 1
        assert "gzip data is truncated or damaged" in capsys.readouterr().err
        assert out.read_text() == "old" and {*tmp_path.iterdir()} == {out, cut_off}

    def test_columns_of_tables(self, trained, embedder, tmp_path, capsys):
        path, out = tmp_path / "x.csv", tmp_path / "vectors.npy"
        path.write_bytes("name;city\nCafé;Rome\nbad\n;Oslo\n".encode("utf-16"))
        command = ["embed", trained.folder, "--input", path, "--output"]
        flags = ["--on", "name,2", "--on-bad-line", "skip"]
        assert call(*command, out, *flags) == 0
        assert "skipped 1 bad line" in capsys.readouterr().err
        expected = embedder.encode(["Café Rome", "Oslo"])
        np.testing.assert_allclose(np.load(out), expected, rtol=1e-4, atol=1e-6)
        for arguments, message in (
            (
                [out, "--on", "nam", "--on-bad-line", "skip", "--overwrite"],
                "x.csv: Unknown column 'nam'. Did you mean 'nam",
            ),
            ([out, *flags], "vectors.npy exists. Add --overwrite"),
            ([f"{tmp_path}/shards/", *flags], "--on is for a file: .npy .tsv .jsonl. Received: "),
            (["-", "--input", "x.parquet"], "x.parquet is a table: name the columns of the texts"),
        ):
            assert call(*command, *arguments) == 1
            assert message in capsys.readouterr().err

    def test_an_input_is_not_overwritten(self, trained, tmp_path, capsys, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "lines.tsv").write_text("cat\n")
        (tmp_path / "link.tsv").symlink_to("lines.tsv")
        for out in ("lines.tsv", "./lines.tsv", "link.tsv"):
            assert call("embed", trained.folder, "--input", "*s.tsv", "--output", out) == 1
            assert f"error: {out} is read as well" in capsys.readouterr().err
        assert (tmp_path / "lines.tsv").read_text() == "cat\n"


class TestCharagram:
    @pytest.mark.parametrize("flag", ["--help", None])
    def test_help(self, capsys, flag, monkeypatch):
        monkeypatch.setattr(sys, "argv", ["charagram", *([flag] if flag else [])])
        assert main() == 0
        text = capsys.readouterr().out
        assert text.startswith("usage: charagram COMMAND")
        assert all(command in text for command in COMMANDS)

    def test_version(self, capsys):
        assert call("--version") == 0
        assert capsys.readouterr().out == f"tf-charagram {__version__}\n"

    def test_unknown_command(self, capsys):
        assert call("trian") == 2
        message = capsys.readouterr().err
        assert message.startswith("error: Unknown command 'trian'. Did you mean 'train'?")

    def test_runs_a_command(self, trained, capsys):
        assert call("evaluate", trained.folder, "--eval-data", trained.scored, "--json") == 0
        assert set(last_json(capsys.readouterr().out)["scores"]) == {"scored"}

    def test_module(self, tmp_path):
        ended = run(process("cli", "--version"), cwd=tmp_path)
        assert (ended.returncode, ended.stdout) == (0, f"tf-charagram {__version__}\n")

    @pytest.mark.parametrize("name", ["embed", "evaluate", "tag", "train"])
    def test_modules_are_commands(self, name, tmp_path):
        ended = run([sys.executable, "-m", f"tf_charagram.{name}", "--zzz"], cwd=tmp_path)
        assert ended.returncode == 2
        assert f"charagram {name}: error: unknown flag --zzz" in ended.stderr

    def test_help_wrong_flags_and_runs_need_no_tensorflow(self, trained, tmp_path):
        lines = [
            *([command, "--help"] for command in COMMANDS),
            ["train", "--encoder", "cse", "--help"],
            ["train", "--task", "similarity", "--init", "english", "--help"],
            ["train", "--task", "pos", "--encoder", "char_cnn", "--zzz"],
            ["runs", str(trained.folder)],
            ["runs", str(trained.folder.parent)],
        ]
        script = (
            f"import sys\nfrom tf_charagram.cli import main\nfor line in {lines}:\n"
            "    try: status = main(line)\n    except SystemExit as end: status = end.code\n"
            "    assert not {'tensorflow', 'keras'} & {*sys.modules}, line\n"
            "    assert (status or 0) == 2 * ('--zzz' in line), line\n"
        )
        ended = run([sys.executable, "-c", script], cwd=tmp_path)
        assert ended.returncode == 0, ended.stderr
        assert ended.stdout.count("--help") >= len(COMMANDS)
        assert "unknown flag --zzz" in ended.stderr

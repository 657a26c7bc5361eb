"""Bad input: every mistake gives one clear line and an exit status, never a traceback."""

from __future__ import annotations

import gzip
import json
import shutil

import numpy as np
import pytest

from tests.commands import QUICK, call
from tests.texts import words
from tf_charagram.errors import ConfigError
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig

NAMES = b"text1\ttext2\n"
GOOD = NAMES + "".join(f"{word}\t{word}s\n" for word in words(20)).encode()


@pytest.fixture
def train(data, tmp_path, capsys):
    """Returns a function that trains on some bytes; gives exit status and standard error."""

    def run(raw, *arguments, name="pairs.tsv", out="run"):
        (tmp_path / name).write_bytes(raw)
        eval_data = () if "--eval-data" in arguments else ("--eval-data", data[1])
        common = ["--data", tmp_path / name, *eval_data, *QUICK, "--epochs", "1"]
        status = call("train", *common, "--output", tmp_path / out, *arguments)
        return status, capsys.readouterr().err

    return run


def metrics(tmp_path):
    return json.loads((tmp_path / "run" / "metrics.json").read_text())


def assert_error(result, *parts, status=1):
    """Checks exit status and the parts of the error message."""
    found, message = result
    assert found == status, message
    assert "Traceback" not in message
    lines = [line for line in message.splitlines() if "error: " in line]
    assert len(lines) == 1, message
    for part in parts:
        assert part in lines[0]


class TestBadFiles:
    @pytest.mark.parametrize(
        ("raw", "parts"),
        [
            (b"\xef\xbb\xbf\n \r\n", ["pairs.tsv: no rows found: the file is empty"]),
            (GOOD + b"word\n", ["pairs.tsv:22: expected 2", "on_bad_line='skip'"]),
            (NAMES + b"a\tb\n \tb\n", ["Training needs at least 2 pairs", "Found: 1"]),
            (
                gzip.compress(GOOD * 50, mtime=0)[:-20],
                ["pairs.tsv:", "gzip data is truncated or damaged"],
            ),
        ],
        ids=["empty", "bad_line", "one_pair", "truncated_gzip"],
    )
    def test_error(self, train, tmp_path, raw, parts):
        assert_error(train(raw), *parts)
        # The same command works once the file is corrected.
        assert not (tmp_path / "run").exists()

    def test_a_bad_file_keeps_the_old_run(self, train, trained, tmp_path):
        shutil.copytree(trained.folder, tmp_path / "run")
        assert_error(train(b"one\n", "--overwrite"), "Tabs separate columns")
        assert_error(train(GOOD, "--overwrite", "--margin", "3"), "`margin` must be in [0, 2]")
        assert (tmp_path / "run" / "metrics.json").is_file()


class TestOddFiles:
    """These train; one file has many oddities, because each training takes seconds."""

    def test_odd_lines(self, train, tmp_path):
        odd = [
            b"nul\0\tn\0ul",
            b"long \t" + b"word " * 200_000,
            b"same\tsame",
            "\U0001f600\t\u05e9\u05dc\u05d5\u05dd".encode(),
            b" \tempty",
            b"empty\t",
            b"\t",
        ]
        raw = b"\xef\xbb\xbf" + GOOD + b"\n" + b"\n".join(odd) + b"\n"
        status, message = train(raw.replace(b"\n", b"\r\n"))
        assert status == 0, message
        assert metrics(tmp_path)["empty_pairs_left_out"] == 3
        assert metrics(tmp_path)["num_pairs"] == 24
        embedder = TextEmbedder.load(tmp_path / "run")
        assert np.isfinite(embedder.encode([line.decode("utf-8", "replace") for line in odd])).all()
        texts = (tmp_path / "run" / "texts.txt").read_bytes()
        assert b"\xef\xbb\xbf" not in texts and b"\r" not in texts

    @pytest.mark.usefixtures("unexported")
    def test_one_pair_many_times(self, train, tmp_path):
        """No text has a negative, so there is nothing to learn."""
        status, message = train(NAMES + b"cat\tcats\n" * 25)
        assert status == 0, message
        assert np.isfinite(TextEmbedder.load(tmp_path / "run").encode(["cat", "dog"])).all()

    @pytest.mark.usefixtures("unexported")
    def test_skipped_lines_are_counted(self, train, tmp_path):
        raw = GOOD + b"one\na\tb\tc\ncaf\xe9\tx\n"
        status, message = train(gzip.compress(raw), "--on-bad-line", "skip")
        assert status == 0, message
        assert metrics(tmp_path)["bad_lines_skipped"] == 3
        assert metrics(tmp_path)["num_pairs"] == 20


class TestSettings:
    @pytest.mark.parametrize(
        ("flag", "value", "parts"),
        [
            ("--data", "startr", ["Unknown file or data set 'startr'. Did you mean 'starter'?"]),
            ("--dim", "0", ["`dim` must be at least 1", "dim=0"]),
            ("--batch-size", "1", ["`batch_size` must be at least 2; the negatives", "size=1"]),
            ("--epochs", "0", ["`epochs` must be at least", "epochs=0"]),
            ("--learning-rate", "0", ["`learning_rate` must be above 0", "0.0"]),
            ("--ngrams", "2,9", ["n-gram orders must be integers from 1 to 8", "(2, 9)"]),
            ("--min-count", "10000", ["occurs 10000 times or more. Lower `min_count`"]),
            ("--seed", "-1", ["`seed` must be at least 0", "seed=-1"]),
        ],
    )
    def test_value(self, train, tmp_path, flag, value, parts):
        assert_error(train(GOOD, f"{flag}={value}"), *parts)
        assert not (tmp_path / "run").exists()

    @pytest.mark.parametrize("name", ["epochs", "learning_rate"])
    @pytest.mark.parametrize("value", [float("inf"), float("nan")])
    def test_not_finite(self, train, name, value):
        with pytest.raises(ConfigError, match=rf"`{name}` must .*Received: {name}={value}"):
            ParaphraseConfig(**{name: value})
        flag = "--" + name.replace("_", "-")
        status, message = train(GOOD, f"{flag}={value}")
        assert status == 2 and f"Got value: {value}" in message

    def test_a_loss_that_is_not_finite(self, train, tmp_path):
        result = train(GOOD, "--learning-rate", "1e38")
        assert_error(result, "not finite at step 1", "Try a smaller --learning-rate")
        assert str(tmp_path / "run" / "checkpoints") in result[1]
        assert not (tmp_path / "run" / "model").exists()

    def test_weights_that_are_too_large(self, train, tmp_path):
        """Outputs of tanh are always finite, so the loss stays finite too."""
        result = train(GOOD, "--learning-rate", "1e38", "--activation", "tanh")
        assert_error(result, "The weights have grown up to", "Try a smaller --learning-rate")
        assert "Warning" not in result[1]
        assert not (tmp_path / "run" / "model").exists()


class TestOutputFolder:
    @pytest.fixture
    def old(self, trained, tmp_path):
        """Returns a copy of a finished run."""
        shutil.copytree(trained.folder, tmp_path / "run")
        return tmp_path / "run"

    def test_exists(self, train, old):
        before = (old / "metrics.json").read_bytes()
        result = train(GOOD)
        assert_error(result, f"{old} exists. Add --resume to go on with it, --overwrite to start")
        assert (old / "metrics.json").read_bytes() == before

    def test_resume_with_other_settings(self, trained, old, capsys):
        arguments = [*trained.arguments, "--output", old, "--resume", "--margin", "0.5", "--dim", 9]
        result = call("train", *arguments), capsys.readouterr().err
        parts = ["was started with other settings", "dim was 8, is 9", "margin was 0.4, is 0.5"]
        assert_error(result, *parts, "Resume with the same, or give another --output.")

    @pytest.mark.usefixtures("unexported")
    def test_resume_with_other_data(self, tmp_path, train):
        status, message = train(GOOD)
        assert status == 0, message
        result = train(GOOD + b"x\ty\n", "--resume")
        assert_error(result, "was started with other settings", "pairs.tsv has changed")

    def test_a_file_is_in_the_way(self, train, tmp_path):
        (tmp_path / "run").write_text("x")
        assert_error(train(GOOD), "run is a file. Give a folder with --output.")


class TestModelFolder:
    @pytest.mark.parametrize("command", ["evaluate", "embed"])
    def test_no_model(self, tmp_path, capsys, command):
        result = call(command, tmp_path / "nothing"), capsys.readouterr().err
        assert_error(result, "nothing is not a model folder: it has no config.json")

    def test_missing_input(self, trained, tmp_path, capsys):
        arguments = ["--input", tmp_path / "nothing", "--output", tmp_path / "vectors.npy"]
        result = call("embed", trained.folder, *arguments), capsys.readouterr().err
        assert_error(result, "nothing: cannot be read: No such file or directory")
        assert not list(tmp_path.iterdir())

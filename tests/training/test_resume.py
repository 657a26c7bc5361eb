"""A run that was stopped, however it was, goes on to the weights it would have had anyway."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from tests.commands import (
    assert_same_weights,
    call,
    environment,
    full_disk,
    has_gpu,
    interrupt_training_at,
    leave_out_export,
    process,
)
from tests.variants import some_now
from tf_charagram.errors import TrainingError
from tf_charagram.tasks import make_task
from tf_charagram.tasks.paraphrase._corpus.pair_stream import PairStream
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.training.run import TrainingRun

# 60 pairs in batches of 2 are 30 steps per epoch, with 2 checkpoints each.
LONG = (
    "--dim", "8", "--epochs", "2", "--batch-size", "2", "--evaluations-per-epoch", "2",
    "--negatives", "mix", "--seed", "3", "--activation", "tanh", "--num-layers", "2", "--l2",
    "1e-4", "--checkpoint-every-s", "0",
)  # fmt: skip
TOTAL = 60

pytestmark = pytest.mark.usefixtures("optimized_graphs")


@pytest.fixture(scope="module")
def arguments(data):
    return ["--data", str(data[0]), "--eval-data", str(data[1]), *LONG]


@pytest.fixture(scope="module")
def whole(arguments, tmp_path_factory, optimized_graphs):
    """Returns the folder of a run that was never stopped."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    with pytest.MonkeyPatch.context() as patch:
        leave_out_export(patch)
        assert call("train", *arguments, "--output", folder) == 0
    return folder


def history(folder):
    return [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]


def assert_same_run(folder, whole):
    assert_same_weights(folder, whole)
    # Scores of weights that differ by rounding, as they do on a GPU, may differ visibly.
    scores_differ = has_gpu()
    others = {"loss": 0, "seconds": 0}
    if scores_differ:
        others["scores"] = 0
    for old, new in zip(history(whole), history(folder), strict=True):
        assert {**new, **others} == {**old, **others}
        assert new["loss"] == pytest.approx(old["loss"], rel=1e-4)
    seconds = [record["seconds"] for record in history(folder)]
    assert seconds == sorted(seconds)
    expected, found = (json.loads((f / "metrics.json").read_text()) for f in (whole, folder))
    assert scores_differ or found["details"] == expected["details"]
    assert found["steps"] == TOTAL
    assert not list(folder.rglob("*.part"))


@pytest.mark.usefixtures("unexported")
def test_checkpoints_are_as_far_apart_as_asked_for(arguments, tmp_path):
    """A short run leaves the one of its end, from which a longer one can go on."""
    arguments = [*arguments, "--checkpoint-every-s", "1000", "--output", tmp_path / "run"]
    assert call("train", *arguments) == 0
    (index,) = (tmp_path / "run" / "checkpoints").glob("*.index")
    assert index.name == f"ckpt-{TOTAL}.index"


def start(arguments, folder, **kwargs):
    """Starts a run and returns it once its first checkpoint is complete."""
    child = subprocess.Popen(
        process("train", *arguments, "--output", folder), cwd=folder.parent, env=environment(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kwargs,
    )  # fmt: skip
    deadline = time.monotonic() + 300
    while not list(folder.glob("checkpoints/*.index")):
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return child


@pytest.mark.usefixtures("unexported")
def test_interrupted(arguments, whole, tmp_path):
    folder = tmp_path / "run"
    with start(arguments, folder) as child:
        child.send_signal(signal.SIGINT)
        output, errors = child.communicate(timeout=300)
    assert child.returncode == 130, errors
    assert "Traceback" not in errors
    message = " ".join(output.split())
    assert f"of {TOTAL}; the state is saved" in message
    assert "To resume: the same command with --output" in message and "--resume" in message
    assert call("train", *arguments, "--output", folder, "--resume") == 0
    assert_same_run(folder, whole)


@pytest.mark.long
@pytest.mark.usefixtures("unexported")
@pytest.mark.parametrize("step", [7, TOTAL])
def test_interrupted_at_any_step(arguments, whole, tmp_path, monkeypatch, step):
    """Also right before an evaluation, and before that of the last step."""
    folder = tmp_path / "run"
    interrupt_training_at(monkeypatch, step)
    assert call("train", *arguments, "--output", folder) == 130
    assert (folder / "checkpoints" / f"ckpt-{step}.index").is_file()
    monkeypatch.undo()
    assert call("train", *arguments, "--output", folder, "--resume") == 0
    assert_same_run(folder, whole)


@pytest.mark.usefixtures("unexported")
def test_interrupted_before_the_first_step(arguments, tmp_path, monkeypatch, capsys):
    """Nothing is saved yet, and nothing is said to be."""

    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(PairStream, "open", interrupted)
    assert call("train", *arguments, "--output", tmp_path / "run") == 130
    said = " ".join(capsys.readouterr().out.split())
    assert "Stopped before the first step. To resume: the same command with --output" in said
    assert "saved" not in said


def test_a_finished_run_stays_as_it_is(arguments, whole, tmp_path):
    shutil.copytree(whole, tmp_path / "run")
    # A folder that was moved is the same run, and its former end is forgotten.
    (tmp_path / "run" / "problem.txt").write_text("The loss is not finite.")
    assert call("train", *arguments, "--output", tmp_path / "run", "--resume") == 0
    assert_same_run(tmp_path / "run", whole)
    assert not (tmp_path / "run" / "problem.txt").exists()


def test_a_finished_run_without_checkpoints(arguments, whole, tmp_path, capsys):
    """It would begin again, and overwrite its results."""
    folder = Path(shutil.copytree(whole, tmp_path / "run"))
    shutil.rmtree(folder / "checkpoints")
    assert call("train", *arguments, "--output", folder, "--resume") == 1
    assert "has ended, and its checkpoints are gone" in " ".join(capsys.readouterr().err.split())
    assert_same_run(folder, whole)


@pytest.mark.usefixtures("unexported")
class TestDamagedCheckpoints:
    @pytest.fixture
    def stopped(self, whole, tmp_path):
        """Returns a run with two checkpoints that ends after them."""
        folder = tmp_path / "run"
        shutil.copytree(whole, folder)
        shutil.rmtree(folder / "model")
        (folder / "metrics.json").unlink()
        return folder

    def cut(self, folder, pattern):
        files = sorted((folder / "checkpoints").glob(pattern))
        assert files
        for file in files:
            file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])

    @pytest.mark.parametrize("suffix", some_now(["data*", "index"], "data*"))
    def test_falls_back_to_the_one_before(self, arguments, stopped, whole, suffix, caplog):
        self.cut(stopped, f"ckpt-{TOTAL}.{suffix}")
        assert call("train", *arguments, "--output", stopped, "--resume") == 0
        assert f"ckpt-{TOTAL} cannot be read" in caplog.text
        assert "trying an older" in caplog.text
        assert_same_run(stopped, whole)

    def test_what_a_killed_process_left_is_deleted(self, arguments, stopped, whole):
        """Parts of a checkpoint, and older ones that it had no time to delete."""
        checkpoints = stopped / "checkpoints"
        for path in checkpoints.glob(f"ckpt-{TOTAL}.*"):
            path.rename(path.with_name(path.name.replace(str(TOTAL), "7")))
        (checkpoints / "ckpt-50_temp").mkdir()
        (checkpoints / "ckpt-50_temp" / "part-00000-of-00001.data-00000-of-00001").write_text("x")
        (checkpoints / "ckpt-50.data-00000-of-00001").write_text("x")
        (checkpoints / "notes.txt").write_text("of somebody else")
        assert call("train", *arguments, "--output", stopped, "--resume") == 0
        names = {path.name for path in checkpoints.iterdir()}
        assert names == {path.name for path in (whole / "checkpoints").iterdir()} | {"notes.txt"}
        assert_same_run(stopped, whole)

    def test_none_can_be_read(self, arguments, stopped, capsys):
        self.cut(stopped, "ckpt-*")
        before = (stopped / "history.jsonl").read_bytes()
        assert call("train", *arguments, "--output", stopped, "--resume") == 1
        message = capsys.readouterr().err
        assert "error: None of the 2 checkpoints in" in message
        assert "can be read. Start again with --overwrite." in message
        assert (stopped / "history.jsonl").read_bytes() == before


@pytest.mark.parametrize("bytes_allowed", some_now([40_000, 120_000], 40_000))
def test_full_disk(arguments, whole, tmp_path, bytes_allowed, capsys):
    """A file may not grow past a limit, as if the disk were full; then there is room again."""
    folder = tmp_path / "run"
    with full_disk(bytes_allowed):
        assert call("train", *arguments, "--output", folder) == 1
    errors = capsys.readouterr().err
    assert "Traceback" not in errors
    last = errors.strip().splitlines()[-1]
    assert last.startswith("error: Cannot ")
    assert "--resume" in last
    assert not (folder / "metrics.json").exists()
    assert call("train", *arguments, "--output", folder, "--resume") == 0
    assert_same_run(folder, whole)


@pytest.mark.long
@pytest.mark.usefixtures("unexported")
def test_select_keeps_the_best_also_after_a_resume(data, tmp_path, monkeypatch):
    # The better the model, the worse it does here, so the first evaluation is the best.
    rows = [line.split("\t") for line in data[1].read_text().splitlines()]
    against = "".join(f"{left}\t{right}\t{-float(score)}\n" for left, right, score in rows)
    (tmp_path / "against.tsv").write_text(against)
    arguments = [
        "--data", data[0], "--eval-data", tmp_path / "against.tsv", "--dim", 8, "--epochs", 2,
        "--batch-size", 10, "--evaluations-per-epoch", 2, "--learning-rate", 0.3, "--select",
        "against",
    ]  # fmt: skip
    assert call("train", *arguments, "--output", tmp_path / "a") == 0
    scores = [record["scores"]["against"] for record in history(tmp_path / "a")]
    assert scores[-1] < max(scores) == scores[0]
    metrics = json.loads((tmp_path / "a" / "metrics.json").read_text())
    assert metrics["scores"]["against"] == max(scores)
    interrupt_training_at(monkeypatch, 7)
    assert call("train", *arguments, "--output", tmp_path / "b") == 130
    monkeypatch.undo()
    assert call("train", *arguments, "--output", tmp_path / "b", "--resume") == 0
    assert_same_weights(tmp_path / "b", tmp_path / "a")


def test_a_loss_that_is_not_finite(data, tmp_path, capsys):
    config = ParaphraseConfig(
        data=(str(data[0]),), eval_data=str(data[1]), output=str(tmp_path / "run"), dim=8, epochs=1,
        batch_size=10, evaluations_per_epoch=1,
    )  # fmt: skip
    training = TrainingRun(make_task(config), resume=False, overwrite=False)
    bias = training.model.encoder.bias
    bias.assign(np.full(bias.shape, np.nan))
    with pytest.raises(TrainingError, match=r"not finite at step 0\..*smaller --learning-rate"):
        training.run(resume=False)
    assert "smaller --learning-rate" in (tmp_path / "run" / "problem.txt").read_text()
    assert call("runs", tmp_path / "run") == 0
    assert "diverged" in capsys.readouterr().out

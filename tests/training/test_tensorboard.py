"""The scalars that TensorBoard reads."""

from __future__ import annotations

import json

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util.tensor_util import make_ndarray

from tests.commands import full_disk
from tf_charagram.errors import RunError
from tf_charagram.training._loop.progress import Scalars


def read_scalars(folder):
    events = EventAccumulator(str(folder))
    events.Reload()
    return {
        name: {e.step: make_ndarray(e.tensor_proto).item() for e in events.Tensors(name)}
        for name in events.Tags()["tensors"]
    }


def test_scalars(tmp_path):
    scalars = Scalars(tmp_path)
    scalars.write(3, {"loss": 0.5, "SL999": None})
    scalars.write(7, {"loss": 0.25, "SL999": 70.6})
    assert read_scalars(tmp_path) == {
        "loss": {3: 0.5, 7: 0.25},
        "SL999": {7: pytest.approx(70.6)},
    }


def test_steps_that_are_trained_again(tmp_path):
    """TensorBoard shows each point once, whatever a run wrote before it was stopped."""
    for step in (3, 7):
        Scalars(tmp_path).write(step, {"loss": 9.0})
    history = [{"step": 3, "loss": 0.5, "scores": {"SL999": None}}, {"step": 5, "loss": 0.25}]
    Scalars(tmp_path, history).write(7, {"loss": 0.125})
    assert len(list(tmp_path.iterdir())) == 1
    assert read_scalars(tmp_path) == {"loss": {3: 0.5, 5: 0.25, 7: 0.125}}


def test_full_disk(tmp_path):
    with full_disk(0), pytest.raises(RunError, match=r"Cannot write .*logs: .* Free some space"):
        Scalars(tmp_path / "logs").write(1, {"loss": 0.5})
    scalars = Scalars(tmp_path / "more")
    with full_disk(200), pytest.raises(RunError, match=r"Cannot write .*more: .* Free some space"):
        for step in range(100):
            scalars.write(step, {"loss": 0.5})


def test_scalars_of_a_run_are_its_history(trained):
    history = [
        json.loads(line) for line in (trained.folder / "history.jsonl").read_text().splitlines()
    ]
    scalars = read_scalars(trained.folder / "tensorboard")
    assert set(scalars) == {"loss", "scored"}
    assert list(scalars["loss"]) == [record["step"] for record in history]
    for record in history:
        assert scalars["loss"][record["step"]] == pytest.approx(record["loss"])
        assert scalars["scored"][record["step"]] == pytest.approx(record["scores"]["scored"])

"""Checkpoints on damaged and full disks, and which weights a run keeps."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
import tensorflow as tf

from tests.commands import full_disk
from tf_charagram.errors import RunError
from tf_charagram.training._loop.checkpoints import Checkpoints, KeptModel
from tf_charagram.training._loop.run_folder import RunFolder
from tf_charagram.training.settings import LAST


def test_unreadable_newer_ones_do_not_push_out_a_new_one(tmp_path):
    """One is fallen back to, and the next is written, while a newer one is damaged."""
    for step in (3, 6):
        Checkpoints(tmp_path, [tf.Variable(float(step))]).save(step)
    (tmp_path / "ckpt-6.index").write_bytes(b"")
    value = tf.Variable(0.0)
    checkpoints = Checkpoints(tmp_path, [value])
    assert checkpoints.restore_latest() == str(tmp_path / "ckpt-3")
    assert len(list(tmp_path.glob("*.index"))) == 2
    checkpoints.save(4)
    value.assign(0.0)
    assert checkpoints.restore_latest() == str(tmp_path / "ckpt-4")
    assert value.numpy() == 3.0
    assert {path.stem for path in tmp_path.iterdir()} == {"ckpt-3", "ckpt-4"}


def test_full_disk(tmp_path):
    """TensorFlow opens the index, and may then find no room for its content."""
    value = tf.Variable(np.zeros(1000))
    for allowed in range(0, 12_000, 400):
        folder = tmp_path / str(allowed)
        checkpoints = Checkpoints(folder, [value])
        try:
            with full_disk(allowed):
                checkpoints.save(1)
        except RunError as error:
            assert str(error).startswith("Cannot ")
            assert checkpoints.restore_latest() is None
            assert not list(folder.iterdir())
        else:
            assert checkpoints.restore_latest() is not None
            break
    assert 8000 < allowed


@dataclass
class Product:
    """Counts evaluations; saving records the count."""

    number: int = 0
    saved: list[int] = field(default_factory=list)

    def save(self, path):
        path.mkdir(exist_ok=True)
        self.saved.append(self.number)


def kept(folder, select, scores):
    """Returns the evaluations after which a run with these scores saved its model."""
    product = Product()
    model = KeptModel(product, folder, select)
    for product.number, score in enumerate(scores, 1):
        model.update({"dev": score}, is_last=product.number == len(scores))
        folder.append_history({"step": product.number, "scores": {"dev": score}})
    return product.saved


@pytest.mark.parametrize(
    ("select", "scores", "saved"),
    [
        ("dev", [1.0, 3.0, 2.0, 4.0], [1, 2, 4]),
        ("dev", [1.0, 1.0], [1]),
        ("dev", [None, -1.0, None], [1, 2]),
        ("dev", [None, None, None], [1, 2, 3]),
        (LAST, [3.0, 2.0, 1.0], [3]),
    ],
    ids=str,
)
def test_kept_weights(select, scores, saved, tmp_path):
    assert kept(RunFolder(tmp_path), select, scores) == saved


@pytest.mark.parametrize(("select", "saved"), [("dev", []), (LAST, [9])])
def test_ended_early(select, saved, tmp_path):
    """The best stays; without any, the last weights are better than nothing."""
    folder = RunFolder(tmp_path)
    kept(folder, "dev", [1.0, 0.5])
    product = Product(9)
    KeptModel(product, folder, select).end_early()
    assert product.saved == saved
    folder.model.rmdir()
    KeptModel(product, folder, "dev").end_early()
    assert product.saved == [*saved, 9]


def test_scores_of_none(tmp_path, caplog):
    kept(RunFolder(tmp_path), "dev", [None])
    assert "`dev` never had a score; the last weights are kept" in caplog.text

"""The trials in TensorBoard's HParams table."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import tensorflow as tf
from tensorboard.plugins.hparams import api

from tf_charagram.files.writing import tensorflow_writing
from tf_charagram.tuning.results import Result
from tf_charagram.tuning.search import Search
from tf_charagram.tuning.spaces import label


def write_hparams(folder: Path, search: Search, result: Result) -> None:
    """Writes what a trial varied and its scores.

    Args:
        folder: The log folder of the trial; what is there is replaced.
        search: The search.
        result: What came of the trial.

    Raises:
        RunError: It cannot be written, for instance because the disk is full.
    """
    shutil.rmtree(folder, ignore_errors=True)
    with tensorflow_writing(folder):
        writer = tf.summary.create_file_writer(str(folder))
        with writer.as_default(step=0):
            values = {name: _plain(result.values[name]) for name in search.space}
            api.hparams(values, trial_id=result.id)
            for name, score in {"score": result.score, **result.scores}.items():
                if score is not None:
                    tf.summary.scalar(name, score)
        writer.close()


def _plain(value: Any) -> bool | int | float | str:
    return value if isinstance(value, bool | int | float | str) else label(value)

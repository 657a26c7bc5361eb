"""Batches of labelled examples have like lengths where that saves padding."""

from __future__ import annotations

import numpy as np
import pytest

from tf_charagram.tasks import make_task
from tf_charagram.tasks.supervised_settings import SupervisedConfig
from tf_charagram.tasks.tagging.settings import TaggingConfig
from tf_charagram.training.run import TrainingRun

CONFIGS = {
    "pos": TaggingConfig(dim=4, lstm_dim=4, hidden_dim=4),
    "similarity": SupervisedConfig(task="similarity", encoder="cse", dim=6),
    "sentiment": SupervisedConfig(task="sentiment", encoder="cse", dim=6),
}


def lengths_of(task):
    """Returns the number of words of each example, of the longer side of pairs."""
    if task.config.task == "pos":
        return np.array([len(sentence.words) for sentence in task.sentences])
    sides = [task.sides(examples) for examples in task.examples]
    return np.array([
        max(len(text.split()) for text in texts)
        for side in sides for texts in zip(*side, strict=True)
    ])  # fmt: skip


def mean_spread(config, out):
    """Returns the spread of the lengths in a batch, on average."""
    run = TrainingRun(make_task(config.replace(out=str(out))), resume=False, overwrite=False)
    lengths = lengths_of(run.task)
    return np.mean([np.ptp(lengths[batch]) for batch in run.stream.epoch(0)])


@pytest.mark.parametrize("task", CONFIGS)
def test_they_can_be_drawn_at_random(task, tmp_path):
    config = CONFIGS[task]
    at_random = mean_spread(config.replace(batches_by_length=False), tmp_path / "random")
    assert mean_spread(config, tmp_path / "run") < at_random / 2


def test_without_padding_they_always_are(tmp_path):
    config = CONFIGS["similarity"].replace(encoder="charagram")
    spread = mean_spread(config, tmp_path / "run")
    assert spread == mean_spread(config.replace(batches_by_length=False), tmp_path / "random")

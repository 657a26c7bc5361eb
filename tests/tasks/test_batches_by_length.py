"""Batches of labelled examples have similar lengths if that saves padding."""

from __future__ import annotations

import numpy as np
import pytest

from tf_charagram.tasks import make_settings, make_task
from tf_charagram.training.run import TrainingRun


@pytest.mark.parametrize(
    ("task", "encoder", "are_similar"),
    [("pos", "charagram", True), ("similarity", "cse", True), ("similarity", "charagram", False)],
)
def test_spread_of_lengths(task, encoder, are_similar, tmp_path):
    config = make_settings(task, encoder=encoder, dim=6, hidden_dim=4, output=str(tmp_path / "run"))
    run = TrainingRun(make_task(config), resume=False, overwrite=False)
    if task == "pos":
        lengths = np.array([len(sentence.words) for sentence in run.task.sentences])
    else:
        (examples,) = run.task.examples
        sides = run.task.sides(examples)
        lengths = np.array(
            [max(map(len, map(str.split, pair))) for pair in zip(*sides, strict=True)]
        )
    (segment,) = run.stream.segments(0, run.stream.steps_per_epoch)
    spread = np.mean([np.ptp(lengths[batch]) for batch in run.stream._rows(segment)])
    shuffled = np.random.default_rng(0).permutation(len(lengths))
    batches = np.array_split(shuffled, -(-len(shuffled) // run.stream.step_size))
    at_random = np.mean([np.ptp(lengths[batch]) for batch in batches])
    assert (spread < at_random / 2) == are_similar

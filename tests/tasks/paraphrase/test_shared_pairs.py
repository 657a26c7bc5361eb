"""Pairs that several runs share."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.pipeline.corpus import PairCorpus
from tf_charagram.tasks import make_task, task_class
from tf_charagram.tasks.paraphrase import task as paraphrase
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.training.run import TrainingRun


@pytest.fixture
def config(data, tmp_path):
    return ParaphraseConfig(
        data=(str(data[0]),), eval_data=str(data[1]), dim=8, epochs=1, batch_size=10,
        evaluations_per_epoch=1, out=str(tmp_path / "run"),
    )  # fmt: skip


def shared(config):
    """Returns the task of a run that has read its pairs."""
    task = task_class(config.task)(config, BadLines(config.on_bad_line))
    task.read()
    return task


def trained(config, out, previous=None):
    config = config.replace(out=str(out))
    run = TrainingRun(make_task(config), resume=False, overwrite=False, previous=previous)
    run.run(resume=False, export=False)
    return run


def test_runs_are_the_same_as_alone(config, tmp_path, monkeypatch):
    others = {"batch_size": 7, "negatives": "mix", "dim": 5, "file_order_first": False}
    settings = [{}, others]
    alone = [
        trained(config.replace(**one), tmp_path / f"alone{index}")
        for index, one in enumerate(settings)
    ]
    first = shared(config)
    passes = []
    read = PairCorpus.__iter__
    monkeypatch.setattr(PairCorpus, "__iter__", lambda self: passes.append(1) or read(self))
    for index, one in enumerate(settings):
        together = trained(config.replace(**one), tmp_path / f"{index}", first)
        assert together.task.pairs is first.pairs
        for weight, other in zip(
            together.model.encoder.weights, alone[index].model.encoder.weights, strict=True
        ):
            np.testing.assert_array_equal(weight, other)
    assert len(passes) == 1


@pytest.mark.parametrize(
    "settings",
    [{"ngrams": (2, 3)}, {"min_count": 2}, {"seed": 1}, {"encoder": "word_average"}],
)
def test_what_does_not_fit_is_read_anew(config, tmp_path, settings):
    first = shared(config)
    other = config.replace(**settings)
    assert not first.fits(other)
    other = other.replace(out=str(tmp_path / "other"))
    run = TrainingRun(make_task(other), resume=False, overwrite=False, previous=first)
    assert run.task.pairs is not first.pairs


def test_every_setting_is_known():
    fields = {field.name for field in dataclasses.fields(ParaphraseConfig)}
    assert set(paraphrase._NOT_IN_IDS) < fields


@pytest.mark.long
def test_ids_in_files_are_not_shared(config, tmp_path):
    config = config.replace(max_ids_in_memory=300)
    first = shared(config)
    runs = [trained(config, tmp_path / name, first) for name in ("one", "two")]
    assert runs[0].stream.store is not runs[1].stream.store
    assert runs[0].stream.store.num_blocks > 1
    for weight, other in zip(*(run.model.encoder.weights for run in runs), strict=True):
        np.testing.assert_array_equal(weight, other)

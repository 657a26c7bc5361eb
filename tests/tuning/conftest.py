"""A small search, and one whose trials are not trained."""

from __future__ import annotations

from pathlib import Path

import pytest

from tf_charagram._files.json_files import write_json
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.training._loop.run_folder import RunFolder
from tf_charagram.tuning._search.search import Search, SearchFolder, TuneConfig
from tf_charagram.tuning._search.trials import TrialTuner

SPACE = {"batch_size": (10, 20), "l2": (1e-4, 1e-5)}


@pytest.fixture
def search(data) -> Search:
    """Returns a search of four combinations."""
    config = ParaphraseConfig(
        data=(str(data[0]),), eval_data=str(data[1]), select="scored", dim=8, epochs=1,
        evaluations_per_epoch=2,
    )  # fmt: skip
    return Search(config, SPACE, TuneConfig())


@pytest.fixture
def folder(search, tmp_path) -> SearchFolder:
    """Returns the folder of the search, begun."""
    folder = SearchFolder(tmp_path / "search")
    folder.begin(search.identity())
    return folder


def score_of(batch_size: int, l2: float = 1e-5) -> float:
    """Returns the score that a trial of these settings has, if it is not trained."""
    return batch_size + 1e5 * l2


@pytest.fixture
def untrained(monkeypatch) -> list[str]:
    """Replaces training; returns the trials that would have been trained, in order."""
    trained: list[str] = []

    def train(self: TrialTuner, config: ParaphraseConfig) -> None:
        folder = RunFolder(str(config.output))
        if folder.metrics.is_file():
            return
        trained.append(folder.path.name)
        folder.path.mkdir(parents=True, exist_ok=True)
        for part in (1, 2):
            scores = {"scored": score_of(config.batch_size, config.l2) + part - 2}
            record = {"epoch": config.epochs * part / 2, "seconds": part, "scores": scores}
            folder.append_history({"step": part, **record})
        Path(folder.model).mkdir(exist_ok=True)
        write_json(folder.metrics, {"scores": scores})

    monkeypatch.setattr(TrialTuner, "_train", train)
    return trained

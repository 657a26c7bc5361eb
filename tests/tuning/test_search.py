"""A search as settings: shared and varied ones, and those in files."""

from __future__ import annotations

import dataclasses
import json

import pytest

from tf_charagram.errors import ConfigError, RunError
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.tuning.search import Search, SearchFolder
from tf_charagram.tuning.spaces import label, wide_space


def test_a_trial_has_its_values(search, tmp_path):
    config = search.trial_config({"batch_size": 20, "l2": 1e-5}, tmp_path)
    assert (config.batch_size, config.l2, config.out) == (20, 1e-5, str(tmp_path))
    assert (config.select, config.epochs, config.dim) == ("scored", 1, 8)
    assert search.trial_config({}, tmp_path, epochs=3).epochs == 3


def test_the_final_score_is_that_of_the_last_weights(search, tmp_path):
    final = dataclasses.replace(search, objective="final")
    assert final.trial_config({}, tmp_path).select == "last"


def test_the_winner_has_all_of_its_epochs(search, tmp_path):
    short = dataclasses.replace(search, config=search.config.replace(max_minutes=1.0))
    assert short.trial_config({}, tmp_path).max_minutes == 1.0
    assert short.final_config({}, tmp_path, 50).max_minutes is None


def test_trials_may_see_a_share_of_the_pairs_and_the_winner_sees_all(search, tmp_path):
    config = dataclasses.replace(search.config, data=("a.tsv", "b.tsv"), data_weights=(1.0, 2.0))
    half = dataclasses.replace(search, config=config, share=0.5)
    assert half.trial_config({}, tmp_path).data_weights == (0.5, 1.0)
    winner = half.final_config({"l2": 1e-5}, tmp_path, 50)
    assert (winner.data_weights, winner.epochs, winner.l2) == ((1.0, 2.0), 50, 1e-5)


def test_values_of_labels_and_numbers():
    space = wide_space("words", "charagram")
    search = Search(ParaphraseConfig(), space)
    for index in (0, 1, search.size // 2, search.size - 1):
        values = search.combination(index)
        labels = {name: label(value) for name, value in values.items()}
        assert search.values({**labels, "tuner/epochs": 3}) == values
        assert search.values(values) == values


def test_settings_come_back_from_json(search):
    wide = dataclasses.replace(search, space=wide_space("words", "charagram"), stop_hopeless=2.0)
    assert Search.from_settings(json.loads(json.dumps(wide.settings()))) == wide


@pytest.mark.parametrize(
    ("tuner", "most", "number"),
    [("grid", None, 4), ("grid", 3, 3), ("random", None, 4), ("random", 9, 4),
     ("hyperband", None, None)],
)  # fmt: skip
def test_number_of_trials(search, tuner, most, number):
    config = dataclasses.replace(search.config, epochs=3)
    changed = dataclasses.replace(search, config=config, tuner=tuner, max_trials=most)
    assert changed.num_trials == number


@pytest.mark.parametrize("epochs", [1, 3.5])
def test_hyperband_needs_whole_epochs(search, epochs):
    config = dataclasses.replace(search.config, epochs=epochs)
    with pytest.raises(ConfigError, match=f"at least 3. Received: trial_epochs={epochs}"):
        dataclasses.replace(search, config=config, tuner="hyperband")


def test_nothing_to_search(search):
    with pytest.raises(ConfigError, match="every field is fixed"):
        dataclasses.replace(search, space={})


def test_folder(search, folder, tmp_path):
    assert folder.read_search() == search
    with pytest.raises(RunError, match="has no search"):
        SearchFolder(tmp_path / "none").read_search()
    folder.config.write_text("{}")
    with pytest.raises(RunError, match=r"search\.json is damaged: KeyError"):
        folder.read_search()


def test_a_changed_search_is_refused_with_what_changed(search, folder):
    changed = dataclasses.replace(
        search,
        space={**search.space, "l2": (1e-4, 0.0)},
        objective="final",
        config=dataclasses.replace(search.config, margin=0.5),
        max_trials=3,
    )
    with pytest.raises(RunError) as error:
        folder.check_config({"settings": changed.settings(), "data_files": {"pairs": "ab"}})
    assert "margin was 0.4, is 0.5" in str(error.value)
    assert "pairs was None, is ab" in str(error.value)
    assert "search.objective was max, is final" in str(error.value)
    assert "space.l2 was [0.0001, 1e-05], is [0.0001, 0.0]" in str(error.value)
    assert "batch_size" not in str(error.value) and "max_trials" not in str(error.value)

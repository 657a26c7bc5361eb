"""Settings of the papers: points of their grids, for the tasks and encoders that they have."""

from __future__ import annotations

import itertools

import pytest
import yaml

from research.__main__ import main
from research.paper_settings import _LABEL_TASKS, paper_settings
from tf_charagram.encoders import ENCODERS
from tf_charagram.errors import ConfigError
from tf_charagram.tasks import TASKS, settings_class
from tf_charagram.tuning._search.spaces import search_space


@pytest.mark.parametrize(
    ("task", "encoder", "state", "expected"),
    [
        ("words", "charagram", {}, {"epochs": 50, "batch_size": 25, "mask_duplicates": False}),
        ("words", "charagram", {}, {"order": "random", "decay": "none", "l2": 1e-6}),
        ("sentences", "char_lstm", {}, {"order": "file_first", "batch_size": 100}),
        ("sentences", "word_average", {}, {"optimizer": "adagrad", "learning_rate": 0.05}),
        ("sentences", "dan", {}, {"l2_composition": 1e-6, "l2_words": 1e-8, "epochs": 10}),
        ("sentences", "identity_rnn", {}, {"l2_composition": 10.0, "clip_norm": 1.0}),
        ("sentences", "cse", {}, {"margin": 0.6, "l2_words": 1e-6, "order": "random"}),
        ("pos", "char_cnn", {}, {"use_capitals": True, "max_chars": 10_000, "epochs": 50}),
        ("sentiment", "lstm", {}, {"l2_head": 1e-6, "pull_back": False, "epochs": 10}),
        ("sentiment", "lstm", {"init": "run"}, {"l2_head": 1e-6, "pull_back": True}),
        ("similarity", "cse", {"init": "run"}, {"l2_words": 1e-6, "pull_back": True}),
        ("similarity", "word_average", {"init": "run"}, {"l2_words": 1e-8, "pull_back": False}),
        (
            "entailment",
            "dan",
            {"init": "run", "freeze": "encoder"},
            {"l2_words": 0.0, "epochs": 20},
        ),
    ],
)
def test_settings(task, encoder, state, expected):
    freeze = "freeze" in state
    found = paper_settings(task, encoder, has_init="init" in state, freeze=freeze)
    config = settings_class(task).from_dict({"task": task, "encoder": encoder, **found, **state})
    assert {name: getattr(config, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("task", "encoder"),
    [
        ("words", "cse"),
        ("sentences", "gran"),
        ("sentiment", "cse"),
        ("similarity", "charagram"),
        ("distill", "charagram"),
    ],
)
def test_what_no_paper_trains(task, encoder):
    message = f"The papers do not train the encoder '{encoder}' on {task}"
    with pytest.raises(ConfigError, match=message):
        paper_settings(task, encoder)


#: Settings that a paper states outside its grid: CSE, footnote 4.
NOT_IN_THE_GRID = {("sentences", "cse"): {"batch_size"}}


@pytest.mark.parametrize("state", [{}, {"init": "run"}, {"init": "run", "freeze": "encoder"}])
@pytest.mark.parametrize(("task", "encoder"), [*itertools.product(TASKS, ENCODERS)])
def test_they_are_a_point_of_the_grid(task, encoder, state):
    if task not in _LABEL_TASKS and "freeze" in state:
        return
    try:
        found = paper_settings(task, encoder, has_init="init" in state, freeze="freeze" in state)
        config = settings_class(task).from_dict(
            {"task": task, "encoder": encoder, **found, **state}
        )
        space = search_space("paper", config)
    except ConfigError:
        return
    settings = config.to_dict()
    for name, choices in space.items():
        value = tuple(settings[field] for field in name.split("+"))
        if name not in NOT_IN_THE_GRID.get((task, encoder), ()):
            assert (value if len(value) > 1 else value[0]) in choices, name


def test_they_are_printed_for_train(capsys):
    assert main(["settings", "sentences", "charagram", "--init", "english"]) == 0
    found = yaml.safe_load(capsys.readouterr().out)
    assert (found["task"], found["init"], found["epochs"]) == ("sentences", "english", 10)
    # The model decides its width.
    assert "dim" not in found
    assert main(["settings", "words", "charagram", "--tune"]) == 0
    found = yaml.safe_load(capsys.readouterr().out)
    assert found["mask_duplicates"] is False and not {"epochs", "l2", "batch_size"} & found.keys()

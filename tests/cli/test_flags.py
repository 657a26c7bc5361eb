"""Flags that are looked at before all are parsed, and flags that come several times."""

from __future__ import annotations

import pytest

from tf_charagram.cli.flags import repeatable, repeatable_flags, value_of
from tf_charagram.config import ParaphraseConfig
from tf_charagram.errors import ConfigError
from tf_charagram.training.run import TrainingRun
from tf_charagram.training.tasks import TASKS, settings_class


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--task", "pos"], "pos"),
        (["--task=pos", "--dim", "3"], "pos"),
        (["--task", "words", "--task=pos"], "pos"),
        (["--dim", "3"], None),
        (["--task"], None),
        ([], None),
    ],
)
def test_value_of(arguments, expected):
    assert value_of(arguments, "task") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("task: pos\n", "pos"), ("dim: 3\n", None), ("- task\n", None), ("task: [\n", None)],
)
def test_value_of_a_file(text, expected, tmp_path):
    path = tmp_path / "settings.yaml"
    path.write_text(text, encoding="utf-8")
    assert value_of(["--config", str(path)], "task") == expected
    assert value_of(["--config", str(path), "--task", "words"], "task") == "words"


def test_value_of_a_file_that_is_not_there():
    assert value_of(["--config", "nowhere.yaml"], "task") is None


def test_what_may_come_several_times():
    assert repeatable_flags(ParaphraseConfig) == ["--data"]
    assert repeatable_flags(settings_class("pos")) == ["--data", "--eval-data"]
    found = repeatable(["--data", "a", "--eval-data=b", "--data=c"], ["--data", "--eval-data"])
    assert found == ['--data=["a"]', '--eval-data=["b"]', "--data+=c"]


@pytest.mark.parametrize("task", TASKS)
def test_settings_know_their_task(task):
    assert settings_class(task)(task=task).task == task


def test_no_such_task():
    with pytest.raises(ConfigError, match=r"Unknown task 'tagging'\. Available: .*pos"):
        settings_class("tagging")
    with pytest.raises(ConfigError, match=r"'pos' needs a TaggingConfig\. Received: ParaphraseC"):
        TrainingRun(ParaphraseConfig(task="pos"), resume=False, overwrite=False)

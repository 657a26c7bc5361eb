"""Help in groups, short and whole, and what is said of wrong flags and values."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from tests.commands import call
from tf_charagram.bulk.folder import FORMATS
from tf_charagram.bulk.run import ENGINES
from tf_charagram.cli import embed
from tf_charagram.cli.train import make_parser
from tf_charagram.data.bad_lines import BadLines
from tf_charagram.losses.negatives import STRATEGIES
from tf_charagram.optimizers.lazy import OPTIMIZERS
from tf_charagram.settings import Group, described
from tf_charagram.tasks import TASKS, settings_class
from tf_charagram.training.building import UNKNOWN_WORDS
from tf_charagram.tuning.command import make_parser as make_tune_parser
from tf_charagram.tuning.config import TuneConfig


def printed(capsys, *arguments):
    """Returns what a command prints, the flags that it explains, and all that it names."""
    assert call(*arguments) == 0
    text = capsys.readouterr().out
    explained = re.findall(r"^  (?:-h, )?(--[\w-]+)", text, re.MULTILINE)
    explained = [flag for flag in explained if f"{flag} --" not in text]
    return text, explained, re.findall(r"--[\w-]+", text)


def all_flags(parser):
    return {
        max((o for o in action.option_strings if o[:2] == "--" and o[:5] != "--no-"), key=len)
        for action in parser._actions
        if action.option_strings and action.help != "==SUPPRESS=="
    }


class TestShort:
    @pytest.mark.parametrize("task", TASKS)
    def test_ten_flags_come_first_and_all_are_named(self, task, capsys):
        text, explained, named = printed(capsys, "train", "--task", task, "--help")
        first = explained[: explained.index("--resume") + 1]
        assert set(first) == {
            "--task", "--encoder", "--data", "--eval-data", "--init", "--dim", "--epochs", "--out",
            "--select", "--resume",
        }  # fmt: skip
        flags = {flag.rstrip("+") for flag in all_flags(make_parser(task))}
        assert flags <= set(named) and "--help-all" in named
        assert text.startswith("usage: charagram train [FLAGS]\n")
        assert len(text.splitlines()) < 75 < len(make_parser(task).format_help().splitlines())

    def test_a_search(self, capsys):
        text, explained, named = printed(capsys, "tuning.command", "--help")
        assert {"--space", "--tuner", "--data", "--plan"} <= set(explained)
        assert {flag.rstrip("+") for flag in all_flags(make_tune_parser())} <= set(named)
        assert "[runs/tune-TASK-ENCODER-N, the" in text and "compared by [must be given]" in text

    def test_no_flag_is_broken_on_a_narrow_terminal(self, capsys, monkeypatch):
        monkeypatch.setenv("COLUMNS", "40")
        text, _, named = printed(capsys, "train", "--help")
        assert "--evaluations-per-epoch" in named
        assert max(map(len, text.splitlines())) <= 40


class TestAll:
    def test_every_flag_is_explained_in_a_group(self, capsys):
        text, explained, _ = printed(capsys, "train", "--help-all")
        assert {flag.rstrip("+") for flag in all_flags(make_parser())} == set(explained)
        titles = re.findall(r"^(\S[^\n]*):$", text, re.MULTILINE)
        groups = [title for title in titles if title in get_args(Group)]
        assert groups == [group for group in get_args(Group) if group in groups]
        assert len(groups) >= 6

    def test_defaults(self):
        text = " ".join(make_parser().format_help().split())
        for shown in (
            "step size [0.001]", "n-gram orders, for instance 2,3,4 [2,3,4]",
            "never take a text that equals one of the pair as a negative [yes]",
            "seed of weights, order and random choices [0]",
        ):  # fmt: skip
            assert shown in text
        assert "type:" not in text and "--data+" not in text


@pytest.mark.parametrize("settings", [*dict.fromkeys(map(settings_class, TASKS)), TuneConfig])
def test_every_setting_has_a_group(settings):
    assert {told["group"] for told in described(settings).values()} <= {*get_args(Group)}


def test_a_setting_has_one_group():
    groups = {}
    for task in TASKS:
        for name, told in described(settings_class(task)).items():
            assert groups.setdefault(name, told["group"]) == told["group"], name


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("negatives", STRATEGIES),
        ("optimizer", OPTIMIZERS),
        ("on_bad_line", BadLines.POLICIES),
        ("unknown_words", UNKNOWN_WORDS),
    ],
)
def test_choices_are_those_of_the_check(name, choices):
    assert set(described(settings_class("words"))[name]["choices"]) == set(choices)


def test_choices_of_embed():
    choices = embed.make_parser().choices
    assert set(choices["format"]) == set(FORMATS) and set(choices["engine"]) == set(ENGINES)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--epochs", "many"], "--epochs must be a finite number. Received: many"),
        (["--dim", "2.5"], "--dim must be a whole number. Received: 2.5"),
        (["--max-minutes", "x"], "--max-minutes must be a finite number. Received: x"),
        (["--num-layers", "x"], "--num-layers must be a whole number. Received: x"),
        (["--ngrams", "2,x"], "must be a whole number, or several with commas between them."),
        (["--epoch", "3"], "unknown flag --epoch. Did you mean --epochs?"),
        (["--help-al"], "unknown flag --help-al. Did you mean --help-all?"),
        (["a.tsv"], "unexpected argument a.tsv. Name each file with --data."),
    ],
)
def test_wrong_flags_and_values(arguments, message, capsys):
    assert call("train", *arguments) == 2
    first, last = capsys.readouterr().err.splitlines()
    assert message in first and last == "See charagram train --help"


def test_missing_arguments_are_named_as_they_are_given(capsys):
    assert call("export.command") == 2
    assert "arguments are required: model, --to\n" in capsys.readouterr().err

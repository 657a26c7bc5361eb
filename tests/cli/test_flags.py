"""Flags that are looked at before all are parsed, and flags that come several times."""

from __future__ import annotations

import json
import re

import pytest

from tests.commands import call
from tf_charagram.cli.field_flags import repeatable_flags
from tf_charagram.cli.run_flags import encoder_of, parse_run
from tf_charagram.cli.train import make_parser
from tf_charagram.encoders import ENCODERS
from tf_charagram.encoders.options import options_of
from tf_charagram.errors import ConfigError
from tf_charagram.tasks import TASKS, make_task, settings_class
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.tasks.tagging.settings import TaggingConfig
from tf_charagram.training.run import TrainingRun


def test_what_may_come_several_times():
    assert repeatable_flags(ParaphraseConfig) == ["--data", "--dictionary"]
    assert repeatable_flags(settings_class("pos")) == ["--data", "--eval-data", "--dictionary"]


@pytest.mark.parametrize(
    "line",
    [
        "evaluate english",
        "train --task words",
        "tuning.command --task words",
        "train --task distill",
    ],
)
def test_what_may_not_come_several_times(line, capsys):
    assert call(*line.split(), "--eval-data", "a.tsv", "--eval-data=b.tsv") == 2
    message = "error: --eval-data takes one value here, and is given 2 times."
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("task", TASKS)
def test_settings_know_their_task(task):
    assert settings_class(task)(task=task).task == task


@pytest.mark.parametrize(
    ("value", "expected"), [("#c", "#c"), ("# a b", "# a b"), ("&a", "&a"), ("null", None)]
)
def test_a_text_that_looks_like_a_comment(value, expected):
    config = parse_run(["--task", "similarity", "--label-column", value], make_parser).config
    assert config.label_column == expected


def test_no_such_task():
    with pytest.raises(ConfigError, match=r"Unknown task 'tagging'\. Available: .*pos"):
        settings_class("tagging")
    with pytest.raises(ConfigError, match=r"'pos' needs a TaggingConfig\. Received: ParaphraseC"):
        TrainingRun(make_task(ParaphraseConfig(task="pos")), resume=False, overwrite=False)


class TestFlagsOfAnEncoder:
    @staticmethod
    def flags(text):
        """Returns the flags that a help text shows."""
        return set(re.findall(r"^  (?:-h, )?(--[\w-]+)", text, re.MULTILINE))

    @pytest.mark.parametrize("encoder", ENCODERS)
    def test_help_shows_its_options_and_no_others(self, encoder):
        shown = self.flags(make_parser("words", encoder).format_help())
        own = {"--" + name.replace("_", "-") for name in options_of(encoder)}
        others = {"--" + n.replace("_", "-") for e in ENCODERS for n in options_of(e)} - own
        assert own < shown and not others & shown
        assert {"--margin", "--dim", "--resume"} < shown
        is_words = encoder not in ("charagram", "char_cnn", "char_lstm")
        assert ("--word-vectors" in shown) == ("--l2-words" in shown) == is_words
        assert ("--hash-buckets" in shown) == (encoder == "charagram")
        assert ("--ngrams" in shown) == (encoder == "charagram" or is_words)

    def test_help_says_types_choices_and_defaults(self):
        text = " ".join(make_parser("sentences", "charagram").format_help().split())
        assert "--activation {linear,tanh,relu} the non-linearity h [tanh]" in text
        assert "--num-layers {1,2} " in text
        text = " ".join(make_parser("pos", "char_lstm").format_help().split())
        assert "width of the character embeddings [50]" in text
        assert "--use-peepholes, --no-use-peepholes whether its gates see" in text
        text = " ".join(make_parser("words", "cse").format_help().split())
        assert "--widths WIDTHS filter widths, distinct [1,2,3]" in text

    def test_values(self):
        def parse(settings, task, encoder, *arguments):
            return settings.from_dict(make_parser(task, encoder).parse_args(arguments).as_dict())

        config = parse(ParaphraseConfig, "words", "cse", "--widths=2,4", "--word-dim", "7")
        assert config.encoder_options["widths"] == (2, 4)
        assert config.encoder_options["word_dim"] == 7
        config = parse(TaggingConfig, "pos", "char_lstm", "--no-use-peepholes")
        assert config.encoder_options == {
            "char_dim": 50, "use_output_gate": True, "use_peepholes": False,
        }  # fmt: skip
        # Left open, it is that of the model.
        config = parse(ParaphraseConfig, "words", "dan", "--init", "runs/one", "--num-layers", "2")
        assert config.encoder_options == {"num_layers": 2}

    def test_a_file(self, tmp_path, capsys):
        """With an option, and with what the version before printed of all encoders."""
        path = tmp_path / "settings.yaml"
        path.write_text("encoder: cse\nwidths: [1, 3]\nactivation: tanh\n", encoding="utf-8")
        parser = make_parser("words", encoder_of(["--config", str(path)]))
        values = parser.parse_args(["--config", str(path)]).as_dict()
        config = ParaphraseConfig.from_dict(values)
        assert config.encoder_options["widths"] == (1, 3)
        assert config.encoder_options["activation"] == "tanh"
        assert call("train", "--config", path, "--print_config") == 0
        (tmp_path / "printed.yaml").write_text(
            f"{capsys.readouterr().out}num_layers: 1\nfilters: null\nuse_peepholes: true\n"
        )
        values = parser.parse_args(["--config", str(tmp_path / "printed.yaml")]).as_dict()
        assert ParaphraseConfig.from_dict(values) == config

    @pytest.mark.parametrize("command", ["train", "tuning.command"])
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--no-use-peepholes"], "`use_peepholes` is not an option of the encoder 'cse'."),
            (["--filters", "kim"], "Options of 'cse': word_dropout, word_dim, widths, activation."),
            (["--num-layers=2"], "`num_layers` is an option of charagram, dan."),
        ],
    )
    def test_options_of_others(self, command, arguments, message, capsys):
        assert call(command, "--encoder", "cse", *arguments) == 1
        assert message in capsys.readouterr().err

    def test_wrong_values(self, capsys):
        assert call("train", "--encoder", "cse", "--widths", "1,x") == 2
        assert "widths" in capsys.readouterr().err
        assert call("train", "--encoder", "ces") == 1
        assert "Unknown encoder 'ces'. Did you mean 'cse'?" in capsys.readouterr().err


class TestPresets:
    @staticmethod
    def parse(*arguments):
        return parse_run([str(argument) for argument in arguments], make_parser).config

    def test_flags_override_them(self):
        flags = ("--preset", "paper", "--margin", 0.2, "--mask-duplicates")
        config = self.parse("--task", "sentences", *flags, "--encoder", "cse")
        assert (config.preset, config.margin, config.mask_duplicates) == ("paper", 0.2, True)
        assert (config.l2_words, config.batches_by_length) == (1e-6, False)
        assert self.parse("--task", "sentences", "--encoder", "cse").preset is None

    def test_a_file_and_what_is_printed(self, tmp_path, capsys):
        path, printed = tmp_path / "settings.yaml", tmp_path / "printed.yaml"
        path.write_text("task: pos\npreset: paper\nlearning_rate: 0.1\n", encoding="utf-8")
        config = self.parse("--config", path)
        assert (config.epochs, config.learning_rate, config.use_capitals) == (50, 0.1, True)
        assert call("train", "--config", path, "--print_config") == 0
        printed.write_text(capsys.readouterr().out, encoding="utf-8")
        assert self.parse("--config", printed) == config

    def test_a_head(self, tmp_path):
        path = tmp_path / "settings.yaml"
        path.write_text("freeze: true\n", encoding="utf-8")
        arguments = ("--task", "entailment", "--encoder", "dan", "--preset", "paper")
        for flags in (["--freeze"], ["--config", path]):
            config = self.parse(*arguments, "--init", "run", *flags)
            assert (config.freeze, config.epochs, config.l2_words) == (True, 20, 0.0)
        assert self.parse(*arguments, "--init", "run").pull_back
        config = self.parse(*arguments, "--init", "run", "--config", path, "--no-freeze")
        assert (config.freeze, config.epochs, config.pull_back) == (False, 10, True)

    def test_errors(self, capsys):
        assert call("train", "--preset", "papr") == 1
        assert "Unknown preset 'papr'. Did you mean 'paper'?" in capsys.readouterr().err
        assert call("train", "--preset", "paper", "--encoder", "cse") == 1
        assert "The papers do not train the encoder 'cse' on words" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ([], (384, (2, 3, 4, 5))),
        (["--dim", "300"], (300, (2, 3, 4, 5))),
        (["--ngrams", "2,3"], (384, (2, 3))),
    ],
)
def test_width_and_ngrams_are_those_of_init_unless_given(flags, expected):
    config = parse_run(["--init", "english", *flags], make_parser).config
    assert (config.dim, config.ngrams) == expected


@pytest.mark.parametrize(("flags", "expected"), [([], "ngrams"), (["shared"], "shared")])
def test_unknown_words_are_those_of_init_unless_given(flags, expected, tmp_path):
    saved = {"encoder": {"name": "dan", "config": {"num_words": 3}}, "vectorizer": {}}
    (tmp_path / "config.json").write_text(json.dumps(saved))
    given = [f"--unknown-words={value}" for value in flags]
    config = parse_run(["--init", str(tmp_path), *given], make_parser).config
    assert (config.encoder, config.unknown_words) == ("dan", expected)


def test_encoder_of(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("run/model", "alone", "damaged", "unfinished"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "run" / "config.json").write_text('{"settings": {"encoder": "dan"}}')
    (tmp_path / "run" / "model" / "config.json").write_text('{"encoder": {"name": "lstm"}}')
    (tmp_path / "alone" / "config.json").write_text('{"encoder": {"name": "gran"}}')
    (tmp_path / "damaged" / "config.json").write_text('{"encoder": ')
    (tmp_path / "unfinished" / "config.json").write_text('{"settings": {"encoder": "dan"}}')
    (tmp_path / "settings.yaml").write_text("init: alone\n")
    assert encoder_of([]) == "charagram"
    assert encoder_of(["--encoder=cse", "--init", "run"]) == "cse"
    assert encoder_of(["--init", "run"]) == encoder_of(["--init", "run/model"]) == "lstm"
    assert encoder_of(["--config", "settings.yaml"]) == "gran"
    for folder in ("damaged", "unfinished", "nowhere"):
        assert encoder_of(["--init", folder]) == "charagram"

"""Flags follow from settings: help, files of settings, presets and errors."""

from __future__ import annotations

import inspect
import re

import pytest
import yaml

from tests.commands import call
from tf_charagram.cli import COMMANDS
from tf_charagram.cli._flags.flags import Parser
from tf_charagram.cli._flags.run_flags import parse_run
from tf_charagram.cli._flags.settings_parser import SettingsParser, add_flags, settings_flags
from tf_charagram.cli.train import make_parser
from tf_charagram.encoders import ENCODERS, options_class
from tf_charagram.errors import ConfigError
from tf_charagram.settings import described, file_only, types_of
from tf_charagram.tasks import TASKS, settings_class
from tf_charagram.tasks.paraphrase.losses import LOSSES
from tf_charagram.tuning._search.search import TuneConfig


def parse(*arguments):
    """Returns the settings of a run that flags say."""
    return parse_run([str(argument) for argument in arguments], make_parser).config


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "settings.yaml"
    path.write_text(
        "data: [a.tsv, b.tsv]\nepochs: 2.5\nngrams: [2, 3]\nl2: 1e-4\nmask_duplicates: false\n"
    )
    return path


class TestHelp:
    def test_short_help_has_few_flags_in_order(self, capsys):
        assert call("train", "--help") == 0
        text = capsys.readouterr().out
        flags = [line.split()[0] for line in text.splitlines() if line.startswith("  --")]
        assert len(flags) <= 20
        assert flags[3:13] == [
            "--task", "--data", "--columns", "--eval-data", "--output", "--encoder", "--epochs",
            "--init", "--resume", "--preset",
        ]  # fmt: skip
        assert "--activation {linear,tanh,relu}" in text and "objective" not in text

    @pytest.mark.parametrize("command", ["train", "tune"])
    def test_all_flags(self, capsys, command):
        assert call(command, "--task", "pos", "--encoder", "char_lstm", "--help-all") == 0
        text = " ".join(capsys.readouterr().out.split())
        settings = settings_class("pos")
        for name in described(settings).keys() - set(file_only(settings)):
            assert f"--{name.replace('_', '-')}" in text
        assert "width of the character embeddings [50]" in text
        assert "--pull-back" not in text
        assert "--column {xpos,upos}" in text and "objective:" in text

    @pytest.mark.parametrize("settings", [*dict.fromkeys(map(settings_class, TASKS)), TuneConfig])
    def test_every_setting_has_a_help_text_and_a_group(self, settings):
        told = described(settings)
        assert told.keys() == types_of(settings).keys() - {"encoder_options", "loss_options"}
        assert all(entry.keys() >= {"help", "group"} for entry in told.values())


class TestFiles:
    def test_a_file(self, file):
        config = parse("--config", file)
        assert config.data == ("a.tsv", "b.tsv")
        assert (config.epochs, config.ngrams, config.l2) == (2.5, (2, 3), 1e-4)
        assert config.mask_duplicates is False and config.margin == 0.4

    @pytest.mark.parametrize("name", ["task", "encoder", "init", "preset"])
    @pytest.mark.parametrize("value", ["{a: b}", "[words]", "3"])
    def test_names_that_are_no_text(self, tmp_path, capsys, name, value):
        path = tmp_path / "settings.yaml"
        path.write_text(f"{name}: {value}\n")
        with pytest.raises(SystemExit):
            parse("--config", path)
        assert f'error: Parser key "{name}": Expected a' in capsys.readouterr().err

    def test_flags_after_a_file_override_it(self, file):
        config = parse("--config", file, "--epochs=7", "--data=c", "--l2=0.5", "--data", "d")
        assert (config.epochs, config.data, config.l2) == (7, ("c", "d"), 0.5)
        assert config.ngrams == (2, 3)
        assert parse("--epochs", 7, "--config", file).epochs == 2.5

    def test_task_encoder_and_options(self, tmp_path):
        path = tmp_path / "settings.yaml"
        path.write_text("task: pos\nencoder: char_cnn\nfilters: kim\nepochs: 3\n")
        config = parse("--config", path)
        assert (config.task, config.encoder) == ("pos", "char_cnn")
        assert (config.encoder_options.filters, config.encoder_options.input_dim) == ("kim", 50)
        assert (config.epochs, config.learning_rate, config.use_capitals) == (3, 0.2, False)

    @pytest.mark.parametrize(
        "flags",
        [
            ["--data", "a.tsv", "--data", "b.tsv", "--ngrams", "1,4", "--clip-norm", 2],
            ["--task", "sentences", "--init", "english", "--preset", "fine-tune"],
            ["--encoder", "cse", "--widths", "2,4", "--input-dim", 7],
            # Texts that look like numbers and other values.
            *([f"--output={text}"] for text in ("1e-3", "-1.E+2", "1_0e3", "null", "yes", "1.5")),
        ],
    )
    def test_what_is_printed_can_be_fed_back(self, flags, tmp_path, capsys):
        assert call("train", *flags, "--print_config") == 0
        printed = tmp_path / "printed.yaml"
        printed.write_text(capsys.readouterr().out)
        assert yaml.safe_load(printed.read_text()).keys() >= {"margin", "seed", "resume"}
        assert parse("--config", printed) == parse(*flags)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("epoch: 2", "'epoch'"),
            ("epochs: many", "Expected a <class 'float'>. Got value: many"),
            ("epochs: [", "did not find expected"),
            ("[1, 2]", "error: "),
            ("a: &x [1]\nb: *x", "error: "),
        ],
    )
    def test_wrong_files(self, text, message, tmp_path, capsys):
        (tmp_path / "settings.yaml").write_text(text)
        assert call("train", "--config", tmp_path / "settings.yaml") == 2
        assert message in capsys.readouterr().err

    def test_a_file_that_is_not_utf_8(self, tmp_path, capsys):
        (tmp_path / "settings.yaml").write_bytes(b"epochs: 3\xff\n")
        assert call("train", "--config", tmp_path / "settings.yaml") == 2
        assert "the file of --config must be UTF-8" in capsys.readouterr().err


class TestFileOnly:
    """Settings without a flag, which the papers vary."""

    def test_a_file_sets_them(self, tmp_path):
        path = tmp_path / "paper.yaml"
        path.write_text(
            "encoder: lstm\nuse_output_gate: false\norder: file_first\ndense_l2: true\n"
        )
        config = parse("--config", path, "--epochs", 3)
        assert config.encoder_options == options_class("lstm")(use_output_gate=False)
        assert (config.order, config.dense_l2, config.epochs) == ("file_first", True, 3)

    def test_they_are_printed(self, tmp_path, capsys):
        path = tmp_path / "paper.yaml"
        path.write_text("encoder: lstm\nuse_output_gate: false\norder: random\n")
        assert call("train", "--config", path, "--print_config") == 0
        printed = tmp_path / "printed.yaml"
        printed.write_text(capsys.readouterr().out)
        assert parse("--config", printed) == parse("--config", path)

    def test_a_wrong_value_in_a_file(self, tmp_path, capsys):
        (tmp_path / "paper.yaml").write_text("order: sorted\n")
        assert call("train", "--config", tmp_path / "paper.yaml") == 2
        assert "order" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("flag", "name"),
        [("--mask-duplicates", "mask_duplicates"), ("--no-use-peepholes", "use_peepholes")],
    )
    def test_there_is_no_flag(self, flag, name, capsys):
        assert call("train", flag) == 2
        message = f"unknown flag {flag}. Set `{name}` in the file of --config: it has no flag."
        assert message in capsys.readouterr().err
        assert call("train", "--help-all") == 0
        assert flag not in capsys.readouterr().out


class TestValues:
    def test_repeated_flags(self):
        config = parse("--data", "a b.tsv", "--epochs", 2, "--data=[c]=d", "--data", "starter")
        assert config.data == ("a b.tsv", "[c]=d", "starter")
        assert parse().data == ()

    def test_options(self):
        config = parse("--encoder", "cse", "--widths=2,4", "--input-dim", "7")
        assert (config.encoder_options.widths, config.encoder_options.input_dim) == ((2, 4), 7)

    @pytest.mark.parametrize("value", ["#c", "# a b", "&a", "[a]", "1.0", "yes", "null"])
    def test_texts_stay_as_they_are(self, value):
        assert parse("--task", "similarity", "--columns", value).columns == (value,)

    def test_given(self, file):
        given = parse_run(["--config", str(file), "--dim", "3", "--data", "x"], make_parser).given
        assert given - {"config"} == {"data", "epochs", "ngrams", "l2", "mask_duplicates", "dim"}

    @pytest.mark.parametrize(
        ("flags", "expected"),
        [
            ([], (384, (2, 3, 4, 5))),
            (["--dim", "300"], (300, (2, 3, 4, 5))),
            (["--ngrams", "2,3"], (384, (2, 3))),
        ],
    )
    def test_settings_of_init_unless_given(self, flags, expected):
        config = parse("--init", "english", *flags)
        assert (config.dim, config.ngrams) == expected


@pytest.mark.parametrize("command", ["train", "tune"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--optimzer", "sgd"], "unknown flag --optimzer. Did you mean --optimizer?"),
        (["--dim", "2.5"], "key \"dim\": Expected a <class 'int'>. Got value: 2.5"),
        (["--ngrams", "2,x"], "argument --ngrams: invalid comma-separated int value: '2,x'"),
        (["--encoder", "cse", "--filters", "kim"], "It is an option of the encoder char_cnn."),
        (["--activation", "tahn"], "Expected a typing.Literal['linear', 'tanh', 'relu']"),
        (["--config", "nothing.yaml"], 'key "config": File does not exist: '),
        (
            ["--ngrams", "2,3", "--ngrams", "4"],
            "--ngrams is given twice. Give it once, with commas",
        ),
        (["stray"], "unrecognized arguments: stray (a list has commas, and a text with spaces is"),
        (["--task"], "argument --task: expected one argument"),
    ],
)
def test_wrong_flags(command, arguments, message, capsys):
    assert call(command, *arguments) == 2
    first, last = capsys.readouterr().err.splitlines()
    assert message in first and ": error: " in first and last.endswith(" --help")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--task", "word"], "Unknown task 'word'. Did you mean 'words'?"),
        (["--encoder", "ces"], "Unknown encoder 'ces'. Did you mean 'cse'?"),
        (["--preset", "fine-tuen"], "Unknown preset 'fine-tuen'. Did you mean 'fine-tune'?"),
        (["--init", "englsh"], "Unknown model 'englsh'. Did you mean 'english'?"),
        (["--init", "english", "--encoder", "dan"], "give --encoder charagram (received: dan)"),
    ],
)
def test_wrong_names(arguments, message, capsys):
    assert call("train", *arguments) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("encoder", ENCODERS)
def test_every_encoder_has_flags_for_its_options(encoder):
    options = options_class(encoder)
    with_flag = types_of(options).keys() - set(file_only(options))
    flags = make_parser("words", encoder)._option_string_actions
    assert {f"--{name.replace('_', '-')}" for name in with_flag} <= flags.keys()


def test_flags_may_stand_between_other_arguments():
    parser = Parser(prog="x")
    parser.add_argument("model", nargs="*")
    parser.add_argument("--k", type=int, default=1)
    values = parser.parse_args(["a", "--k", "2", "b"])
    assert (values.model, values.k, parser.given(values)) == (["a", "b"], 2, {"model", "k"})


def test_a_search_has_the_flags_of_its_settings():
    parser = SettingsParser(prog="x")
    add_flags(parser, settings_flags(TuneConfig))
    values = parser.parse_args(["--tuner", "random", "--max-trials", "3"])
    config = TuneConfig(**{name: values[name] for name in types_of(TuneConfig)})
    assert (config.tuner, config.max_trials, config.keep) == ("random", 3, TuneConfig.keep)
    with pytest.raises(ConfigError, match="Unknown tuner 'rnd'"):
        TuneConfig(tuner="rnd")


_COMMANDS = [
    *((command, "--help") for command in COMMANDS.keys() - {"train", "tune"}),
    *(
        (command, f"--{chooser}={name}", "--help-all")
        for command in ("train", "tune")
        for chooser, names in (("task", TASKS), ("encoder", ENCODERS), ("loss", LOSSES))
        for name in names
    ),
]


def test_there_are_few_flags(capsys):
    """A new flag must be worth that users read its help; most settings need no flag."""
    for arguments in _COMMANDS:
        assert call(*arguments) == 0
    text = capsys.readouterr().out
    flags = set(re.findall(r"^  (--[\w-]+)", text, re.MULTILINE))
    assert {"--data", "--input-dim", "--threshold", "--pull-back", "--max-trials"} <= flags
    assert len(flags) <= 116, sorted(flags)


def test_there_are_few_settings():
    """A setting of several classes counts as often as it is declared."""
    classes = {TuneConfig}
    for settings in map(settings_class, TASKS):
        classes.update(settings.__mro__)
    for name in ENCODERS:
        classes.update(options_class(name).__mro__)
    declared = [name for cls in classes for name in inspect.get_annotations(cls)]
    not_fields = ("vectorizer", "training_only", "can_freeze_encoder")
    names = [name for name in declared if name not in not_fields]
    assert {"data", "input_dim", "max_trials"} <= set(names)
    assert len(names) <= 100

"""The flags of a training run: the settings of its task and the options of its encoder."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import yaml

from tf_charagram.cli._flags.flags import Parser, flag_of
from tf_charagram.cli._flags.settings_parser import Flag, SettingsParser, add_flags, settings_flags
from tf_charagram.encoders import ENCODERS, options_class
from tf_charagram.settings import file_only, types_of
from tf_charagram.tasks import TASKS, run_defaults, settings_class
from tf_charagram.training.settings import RunConfig

#: The flags that `--help` shows, in this order.
FIRST = (
    "task",
    "data",
    "columns",
    "eval_data",
    "teacher",
    "output",
    "encoder",
    "epochs",
    "init",
    "resume",
    "preset",
    "select",
    "dim",
    "quiet",
)


class _RunFlags(NamedTuple):
    """The parsed arguments of a command about runs.

    Attributes:
        config: The settings of the run.
        values: The values of all flags, by name with underscores.
        given: Names of the flags that were given, also in a file.
    """

    config: RunConfig
    values: dict[str, Any]
    given: set[str]


def parse_run(
    arguments: Sequence[str], make_parser: Callable[[str, str, bool], SettingsParser]
) -> _RunFlags:
    """Parses the arguments of a command about training runs.

    Args:
        arguments: The arguments.
        make_parser: Returns the parser for a task and an encoder; the last argument is whether its
            help shows all flags.

    Raises:
        ConfigError: A setting is wrong.
        RunError: The model of `--init` cannot be read.
    """
    # The task and the encoder decide which flags there are, so they are known before the parser.
    deciding = _deciding(arguments)
    loss = deciding.pop("loss")
    defaults = run_defaults(**deciding)
    task = defaults["task"]
    encoder = defaults["encoder"]
    is_short_help = "--help" in arguments or "-h" in arguments
    parser = make_parser(task, encoder, not is_short_help)
    chosen = {"encoder": encoder} if loss is None else {"encoder": encoder, "loss": loss}
    option_classes = settings_class(task).option_classes(chosen)
    for chooser, options in option_classes.items():
        if chooser != "encoder":
            add_flags(parser, settings_flags(options), show_all=not is_short_help)
    names = {action.dest for action in parser._actions}
    parser.set_defaults({name: value for name, value in defaults.items() if name in names})
    # Without defaults, the result has the given flags. --print_config prints defaults, too, and
    # exits.
    is_printed = any(argument.startswith("--print_config") for argument in arguments)
    given = parser.parse_args(arguments, defaults=is_printed).as_dict()
    values = {**parser.get_defaults().as_dict(), **given}
    known = set(types_of(settings_class(task)))
    for options in option_classes.values():
        known |= types_of(options).keys()
    settings = {name: values[name] for name in known & values.keys()}
    config = settings_class(task).from_dict({**defaults, **settings})
    return _RunFlags(config, values, set(given))


def make_run_parser(
    command: str,
    purpose: str,
    task: str,
    encoder: str,
    flags: Sequence[Flag],
    *,
    show_all: bool,
    first: Sequence[str] = FIRST,
) -> SettingsParser:
    """Returns the parser of a command about training runs.

    Args:
        command: Name of the command.
        purpose: First sentence of the help.
        task: Name of the task.
        encoder: Name of the encoder.
        flags: Flags of the command itself.
        show_all: Whether its help shows all flags.
        first: Names of the flags that `--help` shows.

    Raises:
        ConfigError: There is no task or no encoder of that name.
    """
    parser = SettingsParser(
        prog=f"charagram {command}",
        usage="%(prog)s [FLAGS]",
        description=f"{purpose} Tasks: {', '.join(TASKS)}. Encoders: {', '.join(ENCODERS)}. These "
        f"are the flags of {task} with {encoder}; for others: --task TASK --encoder ENCODER --help",
    )
    parser.add_argument("--help-all", action="help", help="show all flags and exit")
    parser.add_argument("--config", action="config", help="YAML file of settings")
    settings = settings_class(task)
    options = options_class(encoder)
    flags = [
        *settings_flags(settings),
        *flags,
        *settings_flags(options, f"options of the encoder {encoder}"),
    ]
    option_names = types_of(options).keys()
    add_flags(parser, flags, first=(*first, *option_names), show_all=show_all)
    parser.hints = _hints(settings)
    # A task can have other defaults than the encoder.
    defaults = asdict(settings(task=task, encoder=encoder).encoder_options)
    parser.set_defaults({"task": task, "encoder": encoder, **defaults})
    return parser


def _hints(settings: type[RunConfig]) -> dict[str, str]:
    """Returns hints for the flags of other encoders, and for settings without a flag."""
    hints = {}
    for encoder, entry in ENCODERS.items():
        for name in types_of(entry.options):
            hints[flag_of(name)] = f"It is an option of the encoder {encoder}."
    for config_class in (settings, *(entry.options for entry in ENCODERS.values())):
        for name in file_only(config_class):
            hint = f"Set `{name}` in the file of --config: it has no flag."
            hints[flag_of(name)] = hints[flag_of(f"no_{name}")] = hint
    return hints


def _deciding(arguments: Sequence[str]) -> dict[str, Any]:
    """Returns the settings that determine the flags and their defaults."""
    parser = Parser(add_help=False, prog="charagram")
    parser.add_argument("--task", default="words")
    for flag in ("--encoder", "--init", "--preset", "--loss"):
        parser.add_argument(flag)
    parser.add_argument("--config", action=_File, default=argparse.SUPPRESS)
    known, _ = parser.parse_known_args(arguments)
    return vars(known)


class _File(argparse.Action):
    """Takes the deciding settings from a file; the parser of all flags reports its errors."""

    def __call__(
        self, parser: Any, namespace: Any, values: Any, option_string: str | None = None
    ) -> None:
        try:
            with open(values, encoding="utf-8") as file:
                settings = yaml.safe_load(file)
        except (OSError, ValueError, RecursionError, yaml.YAMLError):
            return
        if not isinstance(settings, dict):
            return
        for name in vars(namespace):
            # A mapping or a list is no name of a task or an encoder.
            if isinstance(settings.get(name), str):
                setattr(namespace, name, settings[name])

"""The flags of a training run: what the settings of its task and the options of its encoder say."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from tf_charagram.cli.arguments import file_first, repeatable, value_of, values_of
from tf_charagram.cli.field_flags import add_fields, list_type, repeatable_flags
from tf_charagram.cli.flags import FlagParser, add_flag
from tf_charagram.cli.settings_file import check_settings
from tf_charagram.encoders import ENCODERS
from tf_charagram.encoders.options import Option, options_of
from tf_charagram.errors import CharagramError
from tf_charagram.files.json_files import read_json
from tf_charagram.models.locations import FILES, model_folder
from tf_charagram.tasks import TASKS, settings_class
from tf_charagram.tasks.presets import preset_settings
from tf_charagram.training.settings import RunConfig
from tf_charagram.training.text_ids import settings_without_use


class RunFlags(NamedTuple):
    """What the arguments of a command said.

    Attributes:
        config: The settings of the run.
        values: The values of all flags, by name with underscores.
        given: Names of the flags that were given.
    """

    config: RunConfig
    values: dict[str, Any]
    given: set[str]


def parse_run(arguments: Sequence[str], make_parser: Callable[[str, str], FlagParser]) -> RunFlags:
    """Parses the arguments of a command about training runs.

    Args:
        arguments: The arguments.
        make_parser: Returns the command line for a task and an encoder, which decide what flags
            there are.

    Raises:
        ConfigError: A setting is wrong.
    """
    task = _task_of(arguments)
    settings = settings_class(task)
    parser = run_parser(arguments, make_parser)
    preset = _preset_of(arguments, task, encoder_of(arguments))
    flags = {action.dest for action in parser._actions}
    for path in values_of(arguments, "--config"):
        check_settings(path, flags, parser.check_setting)
    parser.set_defaults({name: value for name, value in preset.items() if name in flags})
    arguments = file_first(repeatable(arguments, repeatable_flags(settings)))
    values = parser.parse_args(arguments).as_dict()
    given = parser.given(arguments)
    saved = _saved_settings(values.get("init"))
    values |= {name: saved[name] for name in saved.keys() & values.keys() - given}
    return RunFlags(settings.from_dict(values), values, given)


def run_parser(
    arguments: Sequence[str], make_parser: Callable[[str, str], FlagParser]
) -> FlagParser:
    """Returns the command line for the task and the encoder that arguments name.

    Raises:
        ConfigError: There is no task or no encoder of that name.
    """
    return make_parser(_task_of(arguments), encoder_of(arguments))


def _task_of(arguments: Sequence[str]) -> str:
    return value_of(arguments, "task") or "words"


def add_run_flags(
    parser: FlagParser, task: str, encoder: str, *, skip: Collection[str] = ()
) -> None:
    """Adds the flags of a training run: the settings of the task, and the options of the encoder.

    What the encoder has no use for is parsed but not shown, so that the error can say so.

    Args:
        parser: Gets the flags.
        task: Name of the task.
        encoder: Name of the encoder.
        skip: Settings without a flag.

    Raises:
        ConfigError: There is no task or no encoder of that name.
    """
    settings = settings_class(task)
    add_fields(parser, settings, skip=skip, hidden=settings_without_use(encoder))
    parser.set_defaults(task=task, encoder=encoder)
    own = options_of(encoder)
    # A task may have other defaults than the encoder.
    defaults = settings(task=task, encoder=encoder).encoder_options
    title = f"options of the encoder {encoder}"
    parser.open_groups.append(title)
    for name, option in own.items():
        _add_option(parser.group(title), dataclasses.replace(option, default=defaults[name]))
        parser.choices[name] = () if option.type is bool else tuple(map(str, option.choices))
    parser.choices |= {"task": tuple(TASKS), "encoder": tuple(ENCODERS)}
    others = {name: option for other in ENCODERS for name, option in options_of(other).items()}
    for name in others.keys() - own:
        _add_option(parser, others[name], is_hidden=True)


def _add_option(parser: Any, option: Option, *, is_hidden: bool = False) -> None:
    """Adds the flag of an option; without it there is no value, so that a model may give one.

    Whether a value is one of the choices is for the encoder to say, which suggests another.
    """
    kind, default = option.type, option.default
    arguments: dict[str, Any] = {}
    if isinstance(default, tuple):
        kind, default = list_type(kind), ",".join(map(str, default))
    elif kind is not bool and option.choices:
        kind = type(option.choices[0]) | None
        arguments["metavar"] = f"{{{','.join(map(str, option.choices))}}}"
    elif kind is not bool:
        kind = kind | None
    if is_hidden:
        arguments |= {"default": argparse.SUPPRESS, "help": argparse.SUPPRESS}
    else:
        shown = option.help if default is None else f"{option.help} [{default}]"
        arguments |= {"default": None, "help": shown}
    add_flag(parser, option.name, kind, **arguments)


def encoder_of(arguments: Sequence[str]) -> str:
    """Returns the encoder of a run before all is parsed: that of the flag, or of --init's model."""
    encoder = value_of(arguments, "encoder")
    if encoder is None:
        encoder = _saved_settings(value_of(arguments, "init")).get("encoder")
    return encoder or RunConfig.encoder


def _preset_of(arguments: Sequence[str], task: str, encoder: str) -> dict[str, Any]:
    """Returns what `--preset` stands for, before all is parsed.

    Raises:
        ConfigError: There is no preset of that name, or it has nothing for the task and encoder.
    """
    name = value_of(arguments, "preset")
    if name is None:
        return {}
    return preset_settings(
        name,
        task,
        encoder,
        has_init=value_of(arguments, "init") is not None,
        freeze=_is_frozen(arguments),
    )


def _is_frozen(arguments: Sequence[str]) -> bool:
    """Returns whether `freeze` is set, before all is parsed: by the last flag, else by a file."""
    flags = [argument for argument in arguments if argument in ("--freeze", "--no-freeze")]
    return flags[-1] == "--freeze" if flags else value_of(arguments, "freeze") is True


def _saved_settings(init: str | None) -> dict[str, Any]:
    """Returns what a model given as `--init` says of encoder, width and ids; needs no TensorFlow.

    Whatever is wrong with the model is for the run to say.
    """
    if init is None:
        return {}
    try:
        config = read_json(model_folder(init) / FILES.config)
        encoder, orders = config["encoder"], config.get("vectorizer", {}).get("orders")
        settings = {
            "encoder": str(encoder["name"]),
            "dim": encoder.get("config", {}).get("dim"),
            "ngrams": orders and tuple(orders),
            "unknown_words": encoder.get("config", {}).get("num_words") and "ngrams",
        }
    except (CharagramError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    return {name: value for name, value in settings.items() if value}

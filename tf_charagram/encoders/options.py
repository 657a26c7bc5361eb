"""The options of the encoders: arguments of their constructors, with types, defaults and help.

They are read from the source and not from the classes, for these need TensorFlow, which takes
seconds to import, and `--help` and a wrong flag should not.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args, get_origin

import docstring_parser

from tf_charagram.encoders import ENCODERS, encoder_location
from tf_charagram.encoders.source import SourceClass, source_module
from tf_charagram.errors import ConfigError

#: Arguments that the run decides: what ids there are, and settings that all encoders have.
NO_OPTIONS = ("num_rows", "num_words", "dim", "seed")


@dataclass(frozen=True)
class Option:
    """An argument of an encoder's constructor that a user may set.

    Attributes:
        name: Its name.
        type: Its type, as annotated.
        default: Its default.
        help: The first sentence of what the docstring says of it.
        is_training_only: Whether only training sees it, so that a second stage may change it.
    """

    name: str
    type: Any
    default: Any
    help: str
    is_training_only: bool = False

    @property
    def choices(self) -> tuple[Any, ...]:
        """The values it may have, in order; none for numbers and texts."""
        if self.type is bool:
            return (True, False)
        return get_args(self.type) if get_origin(self.type) is Literal else ()


def options_of(encoder: str) -> dict[str, Option]:
    """Returns the options of an encoder by name: those of its bases, then its own.

    An argument without a default is none: it is for the classes derived from a base.

    Raises:
        ConfigError: There is no encoder of that name.
    """
    return dict(_options_of(encoder))


@cache
def vectorizer_of(encoder: str) -> str:
    """Returns the kind of ids an encoder takes, a key of `text.VECTORIZERS`."""
    for cls in _source_of(encoder).lineage():
        vectorizer = cls.attribute("vectorizer")
        if vectorizer is not None:
            return vectorizer
    raise AttributeError(f"The encoder '{encoder}' has no class attribute `vectorizer`.")


@cache
def encoders_with(option: str) -> tuple[str, ...]:
    """Returns the names of the encoders that have an option."""
    return tuple(name for name in ENCODERS if option in _options_of(name))


def option_error(encoder: str, name: str, value: Any) -> ConfigError:
    """Returns the error for an option that an encoder does not have."""
    having = encoders_with(name)
    elsewhere = f" `{name}` is an option of {', '.join(having)}." if having else ""
    return ConfigError(
        f"`{name}` is not an option of the encoder '{encoder}'. Received: {name}={value!r}. "
        f"Options of '{encoder}': {', '.join(_options_of(encoder)) or 'none'}.{elsewhere}"
    )


@cache
def _options_of(encoder: str) -> dict[str, Option]:
    cls = _source_of(encoder)
    training_only = {
        name for base in cls.lineage() for name in base.attribute("training_only") or ()
    }
    options: dict[str, Option] = {}
    for base in reversed([*_constructed(cls)]):
        for name, option in _own_options(base, training_only).items():
            if option is None:
                options.pop(name, None)
            else:
                options[name] = option
    return options


def _source_of(encoder: str) -> SourceClass:
    module, name = encoder_location(encoder)
    cls = source_module(module).find_class(name)
    if cls is None:
        raise AttributeError(f"The registry says {module}:{name}, which is no class of that file.")
    return cls


def _constructed(cls: SourceClass) -> Iterator[SourceClass]:
    """Yields the classes whose constructors are called: as long as arguments are handed on."""
    for base in cls.lineage():
        if base.constructor is not None:
            yield base
            if base.constructor.args.kwarg is None:
                return


def _own_options(cls: SourceClass, training_only: set[str]) -> dict[str, Option | None]:
    """Returns the options a class itself has; `None` for arguments that are none."""
    constructor = cls.constructor
    if constructor is None:
        return {}
    arguments = constructor.args
    positional = [*arguments.posonlyargs, *arguments.args]
    missing = [None] * (len(positional) - len(arguments.defaults))
    defaults = [*missing, *arguments.defaults, *arguments.kw_defaults]
    described = _described(cls)
    options: dict[str, Option | None] = {}
    for argument, default in zip([*positional, *arguments.kwonlyargs], defaults, strict=True):
        name, annotation = argument.arg, argument.annotation
        options[name] = None
        if default is not None and annotation is not None and name not in NO_OPTIONS:
            options[name] = Option(
                name,
                cls.module.value(annotation),
                cls.module.value(default),
                described.get(name, ""),
                name in training_only,
            )
    return options


def _described(cls: SourceClass) -> dict[str, str]:
    """Returns what the docstring of a class says of the arguments, as plain texts of a line."""
    docstring = docstring_parser.google.parse(ast.get_docstring(cls.node) or "")
    return {
        param.arg_name: _plain(param.description or "")
        for param in docstring.params
        if param.args[0] == "param"
    }


def _plain(text: str) -> str:
    """Returns the first sentence of a description as the help of flags is: plain, in one line."""
    line, _, default = " ".join(text.replace("`", "").split()).partition(" Default: ")
    line = re.split(r"\.\s+(?=[A-Z])", line)[0].removesuffix(".")
    line = line[:1].lower() + line[1:] if line[1:2].islower() else line
    return f"{line} [{default.removesuffix('.')}]" if default else line

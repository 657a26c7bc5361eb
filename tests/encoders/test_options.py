"""What is read from the source of the encoders is what their classes say once they are imported."""

from __future__ import annotations

import dataclasses
import inspect
from itertools import takewhile
from typing import get_type_hints

import keras
import pytest

from tf_charagram.encoders import ENCODERS, encoder_class
from tf_charagram.encoders.options import (
    NO_OPTIONS,
    encoders_with,
    option_error,
    options_of,
    vectorizer_of,
)
from tf_charagram.encoders.source import SourceModule
from tf_charagram.errors import ConfigError
from tf_charagram.tasks import TASKS
from tf_charagram.tuning.config import TuneConfig


def imported_options(cls):
    """Returns name -> type and default, from the signatures of the class and of its bases."""
    bases = takewhile(lambda base: base is not keras.layers.Layer, cls.__mro__)
    constructors = [vars(base)["__init__"] for base in bases if "__init__" in vars(base)]
    options = {}
    for constructor in reversed(constructors):
        types = get_type_hints(constructor)
        for name, parameter in inspect.signature(constructor).parameters.items():
            if name == "self" or parameter.kind is inspect.Parameter.VAR_KEYWORD:
                continue
            if parameter.default is inspect.Parameter.empty or name in NO_OPTIONS:
                options.pop(name, None)
            else:
                options[name] = (types[name], parameter.default)
    return options


@pytest.mark.parametrize("name", ENCODERS)
def test_the_source_says_what_the_class_does(name):
    cls, options = encoder_class(name), options_of(name)
    read = [(option.name, (option.type, option.default)) for option in options.values()]
    assert read == [*imported_options(cls).items()]
    assert list(options) == [option.name for option in options.values()]
    assert vectorizer_of(name) == cls.vectorizer
    training_only = {option.name for option in options.values() if option.is_training_only}
    assert training_only == set(getattr(cls, "training_only", ()))


@pytest.mark.parametrize("name", ENCODERS)
def test_an_option_is_a_flag(name):
    """It has a help text, and no other setting or flag has its name."""
    settings = {entry.settings for entry in TASKS.values()} | {TuneConfig}
    taken = {field.name for cls in settings for field in dataclasses.fields(cls)}
    taken |= {"config", "resume", "overwrite", "json", "plan", "help"}
    for option in options_of(name).values():
        assert option.name not in taken
        assert option.help and "`" not in option.help and "\n" not in option.help


def test_what_the_encoders_have():
    assert list(options_of("charagram")) == ["activation", "num_layers"]
    assert list(options_of("cse")) == ["word_dropout", "word_dim", "widths", "activation"]
    assert list(options_of("lstm")) == ["word_dropout", "use_output_gate", "use_peepholes"]
    assert options_of("dan")["num_layers"].choices == (1, 2)
    assert options_of("lstm")["use_peepholes"].choices == (True, False)
    assert options_of("char_cnn")["dropout"].choices == ()
    assert options_of("dan")["word_dim"].help == "width of the word vectors [dim]"
    assert encoders_with("word_dim") == ("projection", "dan", "cse")
    assert encoders_with("margin") == ()


def test_errors():
    with pytest.raises(ConfigError, match=r"Unknown encoder 'charagrm'\. Did you mean 'charagram'"):
        options_of("charagrm")
    assert str(option_error("cse", "num_layers", 2)) == (
        "`num_layers` is not an option of the encoder 'cse'. Received: num_layers=2. Options of "
        "'cse': word_dropout, word_dim, widths, activation. `num_layers` is an option of "
        "charagram, dan."
    )
    assert str(option_error("char_lstm", "depth", 2)).endswith("use_output_gate, use_peepholes.")


def test_what_only_an_import_could_tell(tmp_path, monkeypatch):
    (tmp_path / "strange_encoder.py").write_text(
        "from math import pi\nfrom typing import Literal\nWidth = Literal[1, 2]\n"
        "class Strange:\n    width: Width = 2\n    angle: float = pi\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    cls = SourceModule("strange_encoder").find_class("Strange")
    assert cls.attribute("width") == 2 and cls.attribute("height") is None
    assert cls.constructor is None and [*cls.lineage()] == [cls]
    with pytest.raises(NameError, match=r"strange_encoder: `pi` of math is known only once"):
        cls.attribute("angle")
    with pytest.raises(ModuleNotFoundError, match="stranger_encoder"):
        SourceModule("stranger_encoder")

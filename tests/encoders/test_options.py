"""The options of the encoders, which import without TensorFlow, are what their classes take."""

from __future__ import annotations

import dataclasses
import inspect
from typing import get_type_hints

import pytest

from tf_charagram.encoders import (
    ENCODERS,
    encoder_class,
    make_options,
    options_class,
    vectorizer_of,
)
from tf_charagram.errors import ConfigError
from tf_charagram.settings import described, types_of
from tf_charagram.tasks import TASKS, settings_class
from tf_charagram.tuning._search.search import TuneConfig

#: Arguments that a run decides, or a subclass sets.
NO_OPTIONS = ("self", "num_rows", "dim", "seed", "width", "kwargs")


def arguments_of(cls):
    """Returns name -> type and default of an encoder's constructor arguments, bases first."""
    found = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("tf_charagram.encoders") and "__init__" in vars(base):
            types = get_type_hints(base.__init__)
            for name, parameter in inspect.signature(base.__init__).parameters.items():
                if name not in NO_OPTIONS:
                    found[name] = (types[name], parameter.default)
    return found


@pytest.mark.parametrize("name", ENCODERS)
def test_options_are_the_arguments_of_the_class(name):
    cls, options = encoder_class(name), options_class(name)
    expected = {
        field.name: (kind, field.default)
        for field, kind in zip(dataclasses.fields(options), types_of(options).values(), strict=True)
    }
    found = arguments_of(cls)
    assert found.keys() == expected.keys()
    for option, (kind, default) in expected.items():
        assert found[option][1] == default
        assert option == "widths" or found[option][0] == kind
    assert vectorizer_of(name) == cls.vectorizer
    assert set(options.training_only) <= types_of(options).keys()


@pytest.mark.parametrize("name", ENCODERS)
def test_an_option_is_a_flag(name):
    """It has a help text, and no other setting or flag has its name."""
    settings = {*map(settings_class, TASKS), TuneConfig}
    taken = {field.name for cls in settings for field in dataclasses.fields(cls)}
    taken |= {"config", "resume", "overwrite", "json", "plan", "help"}
    options = options_class(name)
    assert described(options).keys() == types_of(options).keys()
    assert not taken & types_of(options).keys()


def test_an_error_names_the_encoders_with_an_option():
    others = "`input_dim` is an option of char_cnn, char_lstm, projection, dan, cse"
    with pytest.raises(ConfigError, match=others):
        make_options("charagram", {"input_dim": 3})


@pytest.mark.parametrize(
    ("encoder", "values", "message"),
    [
        ("charagrm", {}, r"Unknown encoder 'charagrm'\. Did you mean 'charagram'\?"),
        ("cse", {"num_layers": 2}, r"'cse'\. Received: num_layers=2\. .* of charagram, dan\."),
        ("lstm", {"depth": 3}, r"'lstm'\. Received: depth=3\. Options .*, use_peepholes\.$"),
        ("charagram", {"activation": "tahn"}, r"Unknown activation 'tahn'\. Did you mean 'tanh'"),
        ("charagram", {"num_layers": 3}, "`num_layers` must be 1 or 2. Received: num_layers=3"),
        ("lstm", {"use_peepholes": "no"}, "`use_peepholes` must be True or False"),
        ("cse", {"widths": "1,x"}, "`widths` must be a list of int. Received: widths='1,x'"),
        ("char_cnn", {"input_dim": None}, "`input_dim` must have a value"),
    ],
)
def test_errors(encoder, values, message):
    with pytest.raises(ConfigError, match=message):
        make_options(encoder, values)

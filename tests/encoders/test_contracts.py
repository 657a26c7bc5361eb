"""The registry, and what every encoder in it keeps to."""

from __future__ import annotations

import itertools

import pytest

from tests.contracts import CONTRACTS, as_keras_layer, exports, some_now
from tf_charagram.encoders import ENCODERS, encoder_class, encoder_from_config, encoder_name
from tf_charagram.errors import ConfigError

NUM_ROWS = 12
# Defaults that only take time here.
SMALLER = {"char_cnn": {"char_dim": 5}, "char_lstm": {"char_dim": 5}}


def make(name):
    return encoder_class(name)(num_rows=NUM_ROWS, dim=6, **SMALLER.get(name, {}))


# Each encoder is exported by its own test, too, with its vectorizer.
@pytest.mark.parametrize(
    ("check", "name"),
    some_now(
        pairs := [*itertools.product(CONTRACTS, ENCODERS)],
        *(pair for pair in pairs if pair[0] not in (exports, as_keras_layer)),
        (exports, "charagram"),
        *((as_keras_layer, name) for name in ("charagram", "char_cnn", "word_average", "gran")),
    ),
    ids=lambda value: getattr(value, "__name__", value),
)  # fmt: skip
def test_contract(name, check, tmp_path):
    check(lambda: make(name), NUM_ROWS, tmp_path)


@pytest.mark.parametrize("name", ENCODERS)
def test_registry(name):
    encoder = make(name)
    assert encoder_name(encoder) == name
    restored = encoder_from_config(name, encoder.get_config())
    assert type(restored) is type(encoder)
    assert restored.get_config() == encoder.get_config()


def test_unknown_name():
    message = r"Unknown encoder 'charagrm'\. Did you mean 'charagram'\? Available: .*charagram"
    with pytest.raises(ConfigError, match=message):
        encoder_class("charagrm")

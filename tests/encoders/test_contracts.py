"""The registry, and the contracts of every encoder in it."""

from __future__ import annotations

import itertools

import pytest

from tests.contracts import (
    CONTRACTS,
    as_keras_layer,
    config_round_trip,
    empty_batch,
    empty_row_is_finite,
    exports,
    ids_may_be_int64,
    rows_are_independent,
    shape_and_type,
    training_changes_no_gradient,
)
from tests.variants import some_now
from tf_charagram.encoders import ENCODERS, encoder_class, encoder_name
from tf_charagram.errors import ConfigError

NUM_ROWS = 12
# What is shared, or takes long to trace: some encoders stand for the others.
NOT_OF_ALL = (
    exports,
    as_keras_layer,
    rows_are_independent,
    ids_may_be_int64,
    training_changes_no_gradient,
)
# Defaults that only take time here.
SMALLER = {"char_cnn": {"input_dim": 5}, "char_lstm": {"input_dim": 5}}


def make(name):
    return encoder_class(name)(num_rows=NUM_ROWS, dim=6, **SMALLER.get(name, {}))


@pytest.mark.parametrize(
    ("check", "name"),
    some_now(
        pairs := [*itertools.product(CONTRACTS, ENCODERS)],
        *(pair for pair in pairs if pair[0] not in NOT_OF_ALL),
        *((exports, name) for name in ("charagram", "char_cnn", "lstm")),
        (as_keras_layer, "charagram"),
        # A sum, windows, two recurrences, and a layer that others do not have.
        *((rows_are_independent, name) for name in ("charagram", "char_cnn", "gran", "cse")),
        *((ids_may_be_int64, name) for name in ("charagram", "gran", "cse")),
        *(
            (training_changes_no_gradient, name)
            for name in ("charagram", "char_cnn", "gran", "cse")
        ),
    ),
    ids=lambda value: getattr(value, "__name__", value),
)  # fmt: skip
def test_contract(name, check, tmp_path):
    check(lambda: make(name), NUM_ROWS, tmp_path)


# Settings that change the results.
OTHERS = {
    "charagram of two layers": ("charagram", {"activation": "tanh", "num_layers": 2}),
    "dan of two layers": ("dan", {"input_dim": 4, "activation": "relu", "num_layers": 2}),
    "wide projection": ("projection", {"input_dim": 2}),
    "cse of other widths": ("cse", {"input_dim": 5, "widths": (2, 5), "activation": "tanh"}),
    "char_cnn without dense": ("char_cnn", {"input_dim": 3, "filters": "kim", "dense": "none"}),
    "char_lstm without peepholes": ("char_lstm", {"input_dim": 3, "use_peepholes": False}),
    "lstm without output gate": ("lstm", {"use_output_gate": False}),
    "lstm without peepholes": ("lstm", {"use_peepholes": False}),
    "gran without peepholes": ("gran", {"use_peepholes": False}),
}


@pytest.mark.parametrize(
    "other",
    some_now(
        [*OTHERS], *(name for name in OTHERS if not name.startswith(("lstm", "gran", "wide")))
    ),
)
@pytest.mark.parametrize(
    "check",
    some_now(
        CONTRACTS,
        *(check for check in CONTRACTS if check not in NOT_OF_ALL),
    ),
    ids=lambda check: check.__name__,
)
def test_contract_with_other_settings(other, check, tmp_path):
    name, settings = OTHERS[other]
    settings = {"num_rows": 9, "dim": 6, "seed": 3, **settings}
    check(lambda: encoder_class(name)(**settings), 9, tmp_path)


@pytest.mark.parametrize("name", some_now(["projection", "gran"], "projection"))
@pytest.mark.parametrize(
    "check",
    [config_round_trip, shape_and_type, empty_row_is_finite, empty_batch, exports],
    ids=lambda check: check.__name__,
)
def test_contract_with_dropout(name, check, tmp_path):
    settings = {"num_rows": 9, "dim": 5, "dropout": 0.4, "seed": 3}
    check(lambda: encoder_class(name)(**settings), 9, tmp_path)


@pytest.mark.parametrize("name", ENCODERS)
def test_registry(name):
    encoder = make(name)
    assert encoder_name(encoder) == name
    restored = encoder_class(name).from_config(encoder.get_config())
    assert type(restored) is type(encoder)
    assert restored.get_config() == encoder.get_config()


def test_every_encoder_has_300_numbers_by_default():
    dims = {name: encoder_class(name)(num_rows=1).dim for name in ENCODERS}
    assert dims == dict.fromkeys(ENCODERS, 300)


def test_unknown_name():
    message = r"Unknown encoder 'charagrm'\. Did you mean 'charagram'\? Available: .*charagram"
    with pytest.raises(ConfigError, match=message):
        encoder_class("charagrm")

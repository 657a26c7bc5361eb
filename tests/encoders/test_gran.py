"""The gated recurrent averaging network against the slow reference."""

from __future__ import annotations

import pytest
import tensorflow as tf
from numpy.testing import assert_allclose

from tests.contracts import CONTRACTS, ragged, some_now
from tests.encoders.agreement import NUM_ROWS, ROWS, check_against_reference, check_export
from tests.reference import words as reference
from tf_charagram.encoders.averaging import WordAverage
from tf_charagram.encoders.gran import Gran
from tf_charagram.errors import ConfigError


@pytest.mark.parametrize("use_peepholes", [False, True])
@pytest.mark.parametrize("use_output_gate", [False, True])
def test_equals_reference(use_output_gate, use_peepholes):
    encoder = Gran(
        num_rows=NUM_ROWS, dim=3, use_output_gate=use_output_gate, use_peepholes=use_peepholes
    )
    cell = encoder.lstm.cell
    weights = {
        "W": encoder.table.table, "Wx": cell.kernel, "Wh": cell.recurrent_kernel, "b": cell.bias,
        "G": encoder.gate.kernel, "g": encoder.gate.bias,
    }  # fmt: skip
    if use_peepholes:
        weights["P"] = cell.peepholes
    encode = reference.gran(use_output_gate)

    def with_halves(ids, p):
        return encode(ids, p | {"Gx": p["G"][:3], "Gh": p["G"][3:]})

    check_against_reference(encoder, weights, with_halves)


def test_open_gates_give_the_average():
    encoder = Gran(num_rows=NUM_ROWS, dim=4, seed=7)
    encoder.gate.bias.assign(tf.fill([4], 30.0))
    average = WordAverage(num_rows=NUM_ROWS, dim=4, seed=7)
    assert_allclose(encoder(ragged(ROWS)), average(ragged(ROWS)), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("switch", some_now(["use_output_gate", "use_peepholes"]))
@pytest.mark.parametrize("check", CONTRACTS, ids=lambda check: check.__name__)
def test_contract_without(check, switch, tmp_path):
    check(lambda: Gran(num_rows=9, dim=5, seed=3, **{switch: False}), 9, tmp_path)


@pytest.mark.parametrize("use_peepholes", some_now([False, True], True))
def test_export(use_peepholes, tmp_path):
    check_export(
        lambda num_rows: Gran(num_rows=num_rows, dim=4, use_peepholes=use_peepholes), tmp_path
    )


def test_errors():
    with pytest.raises(ConfigError, match=r"`dim` must be at least 1. Received: dim=0"):
        Gran(num_rows=3, dim=0)

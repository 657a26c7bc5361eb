"""Rows and their parts: where each row is, and how it gets there and back."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tf_charagram.errors import ConfigError
from tf_charagram.layers import divided_rows
from tf_charagram.layers.divided_rows import DividedRows


def variables(*arrays):
    return [tf.Variable(array) for array in arrays]


def test_by_hand():
    """Rows 0, 3, 6 are in part 0; rows 1, 4 in part 1; rows 2, 5 in part 2."""
    rows = DividedRows(7, 3, 0, 3)
    (whole,) = variables(np.arange(7.0))
    parts = variables(*(np.zeros(rows.height(part)) for part in rows.held))
    rows.cut(whole, parts)
    assert [part.numpy().tolist() for part in parts] == [[0, 3, 6], [1, 4], [2, 5]]


@pytest.mark.parametrize("piece", [1, 2, 100])
@pytest.mark.parametrize("num_parts", [1, 2, 3, 5])
def test_there_and_back(num_parts, piece, monkeypatch):
    monkeypatch.setattr(divided_rows, "_PIECE", piece)
    rows = DividedRows(11, num_parts, 0, num_parts)
    table = np.random.default_rng(0).normal(size=(11, 2))
    whole, back = variables(table, np.zeros_like(table))
    parts = variables(*(np.zeros((rows.height(part), 2)) for part in rows.held))
    rows.cut(whole, parts)
    rows.assemble(parts, back)
    np.testing.assert_array_equal(back, table)


def test_rows_of_parts_that_are_not_held_stay():
    rows = DividedRows(7, 3, 1, 2)
    assert list(rows.held) == [1, 2]
    (whole,) = variables(np.zeros(7))
    rows.assemble(variables(np.array([1.0, 4.0]), np.array([2.0, 5.0])), whole)
    assert whole.numpy().tolist() == [0, 1, 2, 0, 4, 5, 0]


@pytest.mark.parametrize("num_parts", [0, 8])
def test_too_many_parts_or_none(num_parts):
    message = rf"`num_parts` must be from 1 to the number of rows, 7\. Received: .*={num_parts}"
    with pytest.raises(ConfigError, match=message):
        DividedRows(7, num_parts, 0, 1)


@pytest.mark.parametrize(("first_part", "num_held"), [(-1, 1), (0, 0), (2, 2)])
def test_parts_that_are_not_there(first_part, num_held):
    message = rf"must be among 0 \.\.\. 2.*first_part={first_part} and {num_held} devices"
    with pytest.raises(ConfigError, match=message):
        DividedRows(7, 3, first_part, num_held)

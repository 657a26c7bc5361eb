"""The operations that algorithms on texts are made of, in NumPy and in TensorFlow."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from tests.text.operations import batch_of, over_both
from tf_charagram.text._algorithm import arrays, graph

TABLE = [[3, 1, 2], [0, 5, 0]]
MASK = [[True, False, True], [False, False, False]]
NEGATIVE = -(2**62) - 3
# Name of an operation -> arguments and expected results. Lists are int64 arrays.
CASES = {
    "all_of": [((MASK, 1), [False, False]), (([True, True],), True)],
    "any_of": [((MASK, 1), [True, False]), (([False],), False)],
    "bits_of": [(([-1, 5],), [2**64 - 1, 5])],
    "cast_to": [(([0, 3], "float32"), [0.0, 3.0]), (([257], "uint8"), [1])],
    "clip": [(([-4, 2, 9], 0, 5), [0, 2, 5])],
    "concat": [
        ((([1], [], [2, 3]),), [1, 2, 3]),
        (((TABLE, [[7], [8]]), 1), [[3, 1, 2, 7], [0, 5, 0, 8]]),
    ],
    "constant": [(([1, 2],), [1, 2])],
    "countdown": [(([3, 0, 2], [1, 0, -1]), [3, 2, 2, 1, 0]), (([], []), [])],
    "dropped": [
        (([7, 8, 9, 6], [], [0, 2, 4]), ([7, 8, 9, 6], [0, 2, 4])),
        (([7, 8, 9, 6], [0, 2], [0, 1, 3, 4]), ([8, 6], [0, 0, 1, 2])),
        (([7, 8], [0, 1], [0, 1, 2]), ([], [0, 0, 0])),
    ],
    "flattened": [((TABLE,), [3, 1, 2, 0, 5, 0])],
    "full_like": [((TABLE, 1.5, np.float32), [[1.5] * 3] * 2)],
    "int64": [(([1, 2],), [1, 2])],
    "kept": [
        (([7, 8, 9], [True, False, True], [0, 1, 2, 3]), ([7, 9], [0, 1, 1, 2])),
        (([7, 8], [False, False], [0, 2]), ([], [0, 0])),
    ],
    "like": [(([1, 2], [3]), [1, 2])],
    "masked": [((TABLE, MASK), [[3, 0, 2], [0, 0, 0]])],
    "max_at": [(([1, 2, 3], [0, 0, 2], [4, 9, 1]), [9, 2, 3])],
    "max_of": [((TABLE, 1), [3, 5])],
    "maximum": [(([1, 5], [3, 2]), [3, 5])],
    "means_of_equal": [(([2, 2, 5], [1.0, 2.0, 4.0]), ([2, 5], [1.5, 4.0]))],
    "merged": [((([0, 1, 2], [1, 2]), ([7, 8, 9], [5, 6])), [7, 5, 6])],
    "minimum": [(([1, 5], [3, 2]), [1, 2])],
    "num_nonzero": [((TABLE, 1), [3, 1])],
    "padded": [((TABLE, 1, 2), [[0, 3, 1, 2, 0, 0], [0, 0, 5, 0, 0, 0]]), (([4], 0, 1, 9), [4, 9])],
    "place_of_max": [((TABLE, 1), [0, 1])],
    "places_of_true": [((MASK,), ([0, 0], [0, 2]))],
    "positions": [(([5, 1, 8], [7, 1, 9]), [5, 6, 8]), (([], []), [])],
    "positions_of_true": [(([True, False, True],), [0, 2]), (([],), [])],
    "put": [((TABLE, [1], [[7, 8, 9]]), [[3, 1, 2], [7, 8, 9]]), (([1, 2], [], []), [1, 2])],
    "range_of": [((3,), [0, 1, 2])],
    "repeat": [
        (([4, 6], 2), [4, 4, 6, 6]),
        (([4, 5, 6], np.array([2, 0, 1])), [4, 4, 6]),
        (([4, 6], np.array([0, 0])), []),
    ],
    "reshape": [((TABLE, [-1, 2]), [[3, 1], [2, 0], [5, 0]])],
    "searchsorted": [(([1, 3, 3], [3, 0, 9]), [1, 0, 3]), (([1, 3, 3], [3], "right"), [3])],
    "selected": [((TABLE, [False, True]), [[0, 5, 0]])],
    "shift_left": [(([1, NEGATIVE], np.int64(3)), [8, -24])],
    "shift_right": [(([8, NEGATIVE], np.int64(1)), [4, -(2**61) - 2])],
    "size": [((TABLE,), 6)],
    "splits_of": [(([3, 1, 2],), [0, 3, 4, 6]), (([],), [0])],
    "stack": [((([1, 2], [3, 4]), 1), [[1, 3], [2, 4]])],
    "sum_of": [
        ((TABLE, 1), [6, 5]),
        ((TABLE, 1, True), [[6], [5]]),
        (([[2**63 - 1, 1]], 1), [-(2**63)]),
    ],
    "sums_before": [((TABLE,), [[0, 3, 4], [0, 0, 5]])],
    "take": [((TABLE, [1, 1]), [[0, 5, 0]] * 2), (([4, 6], TABLE[:0]), [])],
    "take_at": [((TABLE, [0, 1], [2, 1]), [2, 5])],
    "take_clipped": [(([4, 6], [0, 1, 7]), [4, 6, 6])],
    "take_each": [((TABLE, [2, 0]), [2, 0])],
    "uint64": [(([-1, 5],), [2**64 - 1, 5])],
    "where": [(([True, False], [1, 2], np.int64(7)), [1, 7])],
    "with_axis": [(([1, 2], 1), [[1], [2]])],
}  # fmt: skip
# These have tests of their own.
TEXT_OPERATIONS = {
    "cond", "decode", "encode", "in_unicode_form", "shortened", "text_batch", "text_list",
}  # fmt: skip


def operations(module):
    """Returns the names that a module defines, in lowercase and without an underscore."""
    names = set()
    for node in ast.parse(Path(module.__file__).read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets}
    return {name for name in names if name.islower() and not name.startswith("_")}


def array_of(value):
    if not isinstance(value, list):
        return value
    array = np.array(value)
    if not array.size:
        return np.zeros(array.shape, np.int64)
    return array.astype(np.float32) if array.dtype == np.float64 else array


def given(ops, value):
    if isinstance(value, tuple):
        return [given(ops, part) for part in value]
    return ops.constant(array_of(value)) if isinstance(value, list) else value


def check(found, expected):
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for part, other in zip(found, expected, strict=True):
            check(part, other)
        return
    np.testing.assert_array_equal(np.asarray(found), np.array(expected))


@over_both
@pytest.mark.parametrize("name", CASES)
def test_operation(name, ops):
    for arguments, expected in CASES[name]:
        prepared = [given(ops, argument) for argument in arguments]
        check(getattr(ops, name)(*prepared), expected)


@pytest.mark.parametrize("module", [arrays, graph])
def test_both_have_the_same_operations(module):
    assert operations(module) == {*CASES, *TEXT_OPERATIONS}


def test_arguments_have_the_same_names():
    for name in operations(graph):
        ours = [inspect.signature(getattr(module, name)).parameters for module in (arrays, graph)]
        if all(inspect.isfunction(getattr(module, name)) for module in (arrays, graph)):
            is_own = [
                getattr(module, name).__module__ == module.__name__ for module in (arrays, graph)
            ]
            assert not all(is_own) or list(ours[0]) == list(ours[1]), name


@over_both
def test_arguments_stay_as_they_are(ops):
    values = np.array([1, 2, 3])
    for change in (ops.put, ops.max_at):
        given_values = ops.constant(values)
        change(given_values, ops.constant(np.array([1])), ops.constant(np.array([9])))
        assert np.asarray(given_values).tolist() == [1, 2, 3]


@over_both
def test_types(ops):
    values = ops.constant(np.array([[1, 2]], np.int32))
    assert ops.sum_of(values, 1).dtype == np.int32
    assert ops.full_like(values, 1, np.int64).dtype == np.int64
    assert ops.padded(values, 1, 0).dtype == np.int32
    assert ops.like(ops.constant([2]), values).dtype == np.int32
    for counted in (ops.size(values), ops.num_nonzero(values, 1), ops.place_of_max(values, 1)):
        assert counted.dtype == np.int64


@over_both
@pytest.mark.parametrize("is_true", [True, False])
def test_cond(ops, is_true):
    condition = ops.any_of(ops.constant([False, is_true]))
    found = ops.cond(condition, lambda: ops.constant([1]), lambda: ops.constant([2]))
    assert np.asarray(found).tolist() == [1 if is_true else 2]


@over_both
@pytest.mark.parametrize("texts", [
    [], [""], ["one two", "", "x"], ["caf\u00e9", "a", "\U0001f600"], ["\u4e2d", ""],
])  # fmt: skip
def test_decoded_and_encoded(ops, texts):
    codes, boundaries = ops.decode(batch_of(ops, texts))
    joined = "".join(map(chr, np.asarray(codes).tolist()))
    assert joined == "".join(f" {text}" for text in texts) + " "
    assert [joined[place] for place in np.asarray(boundaries).tolist()] == [" "] * (len(texts) + 1)
    assert ops.text_list(ops.encode(codes, boundaries[:-1] + 1, boundaries[1:])) == texts
    assert np.asarray(ops.decode(ops.text_batch(texts))[0]).tolist() == np.asarray(codes).tolist()


@over_both
def test_broken_utf8(ops):
    texts = [b"caf\xe9", b"\xff\xfe", b"a\xed\xa0\x80b", b"\xf0\x9f\x98"]
    codes, _ = ops.decode(batch_of(ops, texts))
    expected = " caf\ufffd \ufffd\ufffd a\ufffd\ufffd\ufffdb \ufffd "
    assert "".join(map(chr, np.asarray(codes).tolist())) == expected


@pytest.mark.parametrize("num_keys", [0, 1, 2, 3, 1000])
@pytest.mark.parametrize("are_mixed", [True, False])
def test_tables(num_keys, are_mixed):
    limits = np.iinfo(np.int64)
    random = np.random.default_rng(num_keys)
    keys = random.integers(limits.min, limits.max, num_keys)
    rows = random.integers(0, 2**31, len(keys)).astype(np.int32)
    others = np.concatenate([keys, keys - 1, keys + 1, [0, limits.min, limits.max - 1]])
    row_of = dict(zip(keys.tolist(), rows.tolist(), strict=True))
    expected = [row_of.get(key, -5) for key in others.tolist()]
    found = arrays.Table(keys, rows, -5, are_mixed=are_mixed).lookup(others)
    assert found.dtype == np.int32 and found.tolist() == expected
    if num_keys:
        found = graph.Table(keys, rows, -5, are_mixed=are_mixed).lookup(tf.constant(others))
        assert found.dtype == tf.int32 and found.numpy().tolist() == expected


def test_tables_of_any_shape_and_keys_alike():
    table = arrays.Table(np.array([5, -7, 3, 2**62]), np.arange(4, dtype=np.int32), -1)
    assert table.lookup(np.array([[2**62, 3], [-7, 5]])).tolist() == [[3, 2], [1, 0]]
    assert table.lookup(np.zeros((0, 3), np.int64)).shape == (0, 3)
    keys = np.arange(1, 200)
    for are_mixed in (True, False):
        table = arrays.Table(keys, keys.astype(np.int32), -1, are_mixed=are_mixed)
        assert table.lookup(np.arange(300)).tolist() == [-1, *range(1, 200), *[-1] * 100]

"""Tests of rounded tables."""

from __future__ import annotations

import numpy as np
import pytest

from tf_charagram.errors import ConfigError
from tf_charagram.export._compression.quantization import _QuantizedSum
from tf_charagram.models._storage.stored_tables import stored_table

F32 = np.finfo(np.float32)


def random_table(seed, num_rows=3000, dim=20):
    """Returns rows of very different sizes, and one of zeros."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(num_rows, dim)) * rng.lognormal(sigma=3, size=(num_rows, 1))
    table[1] = 0
    return table.astype(np.float32)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("dtype", "levels"), [("int8", 127), ("int4", 7)])
def test_error_is_at_most_half_a_scale(dtype, levels, seed):
    table = random_table(seed)
    stored = stored_table(table, dtype)
    restored = stored.restored(table.shape[1])
    assert stored.scales.dtype == restored.dtype == np.float32
    numbers = np.rint(restored / stored.scales)
    assert (np.abs(numbers).max(axis=1) == np.where(table.any(axis=1), levels, 0)).all()
    assert (np.abs(restored - table) <= stored.scales * (0.5 + 1e-4)).all()


@pytest.mark.parametrize("dim", [1, 2, 5, 16])
def test_int4_packs_two_numbers_per_byte(dim):
    numbers = np.random.default_rng(dim).integers(-7, 8, (50, dim))
    numbers[:, 0] = 7
    stored = stored_table(numbers.astype(np.float32), "int4")
    assert stored.rows.dtype == np.uint8 and stored.rows.shape == (50, (dim + 1) // 2)
    for row, packed in zip(numbers, stored.rows, strict=True):
        nibbles = [nibble - 8 for byte in packed.tolist() for nibble in (byte % 16, byte // 16)]
        assert nibbles == [*row, *[0] * (dim % 2)]
    np.testing.assert_array_equal(stored.restored(dim), numbers)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "int4"])
def test_restored_tables_are_stored_as_the_same_bytes(dtype):
    # Scales with every pattern of the low bits, because rounding fails for 1 in 128.
    table = np.full((4096, 1), 127, np.float32) * np.nextafter(
        np.float32(0.01), 1, dtype=np.float32
    ) + np.arange(4096, dtype=np.float32)[:, np.newaxis] * np.spacing(np.float32(1.27))
    table = np.concatenate([table, random_table(9, dim=1)]).astype(np.float32)
    stored = stored_table(table, dtype)
    again = stored_table(stored.restored(1), dtype)
    assert stored.rows.tobytes() == again.rows.tobytes()
    if stored.scales is not None:
        assert stored.scales.tobytes() == again.scales.tobytes()


def test_exported_models_are_rounded_alike():
    table = random_table(4)
    layer, stored = _QuantizedSum(table, "int8"), stored_table(table, "int8")
    np.testing.assert_array_equal(layer.rows.numpy(), stored.rows)
    np.testing.assert_array_equal(layer.scales.numpy(), stored.scales)


def test_tiny_numbers():
    table = np.array([[F32.smallest_subnormal, 0], [5e-31, -5e-31], [0, 0]], np.float32)
    stored = stored_table(table, "int8")
    assert np.isfinite(stored.scales).all() and (stored.scales > 0).all()
    np.testing.assert_allclose(stored.restored(2), table, atol=1e-32)


@pytest.mark.parametrize("dtype", ["float16", "int8", "int4"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_not_finite(dtype, value):
    table = np.ones((5, 3), np.float32)
    table[[1, 3], 2] = value
    with pytest.raises(
        ConfigError, match=rf"finite to be stored as {dtype}\. .* infinity in 2 of 5 rows"
    ):
        stored_table(table, dtype)
    assert stored_table(table, "float32").rows is table


def test_too_large_for_float16():
    """The largest float16 is 65,504."""
    assert stored_table(np.array([[65504.0]], np.float32), "float16").rows.tolist() == [[65504]]
    with pytest.raises(ConfigError, match=r"too large for float16\. Use dtype=int8"):
        stored_table(np.array([[7e4]], np.float32), "float16")

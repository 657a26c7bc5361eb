"""Tables in huge pages keep their numbers."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from tf_charagram.layers.huge_pages import use_huge_pages


def huge_bytes():
    """Returns how many bytes of this process are in huge pages."""
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith("AnonHugePages"))
    return int(kilobytes) * 1024


def are_offered():
    """Returns whether this system gives huge pages to those who ask, and moves what is there."""
    setting = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not sys.platform.startswith("linux") or not setting.is_file():
        return False
    version = tuple(map(int, Path("/proc/sys/kernel/osrelease").read_text().split(".")[:2]))
    return "[never]" not in setting.read_text() and version >= (6, 1)


@pytest.mark.parametrize("num_rows", [0, 1, 7_000, 100_000])
def test_numbers_stay(num_rows):
    values = np.random.default_rng(0).normal(size=(num_rows, 75)).astype(np.float32)
    table = tf.Variable(values)
    use_huge_pages(table)
    np.testing.assert_array_equal(table, values)


@pytest.mark.skipif(not are_offered(), reason="needs huge pages on request, as of Linux 6.1")
def test_a_large_table_is_in_huge_pages():
    table = tf.Variable(tf.random.stateless_uniform([1 << 18, 64], seed=[0, 0]))
    before = huge_bytes()
    use_huge_pages(table)
    # The system may be short of them; half of the table is more than chance.
    assert huge_bytes() - before > (1 << 26) / 2

"""Marks the settings of a test that another setting stands for."""

from __future__ import annotations

import pytest


def some_now(names, *now):
    """Returns test parameters: names that stand for all, and the others, which are variants.

    Use it for code that the settings share. A name may be a tuple of several parameters.
    """
    assert set(now) <= set(names)

    def later(name):
        values = name if isinstance(name, tuple) else (name,)
        return pytest.param(*values, marks=pytest.mark.variant)

    return [name if name in now else later(name) for name in names]

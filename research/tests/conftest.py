"""Shares the fixtures of the package's tests."""

from __future__ import annotations

from tests.conftest import (
    ctrl_c,
    data,
    pytest_collection_modifyitems,
    pytest_configure,
    trained,
)

__all__ = ["ctrl_c", "data", "pytest_collection_modifyitems", "pytest_configure", "trained"]

"""Files for the tests of readers."""

from __future__ import annotations

import pytest


@pytest.fixture
def write(request, tmp_path):
    """Returns a function that writes a file, named `FILE_NAME` of the module or `x.csv`."""
    default = getattr(request.module, "FILE_NAME", "x.csv")

    def write(content, name=default):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write

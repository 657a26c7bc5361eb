"""Every process collects the same tests, so that workers of pytest-xdist agree."""

from __future__ import annotations

import gzip
import subprocess
import sys

import pytest


@pytest.mark.campaign
def test_another_process_collects_the_same_tests(request):
    """Collects again, seconds later, with other hashes of strings and other addresses."""
    here = [item.nodeid for item in request.session.items]
    options = ["-q", "-p", "no:cacheprovider", "-m", request.config.option.markexpr]
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", *options, *request.config.args],
        capture_output=True,
        text=True,
        check=True,
    )
    # `-k` may have left out some here.
    selected = set(here)
    assert [line for line in finished.stdout.splitlines() if line in selected] == here


@pytest.mark.parametrize("content", [gzip.compress(b"a"), b"b"])
def test_bytes_are_named_after_their_argument(request, content):
    number = 1 if content == b"b" else 0
    assert request.node.callspec.id == f"content{number}"

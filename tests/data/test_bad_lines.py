"""`BadLines`."""

from __future__ import annotations

import pytest

from tf_charagram.data.readers.lines import BadLines
from tf_charagram.errors import ConfigError, DataError


def test_error_stops_at_the_first():
    bad = BadLines("error")
    with pytest.raises(DataError, match=r"p\.tsv:3: expected 2, found 1\. Correct.*on_bad_line"):
        bad.report("p.tsv", 3, "expected 2, found 1")


def test_skip_counts_and_keeps_the_first():
    bad = BadLines("skip")
    assert bad.summary() == "no bad lines"
    for line in range(17, 25):
        bad.report("p.tsv", line, "expected 2, found 1")
        if line == 17:
            assert bad.summary() == "skipped 1 bad line; first: p.tsv:17: expected 2, found 1"
    assert bad.count == 8
    assert bad.summary() == "skipped 8 bad lines; first: p.tsv:17: expected 2, found 1"


def test_from_name_or_object():
    bad = BadLines("skip")
    assert BadLines.of(bad) is bad
    assert BadLines.of("error").on_bad_line == "error"
    with pytest.raises(ConfigError, match=r"Unknown on_bad_line 'skipp'\. Did you mean 'skip'"):
        BadLines("skipp")

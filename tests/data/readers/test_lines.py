"""Lines of files, and bad lines."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tf_charagram.data._tables.lines import BadLines, read_lines
from tf_charagram.errors import ConfigError, DataError

TEXT = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])).filter(
    lambda text: not text.endswith("\r")
)


def write(folder, content, name="x.tsv"):
    path = folder / name
    path.write_bytes(content)
    return path


def texts(path):
    return [text for _, text in read_lines(path)]


@settings(max_examples=100)
@given(
    lines=st.lists(TEXT, min_size=1).filter(lambda lines: not lines[0].startswith("\ufeff")),
    ends=st.lists(st.sampled_from(["\n", "\r\n"]), min_size=1),
    use_gzip=st.booleans(),
    has_bom=st.booleans(),
)
def test_round_trip(tmp_path_factory, lines, ends, use_gzip, has_bom):
    content = "".join(text + ends[i % len(ends)] for i, text in enumerate(lines)).encode()
    content = b"\xef\xbb\xbf" * has_bom + content
    path = tmp_path_factory.mktemp("lines") / "misleading.name"
    path.write_bytes(gzip.compress(content) if use_gzip else content)
    assert list(read_lines(path)) == list(enumerate(lines, start=1))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a\nb", ["a", "b"]),
        (b"a\r\nb\nc\rd\r\r\ne\r", ["a", "b", "c\rd\r", "e"]),
        ("a\u2028b\x85c\x0bd\x0ce\x1cf\n".encode(), ["a\u2028b\x85c\x0bd\x0ce\x1cf"]),
        (b"a\x00b\n", ["a\x00b"]),
        (b"a\xffb\n\xe2\x82\nok\n", ["a\ufffdb", "\ufffd", "ok"]),
        (b"\xef\xbb\xbf\xef\xbb\xbfa\n\xef\xbb\xbfb\n", ["\ufeffa", "\ufeffb"]),
    ],
    ids=["empty", "blank", "no-final-newline", "cr", "unicode-breaks", "nul", "broken", "bom"],
)
def test_line_rules(tmp_path, content, expected):
    assert texts(write(tmp_path, content)) == expected
    assert texts(write(tmp_path, gzip.compress(content))) == expected


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_standard_input_is_read_and_left_open(monkeypatch, compress):
    content = compress("ä\nb\n".encode())
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(content)))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert list(read_lines("-")) == [(1, "ä"), (2, "b")]
    assert not stdin.buffer.closed


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_streaming_needs_little_memory(tmp_path, compress):
    path = write(tmp_path, compress(b"same\tline\n" * 1_000_000))
    lines = read_lines(path)
    next(lines)
    tracemalloc.start()
    try:
        for _ in range(20_000):
            next(lines)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 500_000
    assert sum(1 for _ in lines) == 1_000_000 - 20_001


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (bz2.compress(b"a"), "bzip2"),
        (lzma.compress(b"a"), "xz"),
        (b"\x28\xb5\x2f\xfd\x04\x00\x09\x00\x00a\n", "zstd"),
        (b"PK\x03\x04\x14\x00", "zip"),
        (b"PAR1\x15\x04\x15", "Parquet"),
    ],
    ids=["bzip2", "xz", "zstd", "zip", "Parquet"],
)
def test_other_formats(tmp_path, content, kind):
    with pytest.raises(DataError, match=rf"x\.tsv: is {kind}\. Convert it to text in UTF-8"):
        texts(write(tmp_path, content))


def test_gzip_cut_short_gives_the_lines_before_the_cut(tmp_path):
    lines = [f"line {number}" for number in range(1, 50_001)]
    content = gzip.compress("\n".join(lines).encode())
    seen = []
    with pytest.raises(DataError, match=r"x\.tsv:\d+: the gzip data is truncated.*again") as info:
        for number, text in read_lines(write(tmp_path, content[: len(content) // 2])):
            assert number == len(seen) + 1
            seen.append(text)
    assert seen == lines[: len(seen)]
    assert len(seen) > 20_000
    assert info.value.line == len(seen) + 1


def test_corrupt_gzip(tmp_path):
    content = bytearray(gzip.compress(b"some text\n" * 100))
    content[-8] ^= 0xFF  # the CRC
    with pytest.raises(DataError, match=r"x\.tsv:101: the gzip data is truncated or damaged"):
        texts(write(tmp_path, bytes(content)))
    with pytest.raises(DataError, match="truncated or damaged"):
        texts(write(tmp_path, b"\x1f\x8bnot gzip at all"))


def test_one_warning_per_file_that_is_not_utf_8(tmp_path, caplog):
    path = write(
        tmp_path, "na\ufffdve\ncaf\xe9\n".encode() + "caf\xe9\nna\xefve\n".encode("latin-1")
    )
    for _ in range(2):
        assert texts(path) == ["na\ufffdve", "caf\xe9", "caf\ufffd", "na\ufffdve"]
    (record,) = caplog.records
    assert record.getMessage().startswith(f"{path}:3: is not UTF-8 here")


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

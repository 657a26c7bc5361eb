"""Input files are found, split into shards and counted."""

from __future__ import annotations

import bz2
import io
import os
import sys

import pytest

from tf_charagram.bulk._shards import inputs
from tf_charagram.bulk._shards.inputs import (
    LineProgress,
    find_inputs,
    read_shards,
)
from tf_charagram.errors import ConfigError, DataError


def write(path, raw):
    path.write_bytes(raw)
    return str(path)


class TestFind:
    def test_order_and_patterns(self, tmp_path):
        for name in ("b.txt", "a.txt", "c[1].gz"):
            (tmp_path / name).write_text("x")
        found = find_inputs([str(tmp_path / "c[1].gz"), str(tmp_path / "*.txt"), "-"])
        assert [os.path.basename(file.path) for file in found] == ["c[1].gz", "a.txt", "b.txt", "-"]

    def test_twice(self, tmp_path):
        (tmp_path / "a").write_text("x")
        (tmp_path / "link").symlink_to("a")
        with pytest.raises(ConfigError, match=r"link is given twice: its lines would be read"):
            find_inputs([str(tmp_path / "a"), str(tmp_path / "link")])

    @pytest.mark.parametrize(
        ("name", "reason"), [("nothing", "No such file"), ("", "Is a directory"), ("*", "No such")]
    )
    def test_cannot_be_read(self, tmp_path, name, reason):
        with pytest.raises(DataError, match=rf"cannot be read: {reason}.*Check the path"):
            find_inputs([str(tmp_path / name)])

    def test_no_text(self, tmp_path):
        """Told before anything is embedded."""
        (tmp_path / "lines.bz2").write_bytes(bz2.compress(b"a line\n"))
        with pytest.raises(DataError, match=r"lines\.bz2: is bzip2\. Convert it to text"):
            find_inputs([str(tmp_path / "lines.bz2")])

    def test_a_pipe_has_no_size(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        (found,) = find_inputs([str(tmp_path / "pipe")])
        assert found.size is None


class TestShards:
    def test_each_line_once(self, tmp_path):
        path = write(tmp_path / "a", b"".join(b"%d\n" % number for number in range(25)))
        shards = list(read_shards(path, 3, 10))
        assert [shard.name for shard in shards] == [f"part-00003-0000{part}" for part in range(3)]
        assert [shard.first_line for shard in shards] == [1, 11, 21]
        assert [int(text) for shard in shards for text in shard.texts] == list(range(25))
        assert all(shard.path == path for shard in shards)

    def test_nothing(self, tmp_path):
        assert list(read_shards(write(tmp_path / "a", b""), 0, 10)) == []

    def test_long_lines_make_shards_smaller(self, tmp_path, monkeypatch):
        monkeypatch.setattr(inputs, "_MAX_SHARD_CHARS", 100)
        path = write(tmp_path / "a", (b"x" * 40 + b"\n") * 5 + b"y" * 300 + b"\n")
        shards = list(read_shards(path, 0, 10))
        assert [len(shard.texts) for shard in shards] == [2, 2, 1, 1]
        assert [shard.first_line for shard in shards] == [1, 3, 5, 6]


class Terminal(io.StringIO):
    def isatty(self):
        return True


class TestProgress:
    @pytest.fixture
    def path(self, tmp_path):
        (tmp_path / "lines").write_bytes(b"cat\n" * 100)
        return str(tmp_path / "lines")

    @pytest.mark.parametrize("stream", [Terminal, io.StringIO])
    def test_bar_on_a_terminal_only(self, monkeypatch, path, stream):
        monkeypatch.setattr(sys, "stderr", stream())
        monkeypatch.setenv("TERM", "xterm")
        with LineProgress(find_inputs([path])) as progress:
            progress.advance(50, 200)
        bar = sys.stderr.getvalue()
        assert ("50 lines" in bar and "lines/s" in bar and "50%" in bar) == (stream is Terminal)
        progress.say(progress.summary())
        assert sys.stderr.getvalue().removeprefix(bar).startswith("50 lines in ")

    def test_share_that_is_done(self, path):
        def share(patterns, **kwargs):
            progress = LineProgress(find_inputs(patterns), **kwargs)
            progress.advance(25, 100)
            task = progress._progress.tasks[0]
            return task.total, task.completed

        assert share([path]) == (400, 100)
        assert share([path], bytes_done=200) == (400, 300)
        assert share([path, "-"]) == (None, 100)
        os.link(path, f"{path}.gz")
        assert share([f"{path}.gz"]) == (None, 100)

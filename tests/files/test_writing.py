"""Files written whole or not at all, and locks on folders."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tf_charagram._files.json_files import parse_json, read_json, write_json
from tf_charagram._files.writing import FolderLock, partial_folder, replaced_folder, whole_file
from tf_charagram.errors import RunError


def test_writes_bytes_and_text_with_their_folder(tmp_path):
    with whole_file(tmp_path / "a" / "b" / "bytes") as file:
        file.write(b"\x00\r\n")
    with whole_file(tmp_path / "text", "w") as file:
        file.write("\u00e9\n")
    assert (tmp_path / "a" / "b" / "bytes").read_bytes() == b"\x00\r\n"
    assert (tmp_path / "text").read_bytes() == b"\xc3\xa9\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "text"]


def test_appears_only_once_complete(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with whole_file(path, "w") as file:
        file.write("new")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"


@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_is_replaced_and_its_target_is_not(tmp_path, is_there):
    path, target = tmp_path / "link", tmp_path / "target"
    if is_there:
        target.write_text("old")
    path.symlink_to(target)
    with whole_file(path, "w") as file:
        file.write("new")
    assert path.read_text() == "new" and not path.is_symlink()
    assert (target.read_text() == "old") if is_there else not target.exists()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_only_the_old_file(tmp_path, error):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(error), whole_file(path, "w") as file:
        file.write("half")
        raise error
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_remains_of_a_killed_process_are_overwritten(tmp_path):
    (tmp_path / ".file.part").write_text("much that was cut sho")
    with whole_file(tmp_path / "file", "w") as file:
        file.write("new")
    (tmp_path / ".folder.part" / "inner").mkdir(parents=True)
    (tmp_path / ".folder.part" / "inner" / "half").write_text("x")
    with partial_folder(tmp_path / "folder") as partial:
        assert list(partial.iterdir()) == []
        (partial / "whole").write_text("y")
        partial.rename(tmp_path / "folder")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder", "whole"]
    assert (tmp_path / "file").read_text() == "new"


def test_a_kill_while_a_folder_is_replaced(tmp_path, monkeypatch):
    """The next write removes the remains."""

    class Killed(BaseException):
        pass

    path, rename = tmp_path / "1", os.rename
    path.mkdir()
    (path / "old").write_text("")

    def die(source, target):
        rename(source, target)
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed), replaced_folder(path, "old"):
        patch.setattr("tf_charagram._files.writing.os.rename", die)
    assert not path.exists() and (tmp_path / ".1.old" / "old").is_file()
    with replaced_folder(path, "old") as partial:
        (partial / "new").write_text("")
    assert [file.name for file in tmp_path.rglob("*")] == ["1", "new"]


def test_two_writers_do_not_mix(tmp_path):
    """Each has its own partial file; the last to end wins."""
    with whole_file(tmp_path / "file", "w") as first, whole_file(tmp_path / "file", "w") as second:
        first.write("first")
        second.write("second")
        assert len(list(tmp_path.iterdir())) == 2
    assert (tmp_path / "file").read_text() == "first"
    with partial_folder(tmp_path / "new") as one, partial_folder(tmp_path / "new") as two:
        one.rename(tmp_path / "1")
        two.rename(tmp_path / "2")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1", "2", "file"]


def test_many_threads_at_once(tmp_path):
    """Each version is whole, even if others write at the same time."""

    def write(number):
        for _ in range(50):
            with whole_file(tmp_path / "file") as file:
                file.write(bytes([number]) * 50_000)
            content = (tmp_path / "file").read_bytes()
            assert len(content) == 50_000 and len(set(content)) == 1

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_full_disk(tmp_path):
    path = tmp_path / "file"
    message = r"Cannot write .*file: full\. Free some space and repeat the command"
    with pytest.raises(RunError, match=message), whole_file(path):
        raise OSError(errno.ENOSPC, "full")
    assert not list(tmp_path.iterdir())


def test_write_json(tmp_path):
    value = {"text": "\u00e9", "path": Path("x"), "numbers": [1, 2.5, None]}
    write_json(tmp_path / "value.json", value)
    raw = (tmp_path / "value.json").read_bytes()
    assert raw.endswith(b"}\n") and "\u00e9".encode() in raw
    assert json.loads(raw) == value | {"path": "x"}


class TestReadJson:
    def test_round_trip(self, tmp_path):
        write_json(tmp_path / "value.json", {"a": [1, None, "\u00e9"]})
        assert read_json(tmp_path / "value.json") == {"a": [1, None, "\u00e9"]}

    def test_nested(self, tmp_path):
        text = "[" * 100_000
        (tmp_path / "value.json").write_text(text)
        with pytest.raises(ValueError, match="nested too deep"):
            read_json(tmp_path / "value.json")
        with pytest.raises(ValueError, match="nested too deep"):
            parse_json(text)

    def test_not_a_file(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        for path in (tmp_path / "pipe", tmp_path, "/dev/zero"):
            with pytest.raises(OSError, match="is not a regular file"):
                read_json(path)
        with pytest.raises(FileNotFoundError, match="nothing"):
            read_json(tmp_path / "nothing")


def test_a_pipe_is_written_to(tmp_path):
    """Pipes and devices are not replaced."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    read = []
    reader.start()
    with whole_file(pipe, "w") as file:
        file.write("caf\u00e9")
    reader.join()
    assert read == ["caf\u00e9".encode()] and stat.S_ISFIFO(os.stat(pipe).st_mode)
    with whole_file(os.devnull) as file:
        file.write(b"x")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


# Two locks in one process stand for two processes.


def test_a_second_lock_is_refused_until_the_first_is_released(tmp_path, monkeypatch):
    monkeypatch.setattr("tf_charagram._files.writing._PATIENCE_S", 0.1)
    folder = tmp_path / "a" / "run"
    with FolderLock(folder) as first:
        first.acquire()
        with pytest.raises(RunError, match=r"run is in use: another process writes to it\. Wait"):
            FolderLock(folder).acquire()
    assert list(folder.iterdir()) == []
    with FolderLock(folder):
        pass


def test_lock_ends_with_its_process(tmp_path, monkeypatch):
    code = (
        "import sys; from tf_charagram._files.writing import FolderLock; "
        "lock = FolderLock(sys.argv[1]); lock.acquire(); "
        "print('locked', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout.readline() == b"locked\n"
        with monkeypatch.context() as patch:
            patch.setattr("tf_charagram._files.writing._PATIENCE_S", 0.0)
            with pytest.raises(RunError, match="in use"):
                FolderLock(tmp_path).acquire()
        child.kill()
        child.communicate()
    FolderLock(tmp_path).acquire()


def test_a_file_in_the_way(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(RunError, match=r"file is a file\. Give a folder\."):
        FolderLock(tmp_path / "file").acquire()
    with pytest.raises(RunError, match=r"Cannot write .*inner: Not a directory"):
        FolderLock(tmp_path / "file" / "inner").acquire()

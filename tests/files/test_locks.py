"""Locks on folders; two locks in one process stand for two processes."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from tf_charagram.errors import RunError
from tf_charagram.files.locks import FolderLock


def test_a_second_lock_is_refused_until_the_first_is_released(tmp_path, monkeypatch):
    monkeypatch.setattr("tf_charagram.files.locks._PATIENCE_S", 0.1)
    folder = tmp_path / "a" / "run"
    with FolderLock(folder) as first:
        first.acquire()
        with pytest.raises(RunError, match=r"run is in use: another process writes to it\. Wait"):
            FolderLock(folder).acquire()
    assert list(folder.iterdir()) == []
    with FolderLock(folder):
        pass


def test_on_wait_waits_and_is_called_once(tmp_path, monkeypatch):
    monkeypatch.setattr("tf_charagram.files.locks._PATIENCE_S", 0.0)
    lock, calls = FolderLock(tmp_path), []
    lock.acquire()

    def on_wait():
        calls.append("waiting")
        threading.Timer(0.2, lock.release).start()

    FolderLock(tmp_path).acquire(on_wait=on_wait)
    assert calls == ["waiting"]


def test_lock_ends_with_its_process(tmp_path, monkeypatch):
    code = (
        "import sys; from tf_charagram.files.locks import FolderLock; "
        "lock = FolderLock(sys.argv[1]); lock.acquire(); "
        "print('locked', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout.readline() == b"locked\n"
        with monkeypatch.context() as patch:
            patch.setattr("tf_charagram.files.locks._PATIENCE_S", 0.0)
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

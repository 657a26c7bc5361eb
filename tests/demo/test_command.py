"""Tests of `charagram demo`."""

from __future__ import annotations

import re
import signal
import subprocess
import urllib.request

import pytest

from tests.commands import call, environment, process
from tests.demo.conftest import TEXTS
from tf_charagram.demo.server import DemoServer


@pytest.fixture
def model(embedder, tmp_path):
    embedder.save(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def texts_file(tmp_path):
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    return tmp_path / "texts.txt"


@pytest.fixture
def stopped(monkeypatch):
    """Interrupts each server as soon as it serves; returns the servers."""
    servers = []

    def interrupt(self):
        servers.append(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(DemoServer, "serve_forever", interrupt)
    return servers


def test_prints_the_address_and_ends(model, texts_file, stopped, monkeypatch, capsys):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert call("demo", model, "--texts", texts_file) == 0
    (server,) = stopped
    streams = capsys.readouterr()
    assert streams.out == f"{model}, {len(TEXTS)} texts: {server.url} (Ctrl-C ends it)\n"
    assert streams.err == "\n" and opened == []
    assert server.socket.fileno() == -1
    assert list(server.answers.texts) == TEXTS
    port = server.server_address[1]
    assert call("demo", model, "--texts", texts_file, "--open", "--port", port) == 0
    assert opened == [stopped[1].url] == [server.url]


def test_words_of_a_run(trained, stopped):
    assert call("demo", trained.folder) == 0
    words = (trained.folder / "texts.txt").read_text().splitlines()
    assert list(stopped[0].answers.texts) == words


def test_errors(model, texts_file, tmp_path, capsys):
    for arguments, message in [
        ((model,), "has no texts.txt: name a file with --texts."),
        ((tmp_path / "nothing",), "is not a model folder"),
        ((model, "--texts", tmp_path / "nothing"), "cannot be read: No such file"),
        ((model, "--texts", texts_file, "--port", -1), "`port` must be in [0, 65535]. Receiv"),
    ]:
        assert call("demo", *arguments) == 1
        assert message in capsys.readouterr().err


@pytest.mark.long
def test_ctrl_c_ends_a_process(model, texts_file, tmp_path):
    command = process("cli", "demo", model, "--texts", texts_file)
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(TF_CPP_MIN_LOG_LEVEL="2"), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as child:  # fmt: skip
        url = re.search(r"http://\S+", child.stdout.readline())[0]
        with urllib.request.urlopen(url) as page:
            assert page.status == 200
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=300)
    assert (child.returncode, out, err) == (0, "", "\n")

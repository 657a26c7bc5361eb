"""Fixtures: a small model, its answers, and a server."""

from __future__ import annotations

import http.client
import json
import threading
from contextlib import contextmanager

import pytest

from tests.models.answers import parts
from tf_charagram.demo.answers import Answers
from tf_charagram.demo.server import DemoServer
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.models.text_reader import TextReader

MARKUP = "<img src=x onerror=alert(1)>"
TEXTS = [
    "a cat", "some cats", "a dog sat", "cattle", "dogs", "between", "did not", "sitting",
    "catalogue", "doggedly", "the cat", "no dogs", MARKUP, "\u05e9\u05dc\u05d5\u05dd",
    "\U0001f408 cat",
]  # fmt: skip


def as_reader(embedder, folder):
    """Saves a model, and returns its reader."""
    embedder.save(folder)
    return TextReader.load(folder)


@pytest.fixture(scope="session")
def embedder():
    return TextEmbedder(*parts())


@pytest.fixture(scope="session")
def reader(embedder, tmp_path_factory):
    return as_reader(embedder, tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="session")
def answers(reader):
    return Answers(reader, TEXTS, "tiny")


@contextmanager
def serving(answers):
    """Serves answers in a thread; yields the server."""
    with DemoServer(answers) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def server(answers):
    with serving(answers) as server:
        yield server


class Client:
    """One connection to a server."""

    def __init__(self, server):
        self.connection = http.client.HTTPConnection(*server.server_address, timeout=30)

    def request(self, method, path, body=None, **headers):
        """Returns status, headers, and the body; JSON is decoded."""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.connection.request(method, path, body, headers)
        response = self.connection.getresponse()
        raw = response.read()
        is_json = response.headers["Content-Type"] == "application/json"
        return response.status, response.headers, json.loads(raw) if is_json else raw

    def ask(self, path, **fields):
        """Returns the answer to a question."""
        body = json.dumps(fields)
        status, _, answer = self.request("POST", path, body, Content_Type="application/json")
        assert status == 200, answer
        return answer


@pytest.fixture
def client(server):
    client = Client(server)
    yield client
    client.connection.close()

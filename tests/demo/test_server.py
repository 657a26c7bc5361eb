"""Tests of the server of the demo: files, answers, refused and broken requests."""

from __future__ import annotations

import json
import socket
import struct

import pytest

from tests.demo.conftest import Client
from tf_charagram.demo.server import DemoServer
from tf_charagram.errors import ConfigError

JSON = {"Content_Type": "application/json"}
QUESTION = {"text": "cats", "edits": 0, "seed": 0}


def post(client, body, path="/api/neighbors", **headers):
    status, sent, answer = client.request("POST", path, body, **{**JSON, **headers})
    return status, answer.get("error"), sent


@pytest.mark.parametrize(
    ("path", "kind", "start"),
    [
        ("/", "text/html; charset=utf-8", b"<!doctype html>"),
        ("/page.css", "text/css; charset=utf-8", b":root"),
        ("/page.js?x=1", "text/javascript; charset=utf-8", b'"use strict"'),
        ("/icon.svg", "image/svg+xml", b"<svg"),
    ],
)
def test_files(client, path, kind, start):
    status, headers, body = client.request("GET", path)
    assert (status, headers["Content-Type"]) == (200, kind)
    assert body.startswith(start)


def test_headers(client):
    _, headers, _ = client.request("GET", "/")
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert not [name for name in headers if name.startswith("Access-Control")]


def test_answers(client, answers):
    assert client.request("GET", "/api/about")[2] == answers.about()
    for text in ("cats", "\U0001f408", "\u05e9\u05dc\u05d5\u05dd", "\0", "\ud800", "a" * 10**6):
        question = {"text": text, "edits": 2, "seed": 1}
        assert client.ask("/api/neighbors", **question) == answers.neighbors(**question)
    question = {"left": "a cat", "right": "cats", "edits": 1, "seed": 0}
    expected = json.loads(json.dumps(answers.compare(**question)))
    assert client.ask("/api/compare", **question) == expected


@pytest.mark.parametrize(
    ("method", "host"), [("GET", "evil.example"), ("POST", "127.0.0.1.evil:{}"), ("GET", "")]
)
def test_other_hosts_are_refused(client, server, method, host):
    host = host.format(server.server_address[1])
    status, _, answer = client.request(method, "/", None, Host=host)
    assert status == 403
    assert answer["error"].startswith("The Host header must name this computer. Received: ")
    assert server.url in answer["error"]


def test_this_host(client, server):
    host = f"localhost:{server.server_address[1]}"
    assert client.request("GET", "/", Host=host)[0] == 200
    assert post(client, json.dumps(QUESTION), Host=host)[0] == 200
    # A forwarded port has another number.
    for forwarded in ("localhost:9", "127.0.0.1:9", "LOCALHOST"):
        assert client.request("GET", "/", Host=forwarded)[0] == 200


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b'{"text": "\xff", "edits": 0, "seed": 0}', 400, "must be JSON in UTF-8"),
        (b"", 400, "must be JSON in UTF-8"),
        (b"[]", 400, "must have text (str), edits (int), seed (int)."),
        (b'{"text": "a"}', 400, "must have text (str), edits (int), seed (int)."),
        (b'{"text": "", "edits": true, "seed": 0}', 400, "must have text (str), edits (int)"),
        (b'{"text": "", "edits": 6, "seed": 0}', 400, "`edits` must be in [0, 5]. Received: edit"),
    ],
    ids=["utf8", "empty", "list", "fields", "bool", "edits"],
)  # fmt: skip
def test_bad_questions(client, body, status, message):
    found, error, headers = post(client, body)
    assert found == status and message in error
    assert headers["Connection"] == "close"
    # The rest of the request is not read as the next one.
    assert client.ask("/api/neighbors", **QUESTION)["typed"] == "cats"


@pytest.mark.parametrize(
    ("method", "path", "headers", "status", "message"),
    [
        ("GET", "/nothing", {}, 404, "There is no /nothing."),
        ("GET", "/../server.py", {}, 404, "There is no /../server.py."),
        ("POST", "/api/about", JSON, 404, "There is no /api/about."),
        ("POST", "/api/compare", {"Content_Type": "text/plain"}, 415, "must be application/json."),
        ("POST", "/api/compare", {**JSON, "Content_Length": "9" * 9}, 413, "must be at most"),
    ],
)
def test_bad_requests(client, method, path, headers, status, message):
    found, _, answer = client.request(method, path, None, **headers)
    assert found == status and message in answer["error"]


def test_closed_connection(server, capfd):
    for _ in range(3):
        connection = socket.create_connection(server.server_address)
        # Close with a reset.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.sendall(b"POST /api/neighbors HTTP/1.1\r\nHost: localhost\r\n")
        connection.close()
    client = Client(server)
    assert client.ask("/api/neighbors", **QUESTION)["typed"] == "cats"
    client.connection.close()
    assert capfd.readouterr().err == ""


def test_ports(answers, server):
    port = server.server_address[1]
    with pytest.raises(ConfigError, match=rf"Port {port} cannot be used .*Give another --port"):
        DemoServer(answers, port)
    with pytest.raises(ConfigError, match=r"`port` must be in \[0, 65535\]. Received: port=65536"):
        DemoServer(answers, 65536)
    assert server.server_address[0] == "127.0.0.1"

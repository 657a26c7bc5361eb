"""Serves the page and its answers, on the loopback address alone.

Other pages in the same browser are kept out: the `Host` header must name this computer, whatever a
foreign name resolves to (DNS rebinding), answers want JSON, which no form can send, and no header
allows another origin to read them.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingTCPServer
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tf_charagram.demo.answers import Answers
from tf_charagram.errors import ConfigError

ADDRESS = "127.0.0.1"
#: A text of a million characters, each escaped as six, has less.
MAX_BODY_BYTES = 8 * 2**20
#: Of a larger body, so much is read so that the browser gets to see the error.
_MAX_SKIPPED_BYTES = 8 * MAX_BODY_BYTES

_PAGE = Path(__file__).parent / "page"
_FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
_JSON = "application/json"
#: Path of a question -> the method of `Answers`, and the fields that it takes.
_QUESTIONS: dict[str, tuple[Callable[..., dict[str, Any]], dict[str, type]]] = {
    "/api/neighbors": (Answers.neighbors, {"text": str, "edits": int, "seed": int}),
    "/api/compare": (Answers.compare, {"left": str, "right": str, "edits": int, "seed": int}),
}
_KINDS = {str: "a string", int: "an integer"}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class DemoServer(ThreadingTCPServer):
    """Serves the page; a thread for each connection, one answer at a time.

    Args:
        answers: Answers the questions.
        port: Port to listen on; 0 for a free one.

    Raises:
        ConfigError: The port is out of range, in use, or not allowed.
    """

    allow_reuse_address = os.name == "posix"
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, answers: Answers, port: int = 0) -> None:
        if not 0 <= port <= 65535:
            raise ConfigError(f"`port` must be in [0, 65535]. Received: port={port}")
        try:
            super().__init__((ADDRESS, port), _Handler)
        except OSError as error:
            is_used = error.errno == errno.EADDRINUSE
            problem = "is in use" if is_used else f"cannot be used ({error.strerror})"
            raise ConfigError(
                f"Port {port} {problem}. Give another with --port, or none for a free one."
            ) from error
        self.answers = answers
        self.files = {
            path: ((_PAGE / name).read_bytes(), kind) for path, (name, kind) in _FILES.items()
        }
        #: Held while an answer is computed, which keeps all cores busy.
        self.turn = threading.Lock()

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{ADDRESS}:{self.server_address[1]}/"

    @property
    def hosts(self) -> set[str]:
        """The `Host` headers of requests that are meant for this server."""
        port = self.server_address[1]
        names = ("localhost", ADDRESS, "[::1]")
        return {f"{name}:{port}" for name in names} | ({*names} if port == 80 else set())

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Reports an error, unless it is a browser that went away."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Refusal(Exception):
    """A request that gets an error for an answer."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Reply(NamedTuple):
    body: bytes
    kind: str = _JSON
    status: HTTPStatus = HTTPStatus.OK
    seconds: float | None = None

    @classmethod
    def of(cls, value: Any, **fields: Any) -> _Reply:
        """Returns a value as JSON, in ASCII: lone surrogates have no UTF-8."""
        return cls(json.dumps(value, allow_nan=False).encode("ascii"), **fields)


class _Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    server: DemoServer
    server_version = "tf-charagram"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    #: Seconds that a connection may be idle.
    timeout = 60
    # Headers and body in one packet; in two, the second would wait for the first's receipt.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Sends a file of the page, or what there is to say of the model."""
        self._reply(self._get)

    def do_POST(self) -> None:
        """Answers a question."""
        self._reply(self._post)

    def handle_expect_100(self) -> bool:
        """Tells a client that waits for it, such as curl, to send the body; at once."""
        goes_on = super().handle_expect_100()
        self.wfile.flush()
        return goes_on

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Sends an error of the protocol, as JSON like any other."""
        status = HTTPStatus(code)
        self.close_connection = True
        self._send(_Reply.of({"error": message or status.phrase}, status=status))

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing."""

    def _reply(self, answer: Callable[[str], _Reply]) -> None:
        try:
            self._check_sender()
            reply = answer(self._asked())
        except _Refusal as refusal:
            # What it sent besides, if anything, was not read.
            self.send_error(refusal.status, str(refusal))
        except Exception:
            self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR)
            raise  # The terminal says more.
        else:
            self._send(reply)

    def _check_sender(self) -> None:
        hosts = self.server.hosts
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        if host.lower() not in hosts:
            raise _Refusal(
                HTTPStatus.FORBIDDEN,
                f"The Host header must name this computer. Received: {host!r}. Open "
                f"{self.server.url}",
            )
        if origin is not None and origin.lower().removeprefix("http://") not in hosts:
            raise _Refusal(HTTPStatus.FORBIDDEN, f"Requests of {origin} are not answered.")

    def _asked(self) -> str:
        """Returns the path that is asked for, without a query."""
        try:
            return urlsplit(self.path).path
        except ValueError as error:
            raise _Refusal(HTTPStatus.BAD_REQUEST, f"The address is none: {error}.") from error

    def _get(self, path: str) -> _Reply:
        if path == "/api/about":
            return _Reply.of(self.server.answers.about())
        if path not in self.server.files:
            raise _Refusal(HTTPStatus.NOT_FOUND, f"There is no {path}.")
        return _Reply(*self.server.files[path])

    def _post(self, path: str) -> _Reply:
        if path not in _QUESTIONS:
            raise _Refusal(HTTPStatus.NOT_FOUND, f"There is no {path}.")
        answer, kinds = _QUESTIONS[path]
        fields = _checked_fields(self._read_json(), kinds)
        with self.server.turn:
            start = time.perf_counter()
            try:
                value = answer(self.server.answers, **fields)
            except ConfigError as error:
                raise _Refusal(HTTPStatus.BAD_REQUEST, str(error)) from error
            seconds = time.perf_counter() - start
        return _Reply.of(value, seconds=seconds)

    def _read_json(self) -> Any:
        if self.headers.get_content_type() != _JSON:
            message = f"The Content-Type must be {_JSON}."
            raise _Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, message)
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal()) or len(length) > 18:
            raise _Refusal(HTTPStatus.LENGTH_REQUIRED, "The Content-Length must be a number.")
        if int(length) > MAX_BODY_BYTES:
            self._skip(min(int(length), _MAX_SKIPPED_BYTES))
            message = f"A request may have {MAX_BODY_BYTES} bytes. Received: {length}"
            raise _Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)
        try:
            return json.loads(self.rfile.read(int(length)).decode("utf-8"))
        except (ValueError, RecursionError) as error:
            message = f"The request must be JSON in UTF-8: {error}"
            raise _Refusal(HTTPStatus.BAD_REQUEST, message) from error

    def _skip(self, num_bytes: int) -> None:
        while num_bytes > 0 and (part := self.rfile.read(min(num_bytes, 2**16))):
            num_bytes -= len(part)

    def _send(self, reply: _Reply) -> None:
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.kind)
        self.send_header("Content-Length", str(len(reply.body)))
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        if reply.seconds is not None:
            self.send_header("Server-Timing", f"answer;dur={1e3 * reply.seconds:.2f}")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)


def _checked_fields(value: Any, kinds: dict[str, type]) -> dict[str, Any]:
    """Returns the fields of a question, if they are those that it takes."""
    if not isinstance(value, dict) or value.keys() != kinds.keys():
        message = f"The request must be an object with {', '.join(kinds)}."
        raise _Refusal(HTTPStatus.BAD_REQUEST, message)
    for name, kind in kinds.items():
        if type(value[name]) is not kind:
            message = f"`{name}` must be {_KINDS[kind]}. Received: {value[name]!r:.80}"
            raise _Refusal(HTTPStatus.BAD_REQUEST, message)
    return value

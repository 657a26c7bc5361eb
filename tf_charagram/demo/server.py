"""Serves the demo page and its answers on the loopback address.

Other pages in the same browser must not read the answers. Therefore the `Host` header must name
this computer, which defeats DNS rebinding, and questions must be JSON, which forms cannot send.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tf_charagram._files.json_files import parse_json
from tf_charagram.demo.answers import Answers
from tf_charagram.errors import ConfigError

_ADDRESS = "127.0.0.1"
_MAX_BODY_BYTES = 8 * 2**20
_PAGE = Path(__file__).parent / "page"
_FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
_JSON = "application/json"
#: Path -> method of `Answers`, and its arguments.
_QUESTIONS: dict[str, tuple[Callable[..., dict[str, Any]], dict[str, type]]] = {
    "/api/neighbors": (Answers.neighbors, {"text": str, "edits": int, "seed": int}),
    "/api/compare": (Answers.compare, {"left": str, "right": str, "edits": int, "seed": int}),
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class DemoServer(ThreadingHTTPServer):
    """Serves the page.

    Args:
        answers: Answers the questions.
        port: Port to listen on; 0 for a free one.

    Raises:
        ConfigError: The port is out of range or cannot be used.
    """

    daemon_threads = True

    def __init__(self, answers: Answers, port: int = 0) -> None:
        if not 0 <= port <= 65535:
            raise ConfigError(f"`port` must be in [0, 65535]. Received: port={port}")
        try:
            super().__init__((_ADDRESS, port), _Handler)
        except OSError as error:
            raise ConfigError(
                f"Port {port} cannot be used ({error.strerror}). Give another --port."
            ) from error
        self.answers = answers

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://{_ADDRESS}:{self.server_port}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Prints an error, unless the browser has closed the connection."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _BadRequest(ConfigError):
    """A request that is answered with another status than 400."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    server: DemoServer
    server_version = "tf-charagram"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = 60
    wbufsize = -1  # Send headers and body in one packet.

    def do_GET(self) -> None:
        """Sends a file of the page or the facts about the model."""
        self._reply(self._get)

    def do_POST(self) -> None:
        """Answers a question."""
        self._reply(self._post)

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing."""

    def _reply(self, answer: Callable[[str], tuple[bytes, str]]) -> None:
        try:
            self._check_sender()
            path, _, _ = self.path.partition("?")
            body, kind = answer(path)
            status = HTTPStatus.OK
        except ConfigError as error:
            # The rest of the request was not read.
            self.close_connection = True
            status = getattr(error, "status", HTTPStatus.BAD_REQUEST)
            body, kind = _to_json({"error": str(error)})
        self.send_response(status)
        headers = {"Content-Type": kind, "Content-Length": str(len(body)), **_HEADERS}
        if self.close_connection:
            headers["Connection"] = "close"
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _check_sender(self) -> None:
        # With DNS rebinding, the header has the name of the attacker's page.
        host = self.headers.get("Host", "")
        # Not the port, which may be that of a tunnel.
        name, _, _ = host.lower().partition(":")
        if name not in ("localhost", _ADDRESS):
            raise _BadRequest(
                HTTPStatus.FORBIDDEN,
                f"The Host header must name this computer. Received: {host!r}. Open "
                f"{self.server.url}",
            )

    def _get(self, path: str) -> tuple[bytes, str]:
        if path == "/api/about":
            return _to_json(self.server.answers.about())
        if path not in _FILES:
            raise _BadRequest(HTTPStatus.NOT_FOUND, f"There is no {path}.")
        name, kind = _FILES[path]
        return (_PAGE / name).read_bytes(), kind

    def _post(self, path: str) -> tuple[bytes, str]:
        if path not in _QUESTIONS:
            raise _BadRequest(HTTPStatus.NOT_FOUND, f"There is no {path}.")
        answer, kinds = _QUESTIONS[path]
        fields = self._read_json()
        # Types, not `isinstance`: true is an `int`, too.
        types = {name: type(value) for name, value in fields.items()}
        if types != kinds:
            expected = ", ".join(f"{name} ({kind.__name__})" for name, kind in kinds.items())
            raise ConfigError(f"The request must have {expected}.")
        return _to_json(answer(self.server.answers, **fields))

    def _read_json(self) -> dict[str, Any]:
        if self.headers.get_content_type() != _JSON:
            message = f"The Content-Type must be {_JSON}."
            raise _BadRequest(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, message)
        length = self.headers.get("Content-Length", "")
        # Python does not convert thousands of digits.
        is_number = length.isascii() and length.isdecimal()
        if not is_number or int(length[:18]) > _MAX_BODY_BYTES:
            raise _BadRequest(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"The Content-Length must be at most {_MAX_BODY_BYTES}. Received: {length:.40}",
            )
        try:
            value = parse_json(self.rfile.read(int(length)))
        except ValueError as error:
            raise ConfigError(f"The request must be JSON in UTF-8: {error}") from error
        return value if isinstance(value, dict) else {}


def _to_json(value: Any) -> tuple[bytes, str]:
    """Returns JSON and its type; in ASCII, because lone surrogates have no UTF-8."""
    return json.dumps(value, allow_nan=False).encode("ascii"), _JSON

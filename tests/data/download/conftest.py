"""A server of data sets on this machine."""

from __future__ import annotations

import functools
import gzip
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pooch  # noqa: F401  (its log goes to what is standard error when it is imported)
import pytest

from tf_charagram.data.download.fetch import fetch

PPDB = "ppdb-1.0-s-lexical"
PPDB_FILE = f"{PPDB}.gz"
PPDB_CONTENT = gzip.compress(b"[NN] ||| car ||| auto ||| Abstract=0 ||| 0-0\n", mtime=0)


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder in silence; `/short/` promises more bytes than it sends."""

    def log_message(self, *args):
        self.server.num_requests += 1

    def do_GET(self):
        if not self.path.startswith("/short/"):
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"x" * 10)


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / PPDB_FILE).write_bytes(PPDB_CONTENT)
    handler = functools.partial(Handler, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.num_requests = 0
    server.folder = folder
    server.url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("TF_CHARAGRAM_BASE_URL", f"{server.url}/")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("TF_CHARAGRAM_CACHE", str(folder))
    return folder


@pytest.fixture
def get(server, cache):
    return functools.partial(fetch, progress=False)

"""What comes over a network: requests to the demo, and answers of servers to our clients."""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from tests.campaigns.fuzz.mutations import mutated
from tests.campaigns.fuzz.structured import changed_json
from tests.campaigns.fuzz.target import RESULT, Run, Target, WrongError, check

_TEXTS = ["a cat", "dogs"]
_TIMEOUT_S = 60.0
_QUESTIONS = (
    ("/api/neighbors", {"text": "cat", "edits": 1, "seed": 3}),
    ("/api/compare", {"left": "cat", "right": "\ud800 dogs", "edits": 0, "seed": 3}),
)


def _request(path: str, body: bytes, length: int | None = None) -> bytes:
    """Returns a request as it is sent; `HOST` stands for the server's name."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body) if length is None else length}\r\n\r\n"
    )
    return head.encode() + body


_HTTP_TOKENS = (b"\r\n", b"Content-Length: ", b"HOST", b"/api/", b"%00", b"/../")
_REQUESTS = [_request(path, json.dumps(value).encode()) for path, value in _QUESTIONS]
_REQUESTS += [
    b"GET / HTTP/1.1\r\nHost: HOST\r\n\r\n",
    b"GET /api/about HTTP/1.0\r\nHost: HOST\r\n\r\n",
]


def _changed_request(random: Random, seeds: Any) -> bytes:
    """Returns a request with a changed body and a right length, or with any change."""
    if random.random() < 0.5:
        return mutated(seeds, _HTTP_TOKENS, random)
    path, value = random.choice(_QUESTIONS)
    return _request(path, changed_json(random, [json.dumps(value).encode()]))


@contextmanager
def _demo(folder: Path) -> Iterator[Run]:
    """Sends a request to the demo's server; every answer is HTTP, and nothing fails inside."""
    from tests.models.answers import parts
    from tf_charagram.demo.answers import Answers
    from tf_charagram.demo.server import DemoServer
    from tf_charagram.models.embedder import TextEmbedder

    failures: list[str] = []

    class Server(DemoServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            if not isinstance(sys.exception(), ConnectionError | TimeoutError):
                failures.append(repr(sys.exception()))

    embedder = TextEmbedder(*parts(dim=4))
    with Server(Answers(embedder, _TEXTS, "tiny")) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()

        def run(case: bytes) -> str:
            host = server.url.removeprefix("http://").strip("/").encode()
            with socket.create_connection(server.server_address[:2], _TIMEOUT_S) as connection:
                answer = _exchange(connection, case.replace(b"HOST", host))
            problems, failures[:] = list(failures), []
            check(not problems, f"the server failed: {problems}")
            check(not answer or answer.startswith((b"HTTP/", b"{")), f"answer {answer[:80]!r}")
            check(not answer.startswith(b"HTTP/1.1 500"), f"status 500: {answer[-200:]!r}")
            head, _, body = answer.partition(b"\r\n\r\n")
            status = answer[9:12].decode() if answer.startswith(b"HTTP/") else "none"
            if status == "200" and b"application/json" in head:
                json.JSONDecoder(parse_constant=_refuse).raw_decode(body.decode())
            return RESULT if status == "200" else f"status {status}"

        yield run
        server.shutdown()


def _refuse(constant: str) -> None:
    raise WrongError(f"{constant} in the answer")


def _exchange(connection: socket.socket, request: bytes) -> bytes:
    """Sends bytes, says that no more come, and returns what is answered."""
    parts = []
    try:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        while part := connection.recv(1 << 16):
            parts.append(part)
    except OSError:  # The server had seen enough.
        pass
    return b"".join(parts)


@contextmanager
def _rest(folder: Path) -> Iterator[Run]:
    """Has a server answer a client with the bytes of a case."""
    from tf_charagram.export.serving.client import RestClient

    answers: list[bytes] = [b""]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            status, body = answers[0][:1], answers[0][1:]
            self.send_response(500 if status == b"!" else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/v1/models/words"
        client = RestClient(url, timeout_s=_TIMEOUT_S)

        def run(case: bytes) -> str:
            answers[0] = case
            _check_vectors(client.embed(_TEXTS))
            return RESULT

        yield run
        server.shutdown()


@contextmanager
def _grpc(folder: Path) -> Iterator[Run]:
    import grpc

    from tf_charagram.export.serving.client import GrpcClient

    answers: list[bytes] = [b""]

    class AnyMethod(grpc.GenericRpcHandler):
        def service(self, details: Any) -> Any:
            return grpc.unary_unary_rpc_method_handler(lambda request, context: answers[0])

    server = grpc.server(ThreadPoolExecutor(1), handlers=[AnyMethod()])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with GrpcClient(f"127.0.0.1:{port}", "words", timeout_s=_TIMEOUT_S) as client:

        def run(case: bytes) -> str:
            answers[0] = case
            _check_vectors(client.embed(_TEXTS))
            return RESULT

        yield run
    server.stop(None)


def _check_vectors(vectors: np.ndarray) -> None:
    check(vectors.ndim == 2 and len(vectors) == len(_TEXTS), f"vectors of shape {vectors.shape}")
    check(vectors.dtype == np.float32, f"vectors of {vectors.dtype}")


def _changed_answer(random: Random, seeds: Any) -> bytes:
    return random.choice((b" ", b" ", b" ", b"!")) + changed_json(random, [seeds[0][1:]])


def _grpc_seeds() -> list[bytes]:
    import tensorflow as tf
    from tensorflow_serving.apis import predict_pb2

    response = predict_pb2.PredictResponse()
    vectors = np.arange(6, dtype=np.float32).reshape(2, 3)
    response.outputs["embedding"].CopyFrom(tf.make_tensor_proto(vectors))
    return [response.SerializeToString()]


TARGETS = [
    Target("server.demo", _demo, _REQUESTS, needs_tensorflow=True, make=_changed_request),
    Target("server.rest", _rest, [b' {"outputs": [[0.5, 1.0, -2e-3], [1, 2, 3]]}'],
           in_message="/v1/models/words", make=_changed_answer),
    Target("server.grpc", _grpc, _grpc_seeds, (b"\x08\x01", b"\x12\x04", b"embedding"),
           "grpc://", needs_tensorflow=True),
]  # fmt: skip

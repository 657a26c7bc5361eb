"""Both clients against servers that send what TensorFlow Serving sends."""

from __future__ import annotations

import re
import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest
import tensorflow as tf

from tests.export.serving.servers import NAME, SERVERS, OneVersion, predictor
from tests.texts import NASTY, words
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError
from tf_charagram.export.serving.client import GrpcClient, RestClient, ServerError, connect
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.batches import to_bytes
from tf_charagram.text.vectorizer import NgramVectorizer

TEXTS = [*words(20), *NASTY.values()]
DIM = 8


@pytest.fixture(scope="module")
def predict(tmp_path_factory):
    """Returns what calls a SavedModel's signatures."""
    vectorizer = NgramVectorizer.from_texts(words(200))
    encoder = Charagram(num_rows=vectorizer.num_rows, dim=DIM)
    folder = tmp_path_factory.mktemp("client") / "1"
    TextEmbedder(vectorizer, encoder).export(folder)
    return predictor(folder)


def serve(kind, predict):
    """Returns the server of a kind, as a context manager that gives its address."""
    if kind == "grpc":
        pytest.importorskip("tensorflow_serving.apis")
    return SERVERS[kind](OneVersion(predict))


@pytest.fixture(scope="module", params=SERVERS)
def url(request, predict):
    with serve(request.param, predict) as url:
        yield url


@contextmanager
def connected(url, timeout_s=60.0):
    """Gives a client, and closes it."""
    client = connect(url)
    client.timeout_s = timeout_s
    try:
        yield client
    finally:
        if isinstance(client, GrpcClient):
            client.close()


@pytest.fixture
def client(url):
    with connected(url) as client:
        yield client


class TestAnswers:
    def test_any_bytes_arrive_as_they_are(self, client, predict):
        vectors = client.embed(TEXTS)
        expected = predict("serving_default", {"texts": [to_bytes(text) for text in TEXTS]})
        assert vectors.dtype == np.float32 and np.ptp(vectors) > 0.01
        np.testing.assert_array_equal(vectors, expected["embedding"])

    def test_no_texts(self, client):
        assert client.embed([]).shape == (0, DIM)
        assert client.similarity([], []).shape == (0,)

    def test_similarity(self, client, predict):
        texts = [to_bytes(text) for text in TEXTS]
        expected = predict("similarity", {"texts_a": texts, "texts_b": texts[::-1]})["cosine"]
        np.testing.assert_array_equal(client.similarity(TEXTS, TEXTS[::-1]), expected)
        assert expected.std() > 0.01

    def test_more_than_four_megabytes(self, client):
        vectors = client.embed(["word"] * 140_000)
        assert vectors.nbytes > 2**22
        np.testing.assert_array_equal(vectors[[0, -1]], client.embed(["word"] * 2))

    def test_usable_after_an_error(self, client):
        with pytest.raises(ServerError):
            client.predict("nope", {"texts": [b"a"]}, "embedding")
        assert client.embed(["a"]).shape == (1, DIM)


class TestErrors:
    def test_texts(self, client):
        with pytest.raises(ConfigError, match="`texts` must be a list of texts"):
            client.embed("a single string")
        with pytest.raises(ConfigError, match="`right` must be a list of texts"):
            client.similarity(["a"], "b")
        with pytest.raises(ConfigError, match=r"left texts \(2\) does not match .*\(1\)"):
            client.similarity(["a", "b"], ["c"])
        with pytest.raises(ConfigError, match=r"`texts` must be a list of texts\..* is None"):
            client.embed(["a", None])

    def test_wrong_model(self, url):
        with connected(url.replace(NAME, "nope")) as client:
            message = (
                r"/nope: Servable not found for request: Latest\(nope\) \(status (404|NOT_FOUND)\)"
            )
            with pytest.raises(ServerError, match=message):
                client.embed(["a"])

    def test_wrong_signature(self, client):
        message = r'name: "nope" not found in signature def \(status (400|INVALID_ARGUMENT)\)'
        with pytest.raises(ServerError, match=message):
            client.predict("nope", {"texts": [b"a"]}, "embedding")

    @pytest.mark.parametrize("kind", SERVERS)
    def test_no_connection(self, kind, predict):
        with serve(kind, predict) as url:
            pass
        with connected(url) as client:
            with pytest.raises(ServerError, match=r"no connection \(.+\)\. Is the server running"):
                client.embed(["a"])

    @pytest.mark.parametrize("kind", SERVERS)
    def test_timeout(self, kind, predict):
        go_on = threading.Event()

        def wait(signature, inputs):
            go_on.wait()
            return predict(signature, inputs)

        with serve(kind, wait) as url, connected(url, 0.2) as client:
            try:
                with pytest.raises(ServerError, match=r"no answer within 0\.2 s"):
                    client.embed(["a"])
            finally:
                go_on.set()

    @pytest.mark.parametrize("kind", SERVERS)
    def test_another_kind_of_model(self, kind):
        outputs = {"logits": np.zeros((1, 2)), "classes": np.zeros(1)}
        with serve(kind, lambda *_: outputs) as url, connected(url) as client:
            with pytest.raises(ServerError, match="no output 'embedding' in the answer"):
                client.embed(["a"])

    @pytest.mark.parametrize("kind", SERVERS)
    def test_wrong_shapes(self, kind):
        outputs = {"embedding": np.zeros(3), "cosine": np.zeros((1, 1))}

        def predict(signature, inputs):
            name = "cosine" if signature == "similarity" else "embedding"
            return {name: outputs[name]}

        with serve(kind, predict) as url, connected(url) as client:
            with pytest.raises(ServerError, match=r"1 texts gave vectors of shape \(3,\)"):
                client.embed(["a"])
            with pytest.raises(ServerError, match=r"1 pairs gave cosines of shape \(1, 1\)"):
                client.similarity(["a"], ["b"])


@pytest.mark.parametrize("kind", SERVERS)
def test_numbers_that_are_not_finite(kind):
    values = np.array([[np.nan, np.inf, -np.inf, 1]], np.float32)
    with serve(kind, lambda *_: {"embedding": values}) as url, connected(url) as client:
        np.testing.assert_array_equal(client.embed(["a"]), values)


def test_one_of_several_outputs(predict):
    def several(signature, inputs):
        return {**predict(signature, inputs), "more": np.zeros(1)}

    with SERVERS["rest"](OneVersion(several)) as url:
        assert connect(url).embed(["a"]).shape == (1, DIM)


def test_a_version(predict):
    with SERVERS["rest"](OneVersion(predict)) as url:
        assert connect(f"{url}/versions/1").embed(["a"]).shape == (1, DIM)
        with pytest.raises(ServerError, match="versions/2: Servable not found"):
            connect(f"{url}/versions/2").embed(["a"])


@contextmanager
def answering(answer):
    """Answers one request with bytes as they are; gives the client of that server."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.wfile.write(answer)

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        yield RestClient(f"http://127.0.0.1:{server.server_port}/v1/models/words")
        thread.join()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"HTTP/1.1 200 Who are you\r\n\r\n<html>", "in the answer: b'<html>'"),
        (b"HTTP/1.1 502 Who are you\r\n\r\n<html>", r"Who are you \(status 502\)"),
        (b"HTTP/1.1 500 Oops\r\nContent-Length: 9\r\n\r\n{}", r"Oops \(status 500\)"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "HTTP answer: IncompleteRead"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{}", "IncompleteRead"),
        (b"HTTP/1.1 200 OK\r\n" + b"Name: value\r\n" * 101 + b"\r\n", "more than 100 headers"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://[::1/\r\n\r\n", "Invalid IPv6 URL"),
        (b"hello\r\n", r"no complete HTTP answer: BadStatusLine\('hello"),
    ],
)
def test_not_tensorflow_serving(answer, message):
    with answering(answer) as client, pytest.raises(ServerError, match=message):
        client.embed(["a"])


def test_a_connection_that_breaks_off():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up():
            connection, _ = server.accept()
            connection.recv(1)
            connection.close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        client = RestClient(f"http://127.0.0.1:{server.getsockname()[1]}/v1/models/words")
        with pytest.raises(ServerError, match="no connection"):
            client.embed(["a"])
        thread.join()


@pytest.mark.parametrize(
    "url",
    [
        "words", "ftp://host/v1/models/words", "grpc://host:8500", "grpc://host/a/b", "grpc:///a",
        "grpc://[::1/words", "http://[::1/v1/models/words", "http://host:abc/v1/models/words",
        "http://host:65536/v1/models/words", "http://:8501/v1/models/words",
        "http://user:password@host/v1/models/words", "http://a..b/v1/models/words",
        "http://a host/v1/models/words", "http://host/v1/models/two words",
        "http://host/v1/models/words:predict", "http://host/v1/models/",
        "http://host/v1/models/words?a=b", "http://host/v1/models/words/versions/1#a",
        "http://host/v1/models/words\n", "http://host/v1/models/w\u00f6rter",
    ],
)  # fmt: skip
def test_an_address_that_is_none(url):
    message = rf"`url` must look like http://.* Received: {re.escape(url)}\Z"
    with pytest.raises(ConfigError, match=message):
        connect(url)


def test_arguments():
    with pytest.raises(ConfigError, match=r"/v1/models/NAME. Received: http://host:8501/words"):
        connect("http://host:8501/words")
    with pytest.raises(ConfigError, match=r"`url` must look .* Received: file:///etc/passwd"):
        RestClient("file:///etc/passwd")
    for timeout_s in (0, float("inf"), float("nan"), 1e10):
        with pytest.raises(ConfigError, match=rf"above 0 and finite\. .*timeout_s={timeout_s}"):
            RestClient("http://host/v1/models/words", timeout_s=timeout_s)


def test_the_extra_is_missing(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("tensorflow_serving.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tensorflow_serving", None)
    with pytest.raises(ConfigError, match=r"pip install 'tf-charagram\[serving\]'"):
        connect("grpc://localhost:8500/words")


@pytest.mark.parametrize(
    "body",
    ['{"outputs": [[null, "1.5"]]}', '{"outputs": [[1e300]]}', '{"outputs": [[%s]]}' % ("9" * 400)],
)
def test_numbers_too_large(body):
    with answering(b"HTTP/1.1 200 OK\r\n\r\n" + body.encode()) as client:
        with pytest.raises(ServerError, match="no output 'embedding' in the answer"):
            client.embed(["a"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tensor: tensor.tensor_shape.dim[0].__setattr__("size", 2**40), "short answer"),
        (lambda tensor: tensor.tensor_shape.dim[0].__setattr__("size", 5), "holds no numbers"),
        (lambda tensor: setattr(tensor, "dtype", 65), "holds no numbers"),
    ],
)
def test_tensors_that_are_none(change, message):
    grpc = pytest.importorskip("grpc")
    predict_pb2 = pytest.importorskip("tensorflow_serving.apis.predict_pb2")
    response = predict_pb2.PredictResponse()
    vectors = np.arange(6, dtype=np.float32).reshape(2, 3)
    response.outputs["embedding"].CopyFrom(tf.make_tensor_proto(vectors))
    change(response.outputs["embedding"])

    class Any(grpc.GenericRpcHandler):
        def service(self, details):
            answer = response.SerializeToString()
            return grpc.unary_unary_rpc_method_handler(lambda *_: answer)

    server = grpc.server(ThreadPoolExecutor(1), handlers=[Any()])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        with connected(f"grpc://127.0.0.1:{port}/{NAME}") as client:
            with pytest.raises(ServerError, match=message):
                client.embed(["a", "b"])
    finally:
        server.stop(None).wait()

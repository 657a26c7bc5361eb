"""Both clients against servers that send what TensorFlow Serving sends."""

from __future__ import annotations

import re
import sys
import threading

import numpy as np
import pytest

from tests.export.serving.servers import NAME, SERVERS, http_server, predictor
from tests.texts import NASTY, words
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError
from tf_charagram.export.serving.client import RestClient, ServerError, connect
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.batches import to_bytes
from tf_charagram.text.dictionary import Dictionary
from tf_charagram.text.vectorizer import NgramVectorizer

TEXTS = [*words(20), *NASTY.values()]
DIM = 8


@pytest.fixture(scope="module")
def predict(tmp_path_factory):
    """Returns a function that calls the signatures of a SavedModel."""
    vectorizer = NgramVectorizer.from_texts(words(200))
    vectorizer = vectorizer.with_parts(vectorizer.vocabulary, Dictionary({"machine": 1}))
    encoder = Charagram(num_rows=vectorizer.num_rows, dim=DIM)
    folder = tmp_path_factory.mktemp("client") / "1"
    TextEmbedder(vectorizer, encoder).export(folder)
    return predictor(folder)


def serve(kind, predict):
    if kind == "grpc":
        pytest.importorskip("tensorflow_serving.apis")
    return SERVERS[kind](predict)


@pytest.fixture(scope="module", params=SERVERS)
def url(request, predict):
    with serve(request.param, predict) as url:
        yield url


@pytest.fixture
def client(url):
    with connect(url) as client:
        yield client


class TestAnswers:
    def test_any_bytes_arrive_as_they_are(self, client, predict):
        vectors = client.embed(TEXTS)
        texts = [to_bytes(text) for text in TEXTS]
        expected = predict("serving_default", {"texts": texts})["embedding"]
        assert vectors.dtype == np.float32 and np.ptp(vectors) > 0.01
        np.testing.assert_array_equal(vectors, expected)
        pairs = {"texts_a": texts, "texts_b": texts[::-1]}
        cosines = predict("similarity", pairs)["cosine"]
        np.testing.assert_array_equal(client.predict("similarity", pairs, "cosine"), cosines)
        assert cosines.std() > 0.01
        texts = {"texts": [b"A  machins\0", b"", *texts]}
        read = client.predict("read_as", texts, "text")
        assert read.tolist() == predict("read_as", texts)["text"].tolist()
        assert read[:2].tolist() == [b"a machine\xef\xbf\xbd", b""]

    def test_no_texts(self, client):
        assert client.embed([]).shape == (0, DIM)

    def test_more_than_four_megabytes(self, predict):
        with serve("grpc", predict) as url, connect(url) as client:
            vectors = client.embed(["word"] * 140_000)
            assert vectors.nbytes > 2**22
            np.testing.assert_array_equal(vectors[[0, -1]], client.embed(["word"] * 2))

    def test_a_version(self, predict):
        with serve("rest", predict) as url:
            assert connect(f"{url}/versions/1").embed(["a"]).shape == (1, DIM)
            with pytest.raises(ServerError, match="versions/2: Servable not found"):
                connect(f"{url}/versions/2").embed(["a"])

    def test_one_of_several_outputs(self, predict):
        def several(signature, inputs):
            return {**predict(signature, inputs), "more": np.zeros(1)}

        with serve("rest", several) as url:
            assert connect(url).embed(["a"]).shape == (1, DIM)


class TestErrors:
    def test_texts(self, client):
        with pytest.raises(ConfigError, match="`texts` must be a list of texts"):
            client.embed("a single string")
        with pytest.raises(
            ConfigError, match=r"`texts` must hold strings\. Row 1 is missing \(None\)"
        ):
            client.embed(["a", None])

    def test_wrong_model_or_signature(self, client, url):
        with connect(url.replace(NAME, "nope")) as other:
            message = (
                r"/nope: Servable not found for request: Latest\(nope\) \(status (404|NOT_FOUND)\)"
            )
            with pytest.raises(ServerError, match=message):
                other.embed(["a"])
        message = r'name: "nope" not found in signature def \(status (400|INVALID_ARGUMENT)\)'
        with pytest.raises(ServerError, match=message):
            client.predict("nope", {"texts": [b"a"]}, "embedding")
        assert client.embed(["a"]).shape == (1, DIM)

    @pytest.mark.parametrize("kind", SERVERS)
    def test_no_connection(self, kind, predict):
        with serve(kind, predict) as url:
            pass
        with connect(url) as client:
            with pytest.raises(ServerError, match=r"no connection \(.+\)\. Is the server running"):
                client.embed(["a"])

    @pytest.mark.parametrize("kind", SERVERS)
    def test_timeout(self, kind, predict):
        go_on = threading.Event()

        def wait(signature, inputs):
            go_on.wait()
            return predict(signature, inputs)

        with serve(kind, wait) as url, connect(url) as client:
            client.timeout_s = 0.2
            try:
                with pytest.raises(ServerError, match=r"no answer within 0\.2 s"):
                    client.embed(["a"])
            finally:
                go_on.set()

    @pytest.mark.parametrize("kind", SERVERS)
    def test_another_kind_of_model(self, kind):
        outputs = {"logits": np.zeros((1, 2)), "classes": np.zeros(1)}
        with serve(kind, lambda *_: outputs) as url, connect(url) as client:
            with pytest.raises(ServerError, match="no output 'embedding' in the answer"):
                client.embed(["a"])

    @pytest.mark.parametrize("kind", SERVERS)
    def test_wrong_shapes(self, kind):
        outputs = {"embedding": np.zeros(3)}
        with serve(kind, lambda *_: outputs) as url, connect(url) as client:
            with pytest.raises(ServerError, match=r"1 texts gave vectors of shape \(3,\)"):
                client.embed(["a"])


@pytest.mark.parametrize("kind", SERVERS)
def test_numbers_that_are_not_finite(kind):
    values = np.array([[np.nan, np.inf, -np.inf, 1]], np.float32)
    with serve(kind, lambda *_: {"embedding": values}) as url, connect(url) as client:
        np.testing.assert_array_equal(client.embed(["a"]), values)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n<html>", "no output 'embedding' in the answer: b'<html>'"),
        (b'HTTP/1.1 200 OK\r\n\r\n{"outputs": [[null, "1.5"]]}', "no output 'embedding'"),
        (b"HTTP/1.1 502 Who are you\r\n\r\n<html>", r"Who are you \(status 502\)"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "HTTP answer: IncompleteRead"),
        (b"hello\r\n", r"no complete HTTP answer: BadStatusLine\('hello"),
        (b"", "no connection"),
    ],
)
def test_not_tensorflow_serving(answer, message):
    def respond(handler):
        handler.rfile.read(int(handler.headers["Content-Length"]))
        handler.wfile.write(answer)

    with http_server(respond) as url, pytest.raises(ServerError, match=message):
        RestClient(url).embed(["a"])


@pytest.mark.parametrize(
    "url",
    [
        "words", "ftp://host/v1/models/words", "file:///etc/passwd", "grpc://host:8500",
        "grpc://host/a/b", "grpc:///a",
        "http://user:password@host/v1/models/words", "http://host/v1/models/words:predict",
        "http://host:8501/words", "http://host/v1/models/words?a=b",
    ],
)  # fmt: skip
def test_malformed_urls(url):
    message = rf"`url` must look like (http|grpc)://.* Received: {re.escape(url)}\Z"
    with pytest.raises(ConfigError, match=message):
        connect(url)


def test_the_extra_is_missing(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("tensorflow_serving.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tensorflow_serving", None)
    with pytest.raises(ConfigError, match=r"pip install 'tf-charagram\[serving\]'"):
        connect("grpc://localhost:8500/words")

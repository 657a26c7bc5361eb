"""The client against a server that sends what TensorFlow Serving sends."""

from __future__ import annotations

import re
import threading

import numpy as np
import pytest

from tests.export.serving.servers import NAME, http_server, predictor, rest_server
from tests.texts import NASTY, words
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError
from tf_charagram.export.client import RestClient, ServerError
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text._algorithm.batches import to_bytes
from tf_charagram.text._spelling.dictionary import Dictionary
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


@pytest.fixture(scope="module")
def client(predict):
    with rest_server(predict) as url:
        yield RestClient(url)


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

    def test_a_version(self, predict):
        with rest_server(predict) as url:
            assert RestClient(f"{url}/versions/1").embed(["a"]).shape == (1, DIM)
            with pytest.raises(ServerError, match="versions/2: Servable not found"):
                RestClient(f"{url}/versions/2").embed(["a"])

    def test_one_of_several_outputs(self, predict):
        def several(signature, inputs):
            return {**predict(signature, inputs), "more": np.zeros(1)}

        with rest_server(several) as url:
            assert RestClient(url).embed(["a"]).shape == (1, DIM)


class TestErrors:
    def test_texts(self, client):
        with pytest.raises(ConfigError, match="`texts` must be a list of texts"):
            client.embed("a single string")
        with pytest.raises(
            ConfigError, match=r"`texts` must hold strings\. Row 1 is missing \(None\)"
        ):
            client.embed(["a", None])

    def test_wrong_model_or_signature(self, client):
        other = RestClient(client.url.replace(NAME, "nope"))
        message = r"/nope: Servable not found for request: Latest\(nope\) \(status 404\)"
        with pytest.raises(ServerError, match=message):
            other.embed(["a"])
        message = r'name: "nope" not found in signature def \(status 400\)'
        with pytest.raises(ServerError, match=message):
            client.predict("nope", {"texts": [b"a"]}, "embedding")
        assert client.embed(["a"]).shape == (1, DIM)

    def test_no_connection(self, predict):
        with rest_server(predict) as url:
            pass
        with pytest.raises(ServerError, match=r"no connection \(.+\)\. Is the server running"):
            RestClient(url).embed(["a"])

    def test_timeout(self, predict):
        go_on = threading.Event()

        def wait(signature, inputs):
            go_on.wait()
            return predict(signature, inputs)

        with rest_server(wait) as url:
            try:
                with pytest.raises(ServerError, match=r"no answer within 0\.2 s"):
                    RestClient(url, timeout_s=0.2).embed(["a"])
            finally:
                go_on.set()

    def test_another_kind_of_model(self):
        outputs = {"logits": np.zeros((1, 2)), "classes": np.zeros(1)}
        with rest_server(lambda *_: outputs) as url:
            with pytest.raises(ServerError, match="no output 'embedding' in the answer"):
                RestClient(url).embed(["a"])

    def test_wrong_shapes(self):
        outputs = {"embedding": np.zeros(3)}
        with rest_server(lambda *_: outputs) as url:
            with pytest.raises(ServerError, match=r"1 texts gave vectors of shape \(3,\)"):
                RestClient(url).embed(["a"])


def test_numbers_that_are_not_finite():
    values = np.array([[np.nan, np.inf, -np.inf, 1]], np.float32)
    with rest_server(lambda *_: {"embedding": values}) as url:
        np.testing.assert_array_equal(RestClient(url).embed(["a"]), values)


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
        "words", "ftp://host/v1/models/words", "file:///etc/passwd", "grpc://host:8500/a",
        "http://user:password@host/v1/models/words", "http://host/v1/models/words:predict",
        "http://host:8501/words", "http://host/v1/models/words?a=b",
    ],
)  # fmt: skip
def test_malformed_urls(url):
    message = rf"`url` must look like http://.* Received: {re.escape(url)}\Z"
    with pytest.raises(ConfigError, match=message):
        RestClient(url)

"""The ways to a model: REST, gRPC, or no server at all; each with the bad requests it can carry."""

from __future__ import annotations

import http.client
import json
import random
import socket
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import grpc
import numpy as np
import tensorflow as tf
from tensorflow_serving.apis import (
    get_model_status_pb2,
    model_service_pb2_grpc,
    predict_pb2,
)

from tests.campaigns.load.switching import PATIENCE_S
from tests.export.serving.servers import NAME, Refused
from tests.export.serving.versions import Versions
from tf_charagram.export.runtime.c_runtime import CRuntime
from tf_charagram.export.serving.client import GrpcClient, RestClient

#: Status as gRPC names it, and message.
Answer = tuple[str, str]
NO_VERSION = 99_999_999
CUT, CANCELLED = "cut connection", "cancelled"
#: What each kind of bad request must be answered: the status, and what the message must say.
DESERVED = {
    "wrong type": ("INVALID_ARGUMENT", "takes str or bytes|dtype string|no columns of texts"),
    "wrong input": ("INVALID_ARGUMENT", "txets"),
    "wrong signature": ("INVALID_ARGUMENT", "nope"),
    "missing model": ("NOT_FOUND", "nope"),
    "missing version": ("NOT_FOUND", str(NO_VERSION)),
    "missing folder": ("RuntimeError", "Could not find SavedModel"),
    "broken JSON": ("INVALID_ARGUMENT", "JSON Parse error"),
    "broken base64": ("INVALID_ARGUMENT", "no columns of texts"),
    "broken path": ("INVALID_ARGUMENT", "Malformed request"),
    "broken tensor": ("INVALID_ARGUMENT", "Malformed tensor"),
    "truncated message": ("INTERNAL", "deserializing"),
    CANCELLED: ("CANCELLED", "cancelled"),
}
#: Bad requests that may end without an answer to judge; those who ask next get theirs.
UNANSWERED = {CUT, CANCELLED}


class Leg(ABC):
    """One client's way to the model; its bad requests are the methods of `bad`, by their names."""

    @abstractmethod
    def embed(self, texts: list[bytes], version: int | None) -> np.ndarray:
        """Returns the vectors of texts, by a version or by the latest."""

    @abstractmethod
    def similarity(self, left: list[bytes], right: list[bytes]) -> np.ndarray:
        """Returns the cosines of pairs of texts, by the latest version."""

    @abstractmethod
    def versions(self) -> set[int]:
        """Returns the versions that are loaded."""

    @abstractmethod
    def bad(self) -> dict[str, Callable[[random.Random], Answer | None]]:
        """Returns what sends a bad request and returns how it was refused."""

    @abstractmethod
    def close(self) -> None:
        """Closes the connection, if there is one."""


class DirectLeg(Leg):
    """The C library in the process of the clients."""

    def __init__(self, versions: Versions) -> None:
        self._versions = versions

    def close(self):
        pass

    def embed(self, texts, version):
        return self._predict(NAME, version, "serving_default", {"texts": texts})["embedding"]

    def similarity(self, left, right):
        inputs = {"texts_a": left, "texts_b": right}
        return self._predict(NAME, None, "similarity", inputs)["cosine"]

    def versions(self):
        return _loaded(self._versions.states(NAME))

    def _predict(self, *arguments):
        return self._versions.predict(*arguments)[1]

    def bad(self):
        def refusal(*arguments):
            try:
                self._predict(*arguments)
            except Refused as refused:
                return refused.status, str(refused)
            return "OK", ""

        def no_folder(rng):
            try:
                CRuntime("/no/folder")
            except RuntimeError as error:
                return "RuntimeError", str(error)
            return "OK", ""

        default, texts = "serving_default", {"texts": [b"a"]}
        return {
            "wrong type": lambda rng: refusal(NAME, None, default, {"texts": [rng.random()]}),
            "wrong input": lambda rng: refusal(NAME, None, default, {"txets": [b"a"]}),
            "wrong signature": lambda rng: refusal(NAME, None, "nope", texts),
            "missing model": lambda rng: refusal("nope", None, default, texts),
            "missing version": lambda rng: refusal(NAME, NO_VERSION, default, texts),
            "missing folder": no_folder,
        }


class RestLeg(Leg):
    """The package's client of the REST API."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._client = RestClient(url, timeout_s=PATIENCE_S)

    def close(self):
        pass

    def embed(self, texts, version):
        if version is None:
            return self._client.embed(texts)
        return RestClient(f"{self._url}/versions/{version}", timeout_s=PATIENCE_S).embed(texts)

    def similarity(self, left, right):
        return self._client.similarity(left, right)

    def versions(self):
        with urlopen(self._url, timeout=PATIENCE_S) as response:
            statuses = json.load(response)["model_version_status"]
        return _loaded({int(status["version"]): status["state"] for status in statuses})

    def bad(self):
        path = urlsplit(self._url).path
        predict = f"{path}:predict"

        def post(path: str, **request: Any) -> Answer:
            return self._post(path, json.dumps({"inputs": {"texts": ["a"]}, **request}).encode())

        def broken_json(rng):
            body = json.dumps({"inputs": {"texts": ["a" * 100]}}).encode()
            return self._post(predict, body[: rng.randrange(len(body))])

        return {
            "wrong type": lambda rng: post(predict, inputs={"texts": ["a", 1]}),
            "wrong input": lambda rng: post(predict, inputs={"txets": ["a"]}),
            "wrong signature": lambda rng: post(predict, signature_name="nope"),
            "missing model": lambda rng: post("/v1/models/nope:predict"),
            "missing version": lambda rng: post(f"{path}/versions/{NO_VERSION}:predict"),
            "broken JSON": broken_json,
            "broken base64": lambda rng: post(predict, inputs={"texts": [{"b64": "?"}]}),
            "broken path": lambda rng: post("/v2/models"),
            CUT: self._cut,
        }

    def _post(self, path: str, body: bytes) -> Answer:
        connection = http.client.HTTPConnection(urlsplit(self._url).netloc, timeout=PATIENCE_S)
        try:
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            answer = json.loads(response.read())
        finally:
            connection.close()
        statuses = {400: "INVALID_ARGUMENT", 404: "NOT_FOUND"}
        return statuses.get(response.status, str(response.status)), answer.get("error", "")

    def _cut(self, rng: random.Random) -> None:
        path = f"{urlsplit(self._url).path}:predict"
        head = f"POST {path} HTTP/1.1\r\nContent-Length: 1000\r\n\r\n".encode()
        message = head + b'{"inputs": {"texts": ["a"'
        hang_up(self._url, message[: rng.randrange(1, len(message))], rng)


class GrpcLeg(Leg):
    """The package's client of the gRPC API, and messages that it does not send."""

    def __init__(self, url: str) -> None:
        self._url = url
        target = urlsplit(url).netloc
        self._client = GrpcClient(target, NAME, timeout_s=PATIENCE_S)
        self._channel = grpc.insecure_channel(target)
        self._predict = self._channel.unary_unary("/tensorflow.serving.PredictionService/Predict")

    def close(self):
        self._client.close()
        self._channel.close()

    def embed(self, texts, version):
        if version is None:
            return self._client.embed(texts)
        answer = self._predict(make_message(texts, version=version), timeout=PATIENCE_S)
        response = predict_pb2.PredictResponse.FromString(answer)
        if response.model_spec.version.value != version:
            raise ValueError(f"Version {version} was asked, and {response.model_spec} answered.")
        return tf.make_ndarray(response.outputs["embedding"])

    def similarity(self, left, right):
        return self._client.similarity(left, right)

    def versions(self):
        request = get_model_status_pb2.GetModelStatusRequest()
        request.model_spec.name = NAME
        stub = model_service_pb2_grpc.ModelServiceStub(self._channel)
        statuses = stub.GetModelStatus(request, timeout=PATIENCE_S).model_version_status
        names = get_model_status_pb2.ModelVersionStatus.State
        return _loaded({status.version: names.Name(status.state) for status in statuses})

    def bad(self):
        def broken_tensor(rng):
            message = predict_pb2.PredictRequest.FromString(make_message([b"a", b"b"]))
            message.inputs["texts"].tensor_shape.dim[0].size = rng.randrange(3, 9)
            del message.inputs["texts"].string_val[:]
            message.inputs["texts"].tensor_content = b"abc"
            return self._refusal(message.SerializeToString())

        def truncated(rng):
            return self._refusal(make_message([b"a" * 100])[: -rng.randrange(1, 90)])

        return {
            "wrong type": lambda rng: self._refusal(make_message([rng.random()], tf.float32)),
            "wrong input": lambda rng: self._refusal(make_message([b"a"], key="txets")),
            "wrong signature": lambda rng: self._refusal(make_message([b"a"], signature="nope")),
            "missing model": lambda rng: self._refusal(make_message([b"a"], name="nope")),
            "missing version": lambda rng: self._refusal(make_message([b"a"], version=NO_VERSION)),
            "broken tensor": broken_tensor,
            "truncated message": truncated,
            CANCELLED: self._cancel,
            CUT: self._cut,
        }

    def _refusal(self, message: bytes) -> Answer:
        try:
            self._predict(message, timeout=PATIENCE_S)
        except grpc.RpcError as error:
            return error.code().name, error.details()
        return "OK", ""

    def _cancel(self, rng: random.Random) -> Answer | None:
        call = self._predict.future(make_message([rng.randbytes(10_000)] * 20))
        if call.cancel():
            return call.code().name, call.details().lower()
        call.result()  # Cancelled too late, it was answered.
        return None

    def _cut(self, rng: random.Random) -> None:
        preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3])
        hang_up(self._url, preface[: rng.randrange(1, len(preface))], rng)


def _loaded(states: dict[int, str]) -> set[int]:
    return {version for version, state in states.items() if state != "END"}


def make_message(
    texts: Sequence[Any], dtype: Any = tf.string, *, name: str = NAME, version: int | None = None,
    signature: str = "serving_default", key: str = "texts",
) -> bytes:  # fmt: skip
    """Returns a serialized `PredictRequest`."""
    request = predict_pb2.PredictRequest()
    request.model_spec.name, request.model_spec.signature_name = name, signature
    if version is not None:
        request.model_spec.version.value = version
    request.inputs[key].CopyFrom(tf.make_tensor_proto(texts, dtype, [len(texts)]))
    # Maps come last, so the end of the message is the end of a text.
    return request.SerializeToString()


def hang_up(url: str, message: bytes, rng: random.Random) -> None:
    """Sends the beginning of a request and closes the connection, politely or not."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE_S) as connection:
        connection.sendall(message)
        if rng.random() < 0.5:
            # Closing resets the connection.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

"""Servers that speak as TensorFlow Serving does, over REST and over gRPC."""

from __future__ import annotations

import base64
import json
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

import numpy as np
import tensorflow as tf

NAME = "words"
Inputs = Mapping[str, list[Any]]
Predict = Callable[[str, Inputs], dict[str, np.ndarray]]


class Refused(Exception):
    """A request that cannot be answered.

    Attributes:
        status: Why, as gRPC names it.
    """

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status


class Models(Protocol):
    """What a server serves; what it cannot answer is `Refused`."""

    def predict(
        self, name: str, version: int | None, signature: str, inputs: Inputs
    ) -> tuple[int, dict[str, np.ndarray]]:
        """Calls a signature of a version, by default the latest; returns which one, and outputs."""

    def states(self, name: str) -> dict[int, str]:
        """Returns the versions of a model, and what becomes of them."""


def not_found(name: str, version: int | None) -> Refused:
    which = f"Latest({name})" if version is None else f"Specific({name}, {version})"
    return Refused("NOT_FOUND", f"Servable not found for request: {which}")


class OneVersion:
    """A model of one version, which is a function."""

    def __init__(self, predict: Predict) -> None:
        self._predict = predict

    def predict(self, name, version, signature, inputs):
        if name != NAME or version not in (None, 1):
            raise not_found(name, version)
        try:
            return 1, self._predict(signature, inputs)
        except KeyError as error:
            message = f'Serving signature name: "{signature}" not found in signature def'
            raise Refused("INVALID_ARGUMENT", message) from error

    def states(self, name):
        if name != NAME:
            raise not_found(name, None)
        return {1: "AVAILABLE"}


def predictor(folder: Any) -> Predict:
    """Returns what calls the signatures of a SavedModel; an unknown one is a KeyError."""
    model = tf.saved_model.load(str(folder))

    def predict(signature, inputs):
        tensors = {
            key: tf.constant(value, tf.string, [len(value)]) for key, value in inputs.items()
        }
        return {key: value.numpy() for key, value in model.signatures[signature](**tensors).items()}

    return predict


class _RestServer(ThreadingHTTPServer):
    # As many as may connect at once; the default is 5.
    request_queue_size = 128

    def handle_error(self, request, client_address):
        if not isinstance(sys.exception(), ConnectionError):  # A client may leave at any time.
            super().handle_error(request, client_address)


@contextmanager
def rest_server(models: Models) -> Iterator[str]:
    """Serves models in columns over HTTP; gives the address of the one called `NAME`.

    The JSON is that of TensorFlow Serving's `json_tensor.cc`: the one output has no name, several
    have theirs, and numbers that are not finite are written `NaN`, `Infinity`.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            length = int(self.headers["Content-Length"])
            body = self.rfile.read(length)
            if len(body) == length:  # Else nobody is there to be answered.
                self._answer(lambda: _rest_predict(models, self.path, body))

        def do_GET(self):
            self._answer(lambda: _rest_states(models, self.path))

        def _answer(self, answer):
            try:
                status, value = 200, answer()
            except Refused as refused:
                status = {"NOT_FOUND": 404, "INVALID_ARGUMENT": 400}[refused.status]
                value = {"error": str(refused)}
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    server = _RestServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/models/{NAME}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _rest_predict(models: Models, path: str, body: bytes) -> dict[str, Any]:
    parts = re.fullmatch(r"/v1/models/([^/:]+)(?:/versions/(\d+))?:predict", path)
    if parts is None:
        raise Refused("INVALID_ARGUMENT", f"Malformed request: POST {path}")
    try:
        request = json.loads(body)
    except ValueError as error:
        raise Refused("INVALID_ARGUMENT", f"JSON Parse error: {error}") from error
    try:
        signature = request.get("signature_name", "serving_default")
        inputs = {key: _decode(texts) for key, texts in request["inputs"].items()}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        problem = f"Missing 'inputs', or they are no columns of texts: {error!r}"
        raise Refused("INVALID_ARGUMENT", problem) from error
    version = None if parts[2] is None else int(parts[2])
    _, outputs = models.predict(parts[1], version, signature, inputs)
    lists = {key: value.tolist() for key, value in outputs.items()}
    return {"outputs": lists if len(lists) > 1 else next(iter(lists.values()))}


def _rest_states(models: Models, path: str) -> dict[str, Any]:
    parts = re.fullmatch(r"/v1/models/([^/:]+)", path)
    if parts is None:
        raise Refused("INVALID_ARGUMENT", f"Malformed request: GET {path}")
    return {
        "model_version_status": [
            {"version": str(version), "state": state, "status": {"error_code": "OK"}}
            for version, state in sorted(models.states(parts[1]).items(), reverse=True)
        ]
    }


def _decode(texts: list[Any]) -> list[bytes]:
    """Returns texts as they came: strings as UTF-8, `{"b64": ...}` decoded."""
    return [
        text.encode() if isinstance(text, str) else base64.b64decode(text["b64"], validate=True)
        for text in texts
    ]


@contextmanager
def grpc_server(models: Models) -> Iterator[str]:
    """Serves models as TensorFlow Serving's `PredictionService` and `ModelService` do.

    Gives the address of the model called `NAME`.
    """
    import grpc
    from google.protobuf.message import DecodeError
    from tensorflow_serving.apis.get_model_status_pb2 import (
        GetModelStatusRequest,
        GetModelStatusResponse,
    )
    from tensorflow_serving.apis.predict_pb2 import PredictRequest, PredictResponse

    def predict(request):
        version, outputs = _grpc_predict(models, request)
        response = PredictResponse(model_spec=request.model_spec)
        response.model_spec.version.value = version
        for key, value in outputs.items():
            response.outputs[key].CopyFrom(tf.make_tensor_proto(value))
        return response

    def get_model_status(request):
        response = GetModelStatusResponse()
        for version, state in sorted(models.states(request.model_spec.name).items(), reverse=True):
            response.model_version_status.add(version=version, state=state)
        return response

    def handler(request_type, answer):
        def handle(message, context):
            # Messages are parsed here: gRPC keeps 16 kB of each that it fails to parse itself.
            try:
                request = request_type.FromString(message)
            except DecodeError:
                context.abort(grpc.StatusCode.INTERNAL, "Exception deserializing request!")
            try:
                return answer(request).SerializeToString()
            except Refused as refused:
                context.abort(grpc.StatusCode[refused.status], str(refused))

        return grpc.unary_unary_rpc_method_handler(handle)

    # TensorFlow Serving takes messages of any length, too.
    server = grpc.server(
        ThreadPoolExecutor(8), options=[("grpc.max_receive_message_length", 2**31 - 1)]
    )
    services = {
        "PredictionService": {"Predict": handler(PredictRequest, predict)},
        "ModelService": {"GetModelStatus": handler(GetModelStatusRequest, get_model_status)},
    }
    server.add_generic_rpc_handlers(
        [
            grpc.method_handlers_generic_handler(f"tensorflow.serving.{name}", methods)
            for name, methods in services.items()
        ]
    )
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"grpc://127.0.0.1:{port}/{NAME}"
    finally:
        server.stop(None).wait()


def inputs_of(request: Any) -> dict[str, list[Any]]:
    """Returns the inputs of a `PredictRequest`."""
    return {key: tf.make_ndarray(value).tolist() for key, value in request.inputs.items()}


def _grpc_predict(models: Models, request: Any) -> tuple[int, dict[str, np.ndarray]]:
    spec = request.model_spec
    version = spec.version.value if spec.HasField("version") else None
    try:
        inputs = inputs_of(request)
    except (TypeError, ValueError) as error:
        raise Refused("INVALID_ARGUMENT", f"Malformed tensor: {error}") from error
    return models.predict(spec.name, version, spec.signature_name or "serving_default", inputs)


SERVERS = {"rest": rest_server, "grpc": grpc_server}

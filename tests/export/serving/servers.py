"""Servers that speak as TensorFlow Serving does, with a SavedModel behind them."""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import tensorflow as tf

NAME = "words"
Predict = Callable[[str, Mapping[str, list[bytes]]], dict[str, np.ndarray]]


def predictor(folder: Any) -> Predict:
    """Returns what calls the signatures of a SavedModel; an unknown one is a KeyError."""
    model = tf.saved_model.load(str(folder))

    def predict(signature, inputs):
        tensors = {
            key: tf.constant(value, tf.string, [len(value)]) for key, value in inputs.items()
        }
        return {key: value.numpy() for key, value in model.signatures[signature](**tensors).items()}

    return predict


@contextmanager
def rest_server(predict: Predict) -> Iterator[str]:
    """Serves `predict` in columns over HTTP; gives the address of the model.

    The JSON is that of TensorFlow Serving's `json_tensor.cc`: the one output has no name, several
    have theirs, and numbers that are not finite are written `NaN`, `Infinity`.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            path = re.fullmatch(r"/v1/models/([^/:]+)(?:/versions/(\d+))?:predict", self.path)
            if path is None:
                return self._answer(400, {"error": f"Malformed request: POST {self.path}"})
            if path[1] != NAME or path[2] not in (None, "1"):
                return self._answer(404, {"error": f"Servable not found for request: {path[1]}"})
            request = json.loads(body)
            name = request["signature_name"]
            try:
                outputs = predict(name, {k: _decode(v) for k, v in request["inputs"].items()})
            except KeyError:
                message = f'Serving signature name: "{name}" not found in signature def'
                return self._answer(400, {"error": message})
            lists = {key: value.tolist() for key, value in outputs.items()}
            self._answer(200, {"outputs": lists if len(lists) > 1 else next(iter(lists.values()))})

        def _answer(self, status, answer):
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/models/{NAME}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _decode(texts: list[Any]) -> list[bytes]:
    """Returns texts as they came: strings as UTF-8, `{"b64": ...}` decoded."""
    return [
        text.encode() if isinstance(text, str) else base64.b64decode(text["b64"], validate=True)
        for text in texts
    ]


@contextmanager
def grpc_server(predict: Predict) -> Iterator[str]:
    """Serves `predict` as TensorFlow Serving's `PredictionService`; gives the address."""
    import grpc
    from tensorflow_serving.apis import predict_pb2, prediction_service_pb2_grpc

    class Service(prediction_service_pb2_grpc.PredictionServiceServicer):
        def Predict(self, request, context):
            name, signature = request.model_spec.name, request.model_spec.signature_name
            if name != NAME:
                context.abort(grpc.StatusCode.NOT_FOUND, f"Servable not found for request: {name}")
            inputs = {key: list(tf.make_ndarray(value)) for key, value in request.inputs.items()}
            try:
                outputs = predict(signature, inputs)
            except KeyError:
                message = f'Serving signature name: "{signature}" not found in signature def'
                context.abort(grpc.StatusCode.INVALID_ARGUMENT, message)
            response = predict_pb2.PredictResponse()
            for key, value in outputs.items():
                response.outputs[key].CopyFrom(tf.make_tensor_proto(value))
            return response

    # TensorFlow Serving takes messages of any length, too.
    server = grpc.server(
        ThreadPoolExecutor(2), options=[("grpc.max_receive_message_length", 2**31 - 1)]
    )
    prediction_service_pb2_grpc.add_PredictionServiceServicer_to_server(Service(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"grpc://127.0.0.1:{port}/{NAME}"
    finally:
        server.stop(None).wait()


SERVERS = {"rest": rest_server, "grpc": grpc_server}

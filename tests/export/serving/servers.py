"""A server that speaks as TensorFlow Serving does, over REST."""

from __future__ import annotations

import base64
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import tensorflow as tf

NAME = "words"


def predictor(folder):
    """Returns a function that calls a signature of a SavedModel with texts."""
    model = tf.saved_model.load(str(folder))

    def predict(signature, inputs):
        tensors = {
            key: tf.constant(value, tf.string, [len(value)]) for key, value in inputs.items()
        }
        return {key: value.numpy() for key, value in model.signatures[signature](**tensors).items()}

    return predict


def answer(predict, is_found, version, signature, inputs):
    """Returns the outputs of a signature, or the status and message of an error."""
    if not is_found:
        which = f"Specific({NAME}, {version})" if version else "Latest(nope)"
        return "NOT_FOUND", f"Servable not found for request: {which}"
    try:
        return None, predict(signature, inputs)
    except KeyError:
        message = f'Serving signature name: "{signature}" not found in signature def'
        return "INVALID_ARGUMENT", message


@contextmanager
def http_server(respond):
    """Runs an HTTP server whose POST requests `respond(handler)` answers; gives the model's URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            respond(self)

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/models/{NAME}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def rest_server(predict):
    """Serves a model in TensorFlow Serving's columnar JSON.

    A single output has no name, and numbers that are not finite are written `NaN`, `Infinity`.
    """

    def respond(handler):
        request = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        name, _, version = handler.path.removesuffix(":predict").partition("/versions/")
        is_found = name == f"/v1/models/{NAME}" and version in ("", "1")
        inputs = {
            key: [base64.b64decode(text["b64"]) for text in texts]
            for key, texts in request["inputs"].items()
        }
        status, value = answer(predict, is_found, version, request["signature_name"], inputs)
        if status is None:
            lists = {
                key: [text.decode() for text in array] if array.dtype == object else array.tolist()
                for key, array in value.items()
            }
            value = {"outputs": lists if len(lists) > 1 else next(iter(lists.values()))}
        else:
            value = {"error": value}
        body = json.dumps(value).encode()
        handler.send_response({None: 200, "NOT_FOUND": 404, "INVALID_ARGUMENT": 400}[status])
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return http_server(respond)

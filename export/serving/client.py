"""Clients of TensorFlow Serving, over REST and over gRPC."""

from __future__ import annotations

import base64
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from http.client import HTTPException
from typing import ClassVar, Self
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np

from tf_charagram.errors import CharagramError, ConfigError
from tf_charagram.files.json_files import parse_json
from tf_charagram.lazy import extra_module
from tf_charagram.text.batches import check_texts, checked_texts, to_bytes


class ServerError(CharagramError, RuntimeError):
    """A server cannot be reached, does not answer in time, or answers with an error."""


class ServingClient(ABC):
    """An embedder on a server; subclasses implement `predict` for REST and gRPC.

    Use as a context manager, or call `close` at the end.

    Args:
        url: URL of the model.
        timeout_s: Timeout in seconds.

    Raises:
        ConfigError: `url` is malformed.
    """

    url_form: ClassVar[str]
    url_pattern: ClassVar[re.Pattern[str]]

    def __init__(self, url: str, *, timeout_s: float = 60) -> None:
        if not self.url_pattern.fullmatch(url):
            raise ConfigError(f"`url` must look like {self.url_form}. Received: {url}")
        self.url = url.rstrip("/")
        self.timeout_s = timeout_s

    def __enter__(self) -> Self:
        """Returns the client itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Closes the connection."""
        self.close()

    def close(self) -> None:  # noqa: B027
        """Closes the connection, if there is a lasting one."""

    def embed(self, texts: Sequence[str | bytes]) -> np.ndarray:
        """Embeds texts in one request.

        Args:
            texts: Any texts; `str` is sent as UTF-8, bytes as they are.

        Returns:
            float32 `(num_texts, dim)`.

        Raises:
            ConfigError: `texts` is a single string or has a row that is missing or of another type.
            ServerError: The server fails, or does not serve an embedder.
        """
        check_texts(texts, "texts")
        sent = [to_bytes(text) for text in checked_texts(texts, "texts")]
        vectors = self.predict("serving_default", {"texts": sent}, "embedding")
        if not sent and vectors.ndim == 1:
            # An empty list of JSON has no width.
            return self.embed([b""])[:0]
        if vectors.ndim != 2 or len(vectors) != len(sent):
            raise self._error(f"{len(sent)} texts gave vectors of shape {vectors.shape}")
        return vectors

    @abstractmethod
    def predict(
        self, signature: str, inputs: Mapping[str, Sequence[bytes]], output: str
    ) -> np.ndarray:
        """Calls a signature with texts for each input; returns one of its outputs.

        Numbers are float32; strings are bytes in an object array.

        Raises:
            ServerError: The server fails, or has no such model, signature, input or output.
        """

    def _error(self, problem: str) -> ServerError:
        return ServerError(f"{self.url}: {problem}")


class RestClient(ServingClient):
    """A client of the REST API, built on Python's standard library.

    Args:
        url: URL of the model, `http://HOST:8501/v1/models/NAME`, with `/versions/N` for a version
            other than the latest.
        timeout_s: Timeout in seconds. Defaults to 60.

    Raises:
        ConfigError: `url` is malformed.

    Example:
        client = RestClient("http://localhost:8501/v1/models/words")
        vectors = client.embed(["a cat", "cats"])
    """

    url_form = "http://HOST:8501/v1/models/NAME"
    url_pattern = re.compile(r"https?://[^/?#@\s]+/([^?#\s]*/)?v1/models/[^:?#\s]+")

    def predict(
        self, signature: str, inputs: Mapping[str, Sequence[bytes]], output: str
    ) -> np.ndarray:
        """Calls a signature; see `ServingClient`.

        Sends texts in base64, so that any bytes arrive, in TensorFlow Serving's columnar format,
        which allows empty lists.
        """
        encoded = {
            name: [{"b64": base64.b64encode(text).decode()} for text in texts]
            for name, texts in inputs.items()
        }
        body = json.dumps({"signature_name": signature, "inputs": encoded}).encode()
        headers = {"Content-Type": "application/json"}
        request = Request(f"{self.url}:predict", body, headers, method="POST")
        try:
            with urlopen(request, timeout=self.timeout_s) as response:
                answer = response.read()
        except HTTPError as error:
            message = error.reason
            with error, suppress(HTTPException, OSError, ValueError, KeyError, TypeError):
                message = parse_json(error.read())["error"]
            raise self._error(f"{message} (status {error.code})") from error
        except OSError as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, TimeoutError):
                raise self._error(f"no answer within {self.timeout_s:g} s") from error
            raise self._error(f"no connection ({reason}). Is the server running?") from error
        except HTTPException as error:
            raise self._error(f"no complete HTTP answer: {repr(error)[:100]}") from error
        try:
            outputs = parse_json(answer)["outputs"]
            # A single output comes without its name.
            values = outputs[output] if isinstance(outputs, dict) else outputs
            if values and all(isinstance(value, str) for value in values):
                return np.array([value.encode() for value in values], object)
            return np.array(values).astype(np.float32, casting="same_kind")
        except (ValueError, KeyError, TypeError) as error:
            problem = f"no output '{output}' in the answer: {answer[:100]!r}"
            raise self._error(problem) from error


class GrpcClient(ServingClient):
    """A client of the gRPC API, without encryption. Needs `pip install tf-charagram[serving]`.

    Args:
        url: `grpc://HOST:8500/NAME`.
        timeout_s: Timeout in seconds. Defaults to 60.

    Raises:
        ConfigError: `url` is malformed, or the packages are missing.
    """

    url_form = "grpc://HOST:8500/NAME"
    url_pattern = re.compile(r"grpc://[^/?#@\s]+/[^/?#\s]+/?")

    def __init__(self, url: str, *, timeout_s: float = 60) -> None:
        super().__init__(url, timeout_s=timeout_s)
        target, self.name = self.url.removeprefix("grpc://").split("/")
        self._grpc = extra_module("grpc", "serving")
        apis = "tensorflow_serving.apis"
        self._messages = extra_module(f"{apis}.predict_pb2", "serving")
        service = extra_module(f"{apis}.prediction_service_pb2_grpc", "serving")
        # A thousand vectors of a thousand numbers exceed the default limit of 4 MB.
        options = [(f"grpc.max_{way}_message_length", -1) for way in ("send", "receive")]
        self._channel = self._grpc.insecure_channel(target, options=options)
        self._stub = service.PredictionServiceStub(self._channel)

    def close(self) -> None:
        """Closes the connection."""
        self._channel.close()

    def predict(
        self, signature: str, inputs: Mapping[str, Sequence[bytes]], output: str
    ) -> np.ndarray:
        """Calls a signature; see `ServingClient`."""
        import tensorflow as tf  # Already imported by the messages.

        request = self._messages.PredictRequest()
        request.model_spec.name = self.name
        request.model_spec.signature_name = signature
        for name, texts in inputs.items():
            tensor = tf.make_tensor_proto(list(texts), tf.string, [len(texts)])
            request.inputs[name].CopyFrom(tensor)
        try:
            outputs = self._stub.Predict(request, timeout=self.timeout_s).outputs
        except self._grpc.RpcError as error:
            code = error.code().name
            problem = {
                "UNAVAILABLE": f"no connection ({error.details()}). Is the server running?",
                "DEADLINE_EXCEEDED": f"no answer within {self.timeout_s:g} s",
            }.get(code, f"{error.details()} (status {code})")
            raise self._error(problem) from error
        if output not in outputs:
            raise self._error(f"no output '{output}' in the answer, only {sorted(outputs)}")
        array: np.ndarray = tf.make_ndarray(outputs[output])
        return array if array.dtype == object else np.array(array, np.float32)


def connect(url: str) -> ServingClient:
    """Returns the client for a URL; arguments and errors as for `RestClient` and `GrpcClient`."""
    return GrpcClient(url) if url.startswith("grpc:") else RestClient(url)

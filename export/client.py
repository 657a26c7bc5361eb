"""A client of TensorFlow Serving's REST API."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np

from tf_charagram._files.json_files import parse_json
from tf_charagram.errors import CharagramError, ConfigError
from tf_charagram.text._algorithm.batches import check_texts, checked_texts, to_bytes

_URL = re.compile(r"https?://[^/?#@\s]+/([^?#\s]*/)?v1/models/[^:?#\s]+")


class ServerError(CharagramError, RuntimeError):
    """A server cannot be reached, does not answer in time, or answers with an error."""


class RestClient:
    """An embedder on a server.

    Args:
        url: URL of the model, `http://HOST:8501/v1/models/NAME`, with `/versions/N` for a version
            other than the latest.
        timeout_s: Timeout in seconds. Defaults to 60.

    Raises:
        ConfigError: `url` is malformed.

    Examples:
        client = RestClient("http://localhost:8501/v1/models/words")
        vectors = client.embed(["a cat", "cats"])
    """

    def __init__(self, url: str, *, timeout_s: float = 60) -> None:
        if not _URL.fullmatch(url):
            raise ConfigError(
                f"`url` must look like http://HOST:8501/v1/models/NAME. Received: {url}"
            )
        self.url = url.rstrip("/")
        self.timeout_s = timeout_s

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
        if not sent:
            # An empty list of JSON has no width.
            return self.embed([b""])[:0]
        vectors = self.predict("serving_default", {"texts": sent}, "embedding")
        if vectors.ndim != 2 or len(vectors) != len(sent):
            raise self._error(f"{len(sent)} texts gave vectors of shape {vectors.shape}")
        return vectors

    def predict(
        self, signature: str, inputs: Mapping[str, Sequence[bytes]], output: str
    ) -> np.ndarray:
        """Calls a signature with texts for each input; returns one of its outputs.

        Sends texts in base64, so that any bytes arrive, in TensorFlow Serving's columnar format,
        which allows empty lists. Numbers are float32; strings are bytes in an object array.

        Raises:
            ServerError: The server fails, or has no such model, signature, input or output.
        """
        columns = {}
        for name, texts in inputs.items():
            columns[name] = [{"b64": base64.b64encode(text).decode()} for text in texts]
        answer = self._post({"signature_name": signature, "inputs": columns})
        try:
            outputs = parse_json(answer)["outputs"]
            # A single output comes without its name.
            values = outputs[output] if isinstance(outputs, dict) else outputs
            array = np.array(values)
            if array.dtype.kind == "U":
                # NumPy's own type of strings drops NULs at their ends.
                return np.array([value.encode() for value in values], object)
            return array.astype(np.float32, casting="same_kind")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            problem = f"no output '{output}' in the answer: {answer[:100]!r}"
            raise self._error(problem) from error

    def _post(self, message: dict[str, Any]) -> bytes:
        """Sends a request for a prediction; returns the body of the answer."""
        body = json.dumps(message).encode()
        headers = {"Content-Type": "application/json"}
        request = Request(f"{self.url}:predict", body, headers, method="POST")
        try:
            with urlopen(request, timeout=self.timeout_s) as response:
                answer: bytes = response.read()
                return answer
        except HTTPError as error:
            problem = error.reason
            # TensorFlow Serving explains errors in JSON; a proxy before it may not.
            with error, suppress(HTTPException, OSError, ValueError, KeyError, TypeError):
                problem = parse_json(error.read())["error"]
            raise self._error(f"{problem} (status {error.code})") from error
        except OSError as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, TimeoutError):
                raise self._error(f"no answer within {self.timeout_s:g} s") from error
            raise self._error(f"no connection ({reason}). Is the server running?") from error
        except HTTPException as error:
            raise self._error(f"no complete HTTP answer: {repr(error)[:100]}") from error

    def _error(self, problem: str) -> ServerError:
        return ServerError(f"{self.url}: {problem}")

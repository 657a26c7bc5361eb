"""Answers requests to NVIDIA Triton's Python backend; needs tf-charagram, and no TensorFlow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import triton_python_backend_utils as triton  # type: ignore[import-not-found]

from tf_charagram.models.text_reader import TextReader


class TritonPythonModel:
    """Embeds the texts of all requests that Triton hands over at a time."""

    def initialize(self, args: dict[str, str]) -> None:
        """Loads the model folder next to this file."""
        folder = Path(args["model_repository"], args["model_version"], "model")
        self._reader = TextReader.load(folder)

    def execute(self, requests: list[Any]) -> list[Any]:
        """Returns a response for each request."""
        batches = []
        for request in requests:
            tensor = triton.get_input_tensor_by_name(request, "texts")
            batches.append(tensor.as_numpy().ravel())
        vectors = self._reader.encode(np.concatenate(batches).tolist())
        ends = np.cumsum([len(batch) for batch in batches])
        responses = []
        for embedding in np.split(vectors, ends[:-1]):
            output = triton.Tensor("embedding", embedding)
            responses.append(triton.InferenceResponse([output]))
        return responses

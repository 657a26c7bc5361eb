"""Files that TensorFlow Serving is started with, next to the folders of its models."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tf_charagram.files.writing import whole_file

MODELS = "models.config"
#: Names that may be part of the URL of a REST call.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
#: Images are released after TensorFlow. An older one serves models that need only TensorFlow's core
#: operations.
IMAGE = "tensorflow/serving:2.19.1"

_BATCHING = """\
# Requests that arrive at the same time run together. The threads are those of the server; each
# export copies this file into its version, whose numbers count for that model.
max_batch_size { value: 1024 }
batch_timeout_micros { value: 500 }
max_enqueued_batches { value: 1000 }
num_batch_threads { value: 2 }
"""
_MONITORING = """\
prometheus_config {
  enable: true
  path: "/monitoring/prometheus/metrics"
}
"""
_COMPOSE = f"""\
# docker compose up
services:
  serving:
    image: {IMAGE}
    ports:
      - "8500:8500"  # gRPC
      - "8501:8501"  # REST
    volumes:
      - .:/models:ro
    command:
      - --model_config_file=/models/{MODELS}
      - --model_config_file_poll_wait_seconds=60
      - --enable_batching=true
      - --batching_parameters_file=/models/batching.config
      - --enable_per_model_batching_parameters=true
      - --monitoring_config_file=/models/monitoring.config
    restart: unless-stopped
"""
_FILES = {
    "batching.config": _BATCHING, "monitoring.config": _MONITORING, "compose.yaml": _COMPOSE,
}  # fmt: skip


def write_serving_files(folder: str | Path) -> list[Path]:
    """Writes the files of the server, and lists all models in `models.config`.

    `models.config` is rewritten. The other files are written once, and may be edited.

    Args:
        folder: Parent of the folders of models.

    Returns:
        The files written.

    Raises:
        RunError: The disk is full or a file cannot be written.
    """
    folder = Path(folder)
    texts = {name: text for name, text in _FILES.items() if not (folder / name).exists()}
    texts[MODELS] = models_config(folder)
    for name, text in texts.items():
        with whole_file(folder / name, "w") as file:
            file.write(text)
    return [folder / name for name in texts]


def is_batchable(card: Mapping[str, Any]) -> bool:
    """Returns whether a server may batch requests to a model with this card.

    It needs one row per text in each input and output; taggers have more.
    """
    return not any(
        "row_lengths" in (*signature["inputs"], *signature["outputs"])
        for signature in card["signatures"].values()
    )


def batching_parameters(folder: str | Path) -> bytes:
    """Returns the content of `batching.config`, or its default."""
    path = Path(folder) / "batching.config"
    return path.read_bytes() if path.exists() else _BATCHING.encode()


def models_config(folder: str | Path) -> str:
    """Returns `models.config` for all models in a folder, which is mounted as /models."""
    models = {path.parent.parent.name for path in Path(folder).glob("*/[0-9]*/saved_model.pb")}
    configs = "".join(
        f'  config {{ name: "{name}" base_path: "/models/{name}" model_platform: "tensorflow" }}\n'
        for name in sorted(filter(NAME.fullmatch, models))
    )
    return f"# Rewritten by each `charagram export`.\nmodel_config_list {{\n{configs}}}\n"

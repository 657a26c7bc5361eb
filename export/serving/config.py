"""The files that a TensorFlow Serving server is started with, beside the folders of its models."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tf_charagram.export.serving.folder import NAME, is_version, let_read
from tf_charagram.files.writing import whole_file

MODELS = "models.config"
#: Images come out later than TensorFlow; a model that needs TensorFlow's core operations only, as
#: those of n-grams and characters do, is served by this one too.
IMAGE = "tensorflow/serving:2.19.1"
_OURS = "# Written by `charagram export`; written anew by each export.\n"

_BATCHING = """\
# Requests that arrive at the same time run together. The threads are those of the server; each
# export copies the file into its version, whose numbers are what counts for that model.
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
    "batching.config": _BATCHING,
    "monitoring.config": _MONITORING,
    "compose.yaml": _COMPOSE,
}


def write_serving_files(folder: str | Path) -> list[Path]:
    """Writes what a server needs into the folder that holds the folders of models.

    `models.config` lists every model there is and is rewritten when that changes, unless somebody
    wrote one without our first line. The other files are there to be changed: they are written
    once.

    Args:
        folder: Parent of the folders of models.

    Returns:
        The files written.

    Raises:
        RunError: The disk is full or a file cannot be written.
    """
    folder = Path(folder)
    written = [folder / name for name in _FILES if not (folder / name).exists()]
    for path in written:
        _write(path, _FILES[path.name])
    if lists_models(folder):
        path, is_new = folder / MODELS, False
        # Another export may bring a model before ours is listed, and list its own first.
        while (text := models_config(folder)) != _text(path):
            _write(path, text)
            is_new = True
        written += [path] * is_new
    return written


def _write(path: Path, text: str) -> None:
    with whole_file(path, "w") as file:
        file.write(text)
        let_read(Path(file.name), path.parent)


def _text(path: Path) -> str | None:
    """Returns the text of a file, in whatever encoding; `None` if there is none."""
    return path.read_text("utf-8", errors="replace") if path.exists() else None


def is_batchable(card: Mapping[str, Any]) -> bool:
    """Returns whether a server may run requests to a model together, and split the answers.

    That needs as many rows in each input and output as there are texts: taggers have more.

    Args:
        card: Of the model.
    """
    return not any(
        "row_lengths" in (*signature["inputs"], *signature["outputs"])
        for signature in card["signatures"].values()
    )


def batching_parameters(folder: str | Path) -> bytes:
    """Returns what `batching.config` says, or will say once it is written."""
    path = Path(folder) / "batching.config"
    return path.read_bytes() if path.exists() else _BATCHING.encode()


def lists_models(folder: str | Path) -> bool:
    """Returns whether `models.config` is ours to write."""
    text = _text(Path(folder) / MODELS)
    return text is None or text.startswith(_OURS)


def models_config(folder: str | Path) -> str:
    """Returns the text of `models.config` for all models in a folder, which is mounted as /models.

    A model is a folder with a version, a folder named by a number, in it. One whose name
    `ServingFolder` does not accept is left out.
    """
    versions = (path.parent for path in Path(folder).glob("*/[0-9]*/saved_model.pb"))
    models = {version.parent.name for version in versions if is_version(version)}
    names = sorted(filter(NAME.fullmatch, models))
    configs = "".join(
        f'  config {{ name: "{name}" base_path: "/models/{name}" model_platform: "tensorflow" }}\n'
        for name in names
    )
    return f"{_OURS}model_config_list {{\n{configs}}}\n"

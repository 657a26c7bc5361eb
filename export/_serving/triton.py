"""A model repository of NVIDIA Triton, whose Python backend runs `TextReader`."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tf_charagram._files.writing import partial_folder, whole_file
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.models.base import TextModel

_PROGRAM = Path(__file__).parent / "triton_files" / "model.py"
_CONFIG = "config.pbtxt"
# Requests wait for others as long as with TensorFlow Serving, in `batching.config`.
_CONFIG_TEXT = """\
backend: "python"
max_batch_size: 1024
input [ {{ name: "texts" data_type: TYPE_STRING dims: [ 1 ] }} ]
output [ {{ name: "embedding" data_type: TYPE_FP32 dims: [ {dim} ] }} ]
dynamic_batching {{ max_queue_delay_microseconds: 500 }}
instance_group [ {{ kind: KIND_CPU count: 1 }} ]
"""


def write_triton(model: TextModel, path: str | Path, table_dtype: str = "float32") -> Path:
    """Writes the next version of a model for Triton, which appears once it is complete.

    Args:
        model: An embedder that sums n-grams.
        path: Folder of the model in the repository, `repository/NAME`; it may not exist yet.
        table_dtype: Type of the stored table.

    Returns:
        Folder of the version.

    Raises:
        ConfigError: `TextReader` cannot read such a model.
        RunError: The folder holds other files or cannot be written; older versions are untouched.
    """
    encoder = model.encoder
    if not model.gives_vectors or not isinstance(encoder, Charagram):
        raise ConfigError(
            "`triton` is for embedders that sum n-grams (charagram). "
            f"Received: a model of the kind '{model.kind}' with the encoder '{encoder.name}'. "
            "Export it without `triton`: Triton serves SavedModels, too."
        )
    path = Path(os.path.abspath(path))
    files = sorted(path.glob("[!.]*"))
    versions = [int(file.name) for file in files if file.name.isdecimal()]
    if files and not (path / _CONFIG).is_file():
        raise RunError(
            f"{path} holds other files and no {_CONFIG}. Give another folder with --output."
        )
    version = path / str(max(versions, default=0) + 1)
    with partial_folder(path / "new") as partial:
        model.save(partial / "model", table_dtype=table_dtype)
        shutil.copyfile(_PROGRAM, partial / _PROGRAM.name)
        # Triton reads the width from here, so it precedes the version.
        with whole_file(path / _CONFIG, "w") as file:
            file.write(_CONFIG_TEXT.format(dim=encoder.dim))
        os.rename(partial, version)
    return version

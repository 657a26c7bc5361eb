"""SavedModels that take raw strings and need nothing but TensorFlow."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from tf_charagram._version import __version__
from tf_charagram.encoders import registered_name
from tf_charagram.errors import RunError
from tf_charagram.files.json_files import write_json
from tf_charagram.files.tensorflow_files import tensorflow_writing
from tf_charagram.files.writing import partial_folder
from tf_charagram.models.parts import Parts
from tf_charagram.text.growing import settings_of


class ServedModel(tf.Module):
    """Tracks the tables and variables of a model, and has its signatures as functions.

    Args:
        parts: The model.
        functions: Name of a signature -> `tf.function` with an input signature.
    """

    def __init__(self, parts: Parts, functions: dict[str, Any]) -> None:
        super().__init__(name="tf_charagram")
        # Only tables and variables are tracked: a Keras layer would bring its own signatures.
        self.resources = [
            *parts.vectorizer.resources, *(weight.value for weight in parts.weights),
        ]  # fmt: skip
        self.functions = functions


@contextmanager
def replaced_folder(path: str | Path, holds: str) -> Iterator[Path]:
    """Yields a path to write a folder to; once complete, the folder replaces the old one.

    Args:
        path: The folder, or a link to it.
        holds: Name of a file in it; an old folder without that file is replaced only if empty.

    Raises:
        RunError: The folder cannot be written; or what is there is not such a folder.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_dir():
        raise RunError(f"{path} is a file. Give a folder.")
    if path.is_dir() and any(path.iterdir()) and not (path / holds).is_file():
        raise RunError(
            f"{path} holds other files and no {holds}, so it is not replaced. Give another folder."
        )
    # A process may end between any two of these: half of the old folder must not be found.
    old = path.with_name(f".{path.name}.old")
    with partial_folder(path) as partial:
        yield partial
        shutil.rmtree(old, ignore_errors=True)
        if path.exists():
            os.rename(path, old)
        os.rename(partial, path)
        shutil.rmtree(old, ignore_errors=True)


def write_saved_model(
    parts: Parts, functions: dict[str, Any], path: str | Path, about: dict[str, Any] | None = None
) -> None:
    """Writes a model as a SavedModel, and its card, into a folder that nobody reads yet.

    Args:
        parts: The model.
        functions: Name of a signature -> `tf.function` with an input signature.
        path: The folder, which does not exist.
        about: What the card says besides.

    Raises:
        RunError: It cannot be written.
    """
    # Gradients of the encoder capture what no SavedModel can hold, and serving needs none.
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
    module = ServedModel(parts, functions)
    with tensorflow_writing(path):
        tf.saved_model.save(module, str(path), signatures=functions, options=options)
    write_card(parts, path, about)


MODEL_CARD = "model_card.json"
#: Operations of libraries besides TensorFlow are looked for in these packages.
_LIBRARIES = {"tensorflow_text": "tensorflow-text"}
_UNKNOWN_LIBRARY = "unknown"


def write_card(parts: Parts, path: str | Path, about: dict[str, Any] | None = None) -> None:
    """Writes the card of a SavedModel into its folder, where TensorFlow Serving leaves it alone.

    Args:
        parts: The model.
        path: Folder of the SavedModel, complete.
        about: What else is known of the model; comes first.
    """
    path = Path(path)
    write_json(path / MODEL_CARD, {**(about or {}), **model_card(parts, path)})


def model_card(parts: Parts, path: str | Path) -> dict[str, Any]:
    """Describes an exported model.

    Args:
        parts: The model.
        path: Folder of the SavedModel.

    Returns:
        `encoder` and `vectorizer` with their settings, `dim`, `num_parameters`, `size_bytes` of the
        folder without the card, `signatures`, `required_ops` by library, and `versions`.
    """
    path = Path(path)
    vectorizer, encoder, _ = parts
    message = saved_model_pb2.SavedModel()
    message.ParseFromString((path / "saved_model.pb").read_bytes())
    (graph,) = message.meta_graphs
    files = (file for file in path.rglob("*") if file.is_file() and file.name != MODEL_CARD)
    return {
        "encoder": {"name": registered_name(type(encoder)) or encoder.name, **settings_of(encoder)},
        "vectorizer": {
            "class": type(vectorizer).__name__, "num_rows": vectorizer.num_rows,
            **settings_of(vectorizer),
        },
        "dim": encoder.dim,
        "num_parameters": parts.num_parameters,
        "size_bytes": sum(file.stat().st_size for file in files),
        "signatures": {
            name: {"inputs": _tensors(signature.inputs), "outputs": _tensors(signature.outputs)}
            for name, signature in sorted(graph.signature_def.items())
            if not name.startswith("__")
        },
        "required_ops": required_ops(graph),
        "versions": _versions(),
    }  # fmt: skip


def required_ops(graph: tf.compat.v1.MetaGraphDef) -> dict[str, list[str]]:
    """Returns the operations that TensorFlow itself lacks, by the package that provides them.

    An operation is TensorFlow's own if `tf.raw_ops` lists it. Any other belongs to the loaded
    package that has a module of wrappers for it.

    Args:
        graph: Of a SavedModel.

    Returns:
        Package -> names of operations, both sorted; empty if TensorFlow alone is enough.
    """
    library = graph.graph_def.library
    nodes = [*graph.graph_def.node, *(node for f in library.function for node in f.node_def)]
    functions = {function.signature.name for function in library.function}
    foreign = {node.op for node in nodes} - functions
    foreign = {name for name in foreign if not hasattr(tf.raw_ops, name)}
    by_package: dict[str, list[str]] = {}
    owners = _owners() if foreign else {}
    for name in sorted(foreign):
        by_package.setdefault(owners.get(name, _UNKNOWN_LIBRARY), []).append(name)
    return dict(sorted(by_package.items()))


def _owners() -> dict[str, str]:
    """Returns the package of each operation of the libraries that are loaded."""
    owners = {}
    for name, module in list(sys.modules.items()):
        library = _LIBRARIES.get(name.partition(".")[0])
        if library is None:
            continue
        for value in vars(module).values():
            if getattr(value, "_IS_TENSORFLOW_PLUGIN", False):
                # The wrapper of the operation "TFText>Name" is called "TFText_Name".
                owners.update({key: library for key in vars(value)})
                owners.update({key.replace("_", ">", 1): library for key in vars(value)})
    return owners


def _tensors(infos: Any) -> dict[str, dict[str, Any]]:
    return {
        name: {
            "dtype": tf.as_dtype(info.dtype).name,
            # -1 is any number.
            "shape": [dimension.size for dimension in info.tensor_shape.dim],
        }
        for name, info in sorted(infos.items())
    }


def _versions() -> dict[str, str]:
    versions = {"tf-charagram": __version__}
    for package in ("tensorflow", "keras", *_LIBRARIES.values()):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions

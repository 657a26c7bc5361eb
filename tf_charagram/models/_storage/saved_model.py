"""SavedModels that take raw strings, and their `model_card.json`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf
from keras.layers import Layer
from tensorflow.core.protobuf import saved_model_pb2

from tf_charagram._files.json_files import write_json
from tf_charagram._files.writing import tensorflow_writing
from tf_charagram._version import __version__
from tf_charagram.encoders import registered_name
from tf_charagram.models._encoding.light_graph import lighten
from tf_charagram.models._storage.weights import weights_of
from tf_charagram.text.base import settings_of

#: Name of the card, which TensorFlow Serving ignores.
MODEL_CARD = "model_card.json"
_TEXT = "tensorflow-text"


def write_saved_model(
    parts: Sequence[Layer], functions: dict[str, Any], path: str | Path, about: dict[str, Any]
) -> None:
    """Writes a SavedModel and its card into a new folder.

    Args:
        parts: Vectorizer, encoder and, if any, head.
        functions: Name of a signature -> `tf.function` with an input signature.
        path: The folder, which must not exist.
        about: Additional entries of the card.

    Raises:
        RunError: The folder cannot be written.
    """
    # Tracking Keras layers would add their own signatures.
    module = tf.Module(name="tf_charagram")
    module.resources = [*parts[0].resources, *(weight.value for weight in weights_of(parts))]
    module.functions = functions
    # Custom gradients of the encoders cannot be saved; serving does not need them.
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
    with tensorflow_writing(path):
        tf.saved_model.save(module, str(path), signatures=functions, options=options)
        message = _read_message(path)
        lighten(message.meta_graphs[0].graph_def)
        _message_path(path).write_bytes(message.SerializeToString(deterministic=True))
    write_json(Path(path) / MODEL_CARD, {**about, **_model_card(parts, path)})


def _message_path(path: str | Path) -> Path:
    return Path(path) / "saved_model.pb"


def _read_message(path: str | Path) -> saved_model_pb2.SavedModel:
    """Reads the graphs of a SavedModel."""
    message = saved_model_pb2.SavedModel()
    message.ParseFromString(_message_path(path).read_bytes())
    return message


def _model_card(parts: Sequence[Layer], path: str | Path) -> dict[str, Any]:
    """Returns the card of a SavedModel.

    Its entries are `encoder` and `vectorizer` with their settings, `dim`, `num_parameters`,
    `size_bytes` of the folder without the card, `signatures`, `required_ops` and `versions`.

    Args:
        parts: Vectorizer, encoder and, if any, head.
        path: Folder of the SavedModel.
    """
    path = Path(path)
    vectorizer, encoder, *_ = parts
    (graph,) = _read_message(path).meta_graphs
    files = [file for file in path.rglob("*") if file.is_file() and file.name != MODEL_CARD]
    signatures = {}
    for name, signature in sorted(graph.signature_def.items()):
        # TensorFlow adds `__saved_model_init_op`, which is not for users.
        if not name.startswith("__"):
            inputs = _tensors(signature.inputs)
            outputs = _tensors(signature.outputs)
            signatures[name] = {"inputs": inputs, "outputs": outputs}
    encoder_name = registered_name(type(encoder)) or encoder.name
    return {
        "encoder": {"name": encoder_name, **settings_of(encoder)},
        "vectorizer": {
            "class": type(vectorizer).__name__,
            "num_rows": vectorizer.num_rows,
            **settings_of(vectorizer),
        },
        "dim": encoder.dim,
        "num_parameters": sum(w.value.shape.num_elements() for w in weights_of(parts)),
        "size_bytes": sum(file.stat().st_size for file in files),
        "signatures": signatures,
        "required_ops": _required_ops(graph),
        "versions": _versions(),
    }


def _required_ops(graph: tf.compat.v1.MetaGraphDef) -> dict[str, list[str]]:
    """Returns the operations of a SavedModel that TensorFlow lacks, by package.

    Args:
        graph: The graph of the SavedModel.

    Returns:
        `{"tensorflow-text": [NAME, ...]}`, or an empty dict if TensorFlow is enough.
    """
    functions = graph.graph_def.library.function
    used = {node.op for node in graph.graph_def.node}
    for function in functions:
        used |= {node.op for node in function.node_def}
    # A function of the graph is called by a node with the name of the function as operation.
    operations = used - {function.signature.name for function in functions}
    foreign = [name for name in operations if not hasattr(tf.raw_ops, name)]
    # The word splitters of tensorflow-text are the only other operations of the package.
    return {_TEXT: sorted(foreign)} if foreign else {}


def _tensors(infos: Any) -> dict[str, dict[str, Any]]:
    return {
        name: {
            "dtype": tf.as_dtype(info.dtype).name,
            # -1: any size
            "shape": [dimension.size for dimension in info.tensor_shape.dim],
            "tensor": info.name,
        }
        for name, info in sorted(infos.items())
    }


def _versions() -> dict[str, str]:
    found = {
        "tf-charagram": __version__,
        "tensorflow": tf.__version__,
        # The package may be `keras-nightly`.
        "keras": keras.__version__,
    }
    # A new Python or TensorFlow has no tensorflow-text.
    with suppress(PackageNotFoundError):
        found[_TEXT] = version(_TEXT)
    return found

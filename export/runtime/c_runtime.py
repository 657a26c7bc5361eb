"""A SavedModel run by TensorFlow's C library alone: what runs here needs no Python to be served.

TF Serving is built of the same C++ loader and session. `CRuntime` reaches them by ctypes in the
shared library the `tensorflow` wheel installs, and never imports the `tensorflow` package.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Mapping
from contextlib import ExitStack
from ctypes import c_char_p, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.export.runtime import c_api
from tf_charagram.export.runtime.wire import read_fields, varint


@dataclass(frozen=True)
class TensorSpec:
    """One input or output of a signature.

    Args:
        name: Tensor in the graph, for instance `"serving_default_texts:0"`.
        dtype: NumPy type (object for strings), or `None` for one `CRuntime` cannot carry.
        shape: Sizes, `None` for a free one; `None` as a whole when the rank is free.
    """

    name: str
    dtype: np.dtype[Any] | None
    shape: tuple[int | None, ...] | None


@dataclass(frozen=True)
class Signature:
    """What a signature takes and gives, by the names a caller uses.

    Args:
        inputs: Every input; each is needed.
        outputs: Every output.
    """

    inputs: Mapping[str, TensorSpec]
    outputs: Mapping[str, TensorSpec]


class CRuntime:
    """A loaded SavedModel, run through TensorFlow's C API.

    Loading runs the SavedModel's own initialisers (tables, assets). `run` may be called from
    several threads at once. Use as a context manager, or call `close` after the last `run`.

    Args:
        saved_model_dir: Folder that holds `saved_model.pb`; its graph for serving is loaded.
        intra_op_threads: Threads inside an op, at least 1. Defaults to `None`, one per core.
        inter_op_threads: Ops run at once, at least 1. Defaults to `None`, one per core. The C
            library makes each pool once per process: the first runtime's counts hold for all.

    Raises:
        ConfigError: A thread count is below 1.
        RuntimeError: The C library is missing, or it cannot load the folder; with its message.

    Example:
        with CRuntime("runs/words/saved_model/1") as runtime:
            vectors = runtime.run("serving_default", {"texts": ["a cat"]})["embedding"]
    """

    def __init__(
        self,
        saved_model_dir: str | Path,
        *,
        intra_op_threads: int | None = None,
        inter_op_threads: int | None = None,
    ) -> None:
        config = _config_proto(intra_op_threads=intra_op_threads, inter_op_threads=inter_op_threads)
        self._api = api = c_api.library()
        with ExitStack() as temporary, ExitStack() as on_error:
            options = api.TF_NewSessionOptions()
            temporary.callback(api.TF_DeleteSessionOptions, options)
            with c_api.checked_status() as status:
                api.TF_SetConfig(options, config, len(config), status)
            meta_graph = api.TF_NewBuffer()
            temporary.callback(api.TF_DeleteBuffer, meta_graph)
            self._graph = api.TF_NewGraph()
            on_error.callback(api.TF_DeleteGraph, self._graph)
            folder, tags = os.fsencode(saved_model_dir), (c_char_p * 1)(b"serve")
            with c_api.checked_status() as status:
                self._session = api.TF_LoadSessionFromSavedModel(
                    options, None, folder, tags, len(tags), self._graph, meta_graph, status
                )
            on_error.pop_all()
            self._finalizer = weakref.finalize(self, c_api.release, self._session, self._graph)
            buffer = meta_graph.contents
            self._signatures = _read_signatures(ctypes.string_at(buffer.data, buffer.length))

    def __enter__(self) -> CRuntime:
        """Returns the runtime itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Closes the runtime."""
        self.close()

    def close(self) -> None:
        """Frees the session and the graph; a second call does nothing."""
        self._finalizer()

    @property
    def signatures(self) -> dict[str, Signature]:
        """The signatures by name, without the loader's own (`__saved_model_init_op`)."""
        return dict(self._signatures)

    def run(self, signature: str, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Runs a signature once.

        Args:
            signature: Name of the signature, for instance `"serving_default"`.
            inputs: An array or a nested list for each input. Strings come as `str`, sent as UTF-8,
                or as `bytes`, sent as they are; NumPy's `S` type drops trailing NULs, lists do not.
                Shapes are left to the graph to check.

        Returns:
            An array for each output; strings as bytes in an object array.

        Raises:
            ConfigError: No such signature or input, an input is missing, or its values do not fit.
            RuntimeError: The runtime is closed, or the graph fails; with the C library's message.
        """
        if not self._finalizer.alive:
            raise RuntimeError("`run` came after `close`. Load the SavedModel again.")
        if signature not in self._signatures:
            raise ConfigError(unknown_name("signature", signature, self._signatures))
        specs, outputs = self._signatures[signature].inputs, self._signatures[signature].outputs
        for name in inputs:
            if name not in specs:
                raise ConfigError(unknown_name("input", name, specs))
        if missing := sorted(set(specs) - set(inputs)):
            raise ConfigError(f"Signature '{signature}' also needs: {', '.join(missing)}.")
        arrays = [_to_array(name, inputs[name], spec.dtype) for name, spec in specs.items()]
        feeds, fetches = self._graph_outputs(specs), self._graph_outputs(outputs)
        values, results = (c_void_p * len(specs))(), (c_void_p * len(outputs))()
        with ExitStack() as tensors:
            for index, array in enumerate(arrays):
                values[index] = tensor = c_api.new_tensor(array)
                tensors.callback(self._api.TF_DeleteTensor, tensor)
            with c_api.checked_status() as status:
                self._api.TF_SessionRun(
                    *(self._session, None, feeds, values, len(specs)),
                    *(fetches, results, len(outputs), None, 0, None, status),
                )
            for result in results:
                tensors.callback(self._api.TF_DeleteTensor, result)
            named = zip(outputs, results, strict=True)
            return {name: c_api.read_tensor(name, tensor) for name, tensor in named}

    def _graph_outputs(self, specs: Mapping[str, TensorSpec]) -> ctypes.Array[c_api.Output]:
        outputs = (c_api.Output * len(specs))()
        for output, (name, spec) in zip(outputs, specs.items(), strict=True):
            operation, _, index = spec.name.rpartition(":")
            output.operation = self._api.TF_GraphOperationByName(self._graph, operation.encode())
            if not output.operation:
                raise RuntimeError(f"The graph has no tensor '{spec.name}' for '{name}'.")
            output.index = int(index)
        return outputs


def _to_array(name: str, value: Any, dtype: np.dtype[Any] | None) -> np.ndarray:
    """Returns the C-ordered array of a signature's type that an input's values make."""
    if dtype is None:
        raise ConfigError(f"Input '{name}' has a type that CRuntime cannot send.")
    if dtype.kind == "O":
        array = np.array(value, dtype, order="C")
        for index, text in enumerate(array.flat):
            if isinstance(text, str):
                # A lone surrogate becomes broken UTF-8, for the graph to replace.
                array.flat[index] = text.encode("utf-8", "surrogatepass")
            elif not isinstance(text, bytes):
                raise ConfigError(f"Input '{name}' takes str or bytes. Received: {text!r}")
        return array
    given = np.asarray(value)
    if given.dtype.kind in "biuf":
        with np.errstate(invalid="ignore", over="ignore"):
            array = given.astype(dtype, order="C")
        # Floats may lose digits; integers and booleans must come through as they were.
        if dtype.kind == "f" or np.array_equal(array, given):
            return array
    raise ConfigError(f"Input '{name}' takes {dtype} values. Received: {given.dtype} that differ.")


def _config_proto(**threads: int | None) -> bytes:
    """Returns a serialized `ConfigProto` with the counts that are given."""
    message = bytearray()
    for name, count in threads.items():
        if count is None:
            continue
        if not 1 <= count < 2**31:
            raise ConfigError(f"`{name}` must be >= 1 and < 2**31. Received: {name}={count}")
        message.append({"intra_op_threads": 2, "inter_op_threads": 5}[name] << 3)
        message += varint(count)
    return bytes(message)


def _read_signatures(meta_graph: bytes) -> dict[str, Signature]:
    """Returns the signatures of a serialized `MetaGraphDef`, whose field 5 they are."""
    signatures = {}
    for entry in read_fields(memoryview(meta_graph)).get(5, []):
        key, value = _map_entry(entry)
        tensors = [
            {
                name: _read_spec(info)
                for name, info in map(_map_entry, read_fields(value).get(side, []))
            }
            for side in (1, 2)
        ]
        if not key.startswith("__saved_model"):
            signatures[key] = Signature(*tensors)
    return signatures


def _read_spec(tensor_info: memoryview) -> TensorSpec:
    info = read_fields(tensor_info)
    shape = read_fields(info.get(3, [memoryview(b"")])[0])
    # A free size is -1, written as an unsigned 64-bit number; 0, the default, is left out.
    sizes = [read_fields(size).get(1, [0])[0] for size in shape.get(2, [])]
    return TensorSpec(
        name=bytes(info.get(1, [b""])[0]).decode(),
        dtype=c_api.DTYPES.get(info.get(2, [0])[0]),
        shape=None if any(shape.get(3, [])) else tuple(n if n < 2**63 else None for n in sizes),
    )


def _map_entry(entry: memoryview) -> tuple[str, memoryview]:
    fields = read_fields(entry)
    empty = [memoryview(b"")]
    return bytes(fields.get(1, empty)[0]).decode(), fields.get(2, empty)[0]

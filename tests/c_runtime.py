"""Runs a SavedModel in TensorFlow's C library, without Python's TensorFlow.

TensorFlow Serving is built from the same C++ loader and session. They are called through ctypes, in
the shared library that the `tensorflow` wheel installs. As a program, `python -m tests.c_runtime
REQUEST ANSWER` runs `probe.measure` without Python's TensorFlow. Both files are pickles.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from ctypes import c_char_p, c_int, c_int64, c_size_t, c_void_p
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tf_charagram.export._check.probe import measure

ROOT = Path(__file__).parent.parent

# TF_DataType codes of the types that signatures use; strings become object arrays of bytes.
_STRING = 7
_CODES = {"float32": 1, "int32": 3, "string": _STRING, "int64": 9}
_NUMPY_TYPES: dict[int, Any] = {1: np.float32, 3: np.int32, _STRING: object, 9: np.int64}
_TSTRING_BYTES = 24  # sizeof(TF_TString)
_TYPES: dict[str, Any] = {
    "-": None,
    "p": c_void_p,
    "s": c_char_p,
    "i": c_int,
    "q": c_int64,
    "z": c_size_t,
}
# Each function with a letter for its result and one for each argument.
_PROTOTYPES = """
    TF_NewStatus p     TF_GetCode ip            TF_Message sp
    TF_NewGraph p      TF_NewSessionOptions p   TF_LoadSessionFromSavedModel pppspippp
    TF_SessionRun -ppppippipipp                 TF_GraphOperationByName pps
    TF_AllocateTensor pipiz                     TF_DeleteTensor -p        TF_TensorType ip
    TF_NumDims ip      TF_Dim qpi               TF_TensorData pp          TF_TensorByteSize zp
    TF_StringInit -p   TF_StringCopy -psz       TF_StringDealloc -p       TF_StringGetSize zp
    TF_StringGetDataPointer pp
"""


class _Output(ctypes.Structure):
    """A `TF_Output`: one output of one operation."""

    _fields_ = (("operation", c_void_p), ("index", c_int))


@functools.cache
def library() -> Any:
    """Opens the C library in the folder of the `tensorflow` package, which is not imported.

    Raises:
        RuntimeError: The library is missing.
    """
    spec = importlib.util.find_spec("tensorflow")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for file_name in ("libtensorflow_cc.so.2", "libtensorflow_cc.2.dylib"):
            path = Path(folder, file_name)
            if path.exists():
                api: Any = ctypes.CDLL(str(path))
                words = iter(_PROTOTYPES.split())
                for name, letters in zip(words, words, strict=True):
                    function = getattr(api, name)
                    function.restype, *function.argtypes = (_TYPES[letter] for letter in letters)
                return api
    raise RuntimeError("No libtensorflow_cc in the `tensorflow` package. Install tensorflow.")


class CRuntime:
    """A SavedModel loaded by TensorFlow's C API, until the process ends.

    Args:
        folder: Folder with `saved_model.pb` and `model_card.json`, which names the tensors of each
            signature.

    Raises:
        RuntimeError: The C library is missing, or cannot load the folder.
    """

    def __init__(self, folder: str | Path) -> None:
        card = json.loads(Path(folder, "model_card.json").read_text(encoding="utf-8"))
        self._signatures = card["signatures"]
        self._api = api = library()
        self._status, self._graph = api.TF_NewStatus(), api.TF_NewGraph()
        options, tags = api.TF_NewSessionOptions(), (c_char_p * 1)(b"serve")
        self._session = api.TF_LoadSessionFromSavedModel(
            options, None, os.fsencode(folder), tags, len(tags), self._graph, None, self._status
        )
        self._check_status()

    def __call__(self, signature: str, **inputs: Sequence[Any]) -> dict[str, np.ndarray]:
        """Calls a signature.

        Args:
            signature: Its name.
            **inputs: A list of bytes or numbers for each input.

        Returns:
            An array for each output; strings as bytes in an object array.

        Raises:
            KeyError: There is no such signature, or an input is missing.
            RuntimeError: The graph fails; with the message of the C library.
        """
        specs, outputs = (self._signatures[signature][side] for side in ("inputs", "outputs"))
        values, results = (c_void_p * len(specs))(), (c_void_p * len(outputs))()
        with ExitStack() as tensors:
            for index, (name, spec) in enumerate(specs.items()):
                tensor = _tensor(inputs[name], _CODES[spec["dtype"]])
                values[index] = tensors.enter_context(tensor)
            self._api.TF_SessionRun(
                *(self._session, None, self._places(specs), values, len(specs)),
                *(self._places(outputs), results, len(outputs), None, 0, None, self._status),
            )
            self._check_status()
            for result in results:
                tensors.callback(self._api.TF_DeleteTensor, result)
            return {name: _array(result) for name, result in zip(outputs, results, strict=True)}

    def _places(self, specs: Mapping[str, Mapping[str, Any]]) -> ctypes.Array[_Output]:
        places = (_Output * len(specs))()
        for place, spec in zip(places, specs.values(), strict=True):
            operation, _, index = spec["tensor"].rpartition(":")
            place.operation = self._api.TF_GraphOperationByName(self._graph, operation.encode())
            place.index = int(index)
        return places

    def _check_status(self) -> None:
        if self._api.TF_GetCode(self._status):
            raise RuntimeError(self._api.TF_Message(self._status).decode(errors="replace"))


@contextmanager
def _tensor(values: Sequence[Any], code: int) -> Iterator[int]:
    """Yields a `TF_Tensor` of shape `(len(values),)`."""
    api, array = library(), np.array(values, _NUMPY_TYPES[code])
    size = array.size * _TSTRING_BYTES if code == _STRING else array.nbytes
    tensor = api.TF_AllocateTensor(code, (c_int64 * 1)(array.size), 1, size)
    data = api.TF_TensorData(tensor)
    strings = range(data, data + size, _TSTRING_BYTES) if code == _STRING else ()
    for string, text in zip(strings, values, strict=False):
        api.TF_StringInit(string)
        api.TF_StringCopy(string, text, len(text))
    if code != _STRING and size:
        ctypes.memmove(data, array.ctypes.data, size)
    try:
        yield tensor
    finally:
        for string in strings:
            api.TF_StringDealloc(string)
        api.TF_DeleteTensor(tensor)


def _array(tensor: int) -> np.ndarray:
    """Copies a `TF_Tensor` to an array."""
    api, code = library(), library().TF_TensorType(tensor)
    shape = [api.TF_Dim(tensor, axis) for axis in range(api.TF_NumDims(tensor))]
    array: np.ndarray = np.empty(shape, _NUMPY_TYPES[code])
    data = api.TF_TensorData(tensor)
    if code == _STRING:
        for index in range(array.size):
            string = data + index * _TSTRING_BYTES
            text, size = api.TF_StringGetDataPointer(string), api.TF_StringGetSize(string)
            array.flat[index] = ctypes.string_at(text, size)
    elif array.size:
        ctypes.memmove(array.ctypes.data, data, api.TF_TensorByteSize(tensor))
    return array


def measure_in_c_runtime(request: dict[str, Any]) -> dict[str, Any]:
    """Runs `probe.measure` on the C library, in a process that cannot import TensorFlow."""
    with TemporaryDirectory() as folder:
        asked, answered = Path(folder) / "request", Path(folder) / "answer"
        asked.write_bytes(pickle.dumps(request))
        command = [sys.executable, "-m", "tests.c_runtime", str(asked), str(answered)]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr
        answer: dict[str, Any] = pickle.loads(answered.read_bytes())
        return answer


def main(request_path: str, answer_path: str) -> None:
    """Measures a SavedModel in this process."""
    request = pickle.loads(Path(request_path).read_bytes())
    library()  # Finds the package `tensorflow`, but does not import it.
    # Importing them is an error from here on.
    sys.modules.update(dict.fromkeys(["tensorflow", "keras"]))  # type: ignore[arg-type]
    answer = measure(partial(CRuntime, request["folder"]), request)
    Path(answer_path).write_bytes(pickle.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])

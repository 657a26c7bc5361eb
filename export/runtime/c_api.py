"""TensorFlow's C API through ctypes: the functions `CRuntime` calls, and tensors as arrays."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import c_char_p, c_int, c_int64, c_size_t, c_void_p
from pathlib import Path
from typing import Any

import numpy as np

# TF_DataType codes; strings become object arrays of bytes.
STRING = 7
DTYPES: dict[int, np.dtype[Any]] = {
    1: np.dtype(np.float32),
    2: np.dtype(np.float64),
    3: np.dtype(np.int32),
    STRING: np.dtype(object),
    9: np.dtype(np.int64),
    10: np.dtype(np.bool_),
}
_CODES = {dtype: code for code, dtype in DTYPES.items()}
_TSTRING_BYTES = 24  # sizeof(TF_TString)


class Buffer(ctypes.Structure):
    """A `TF_Buffer`: bytes that the C library owns."""

    _fields_ = (("data", c_void_p), ("length", c_size_t), ("deallocator", c_void_p))


class Output(ctypes.Structure):
    """A `TF_Output`: one output of one operation."""

    _fields_ = (("operation", c_void_p), ("index", c_int))


_TYPES: dict[str, Any] = {
    "-": None,
    "p": c_void_p,
    "b": ctypes.POINTER(Buffer),
    "s": c_char_p,
    "i": c_int,
    "q": c_int64,
    "z": c_size_t,
}
# The letter of the result, then one per argument.
_PROTOTYPES = {
    "TF_NewStatus": "p",
    "TF_GetCode": "ip",
    "TF_Message": "sp",
    "TF_DeleteStatus": "-p",
    "TF_NewBuffer": "b",
    "TF_DeleteBuffer": "-b",
    "TF_NewGraph": "p",
    "TF_DeleteGraph": "-p",
    "TF_GraphOperationByName": "pps",
    "TF_NewSessionOptions": "p",
    "TF_SetConfig": "-pszp",
    "TF_DeleteSessionOptions": "-p",
    "TF_LoadSessionFromSavedModel": "pppspipbp",
    "TF_SessionRun": "-ppppippipipp",
    "TF_CloseSession": "-pp",
    "TF_DeleteSession": "-pp",
    "TF_NewTensor": "pipipzpp",
    "TF_DeleteTensor": "-p",
    "TF_TensorType": "ip",
    "TF_NumDims": "ip",
    "TF_Dim": "qpi",
    "TF_TensorData": "pp",
    "TF_TensorByteSize": "zp",
    "TF_StringInit": "-p",
    "TF_StringCopy": "-psz",
    "TF_StringGetDataPointer": "pp",
    "TF_StringGetSize": "zp",
    "TF_StringDealloc": "-p",
}


@functools.cache
def library() -> Any:
    """Returns the C library that lies beside the installed `tensorflow` package.

    The package is located, not imported.

    Raises:
        RuntimeError: There is none.
    """
    spec = importlib.util.find_spec("tensorflow")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for file_name in ("libtensorflow_cc.so.2", "libtensorflow_cc.2.dylib"):
            path = Path(folder, file_name)
            if path.exists():
                # It brings libtensorflow_framework, whose symbols the same handle resolves.
                api: Any = ctypes.CDLL(str(path))
                for name, letters in _PROTOTYPES.items():
                    function = getattr(api, name)
                    function.restype, *function.argtypes = (_TYPES[letter] for letter in letters)
                return api
    raise RuntimeError("No libtensorflow_cc beside an installed `tensorflow`. Install tensorflow.")


@contextmanager
def checked_status() -> Iterator[int]:
    """Yields a `TF_Status`; raises its message after the block.

    Raises:
        RuntimeError: The status is not OK.
    """
    api = library()
    status = api.TF_NewStatus()
    try:
        yield status
        if api.TF_GetCode(status):
            raise RuntimeError(api.TF_Message(status).decode(errors="replace"))
    finally:
        api.TF_DeleteStatus(status)


def release(session: int, graph: int) -> None:
    """Closes and frees a session, then its graph."""
    api = library()
    status = api.TF_NewStatus()
    api.TF_CloseSession(session, status)
    api.TF_DeleteSession(session, status)
    api.TF_DeleteGraph(graph)
    api.TF_DeleteStatus(status)


# Memory the graph may still read. A graph can keep a fed tensor after its run (a variable assigned
# from it does), so the memory lives until the C library gives the last reference back.
_lent: dict[int, np.ndarray] = {}
_next_loan = itertools.count(1)


def _take_back_numbers(data: int, size: int, loan: int) -> None:
    del _lent[loan]


def _take_back_strings(data: int, size: int, loan: int) -> None:
    api, memory = library(), _lent.pop(loan)
    first = memory.ctypes.data
    for address in range(first, first + memory.nbytes, _TSTRING_BYTES):
        api.TF_StringDealloc(address)


_Deallocator = ctypes.CFUNCTYPE(None, c_void_p, c_size_t, c_void_p)
_TAKE_BACK_NUMBERS = _Deallocator(_take_back_numbers)
_TAKE_BACK_STRINGS = _Deallocator(_take_back_strings)


def new_tensor(array: np.ndarray) -> int:
    """Returns a `TF_Tensor` of an array, for the caller to delete.

    Args:
        array: C-ordered, of a type in `DTYPES`; an object array holds only bytes. Arrays of
            numbers are shared, not copied: they must not change until the tensor is gone.
    """
    api, code = library(), _CODES[array.dtype]
    memory, deallocator = array, _TAKE_BACK_NUMBERS
    if code == STRING:
        memory = np.zeros((array.size, _TSTRING_BYTES), np.uint8)
        deallocator = _TAKE_BACK_STRINGS
        first = memory.ctypes.data
        addresses = range(first, first + memory.nbytes, _TSTRING_BYTES)
        for string, text in zip(addresses, array.flat, strict=True):
            api.TF_StringInit(string)
            api.TF_StringCopy(string, text, len(text))
    dims = (c_int64 * array.ndim)(*array.shape)
    loan = next(_next_loan)
    _lent[loan] = memory
    address, size = memory.ctypes.data, memory.nbytes
    tensor: int = api.TF_NewTensor(code, dims, array.ndim, address, size, deallocator, loan)
    return tensor


def read_tensor(name: str, tensor: int) -> np.ndarray:
    """Returns a copy of a `TF_Tensor` as an array, strings as bytes in an object array.

    Raises:
        RuntimeError: Its type is not in `DTYPES`; `name` says which output it is.
    """
    api = library()
    code = api.TF_TensorType(tensor)
    if code not in DTYPES:
        raise RuntimeError(f"Output '{name}' has TensorFlow's type number {code}, not readable.")
    shape = [api.TF_Dim(tensor, axis) for axis in range(api.TF_NumDims(tensor))]
    array: np.ndarray = np.empty(shape, DTYPES[code])
    data = api.TF_TensorData(tensor)
    if code == STRING:
        for index in range(array.size):
            string = data + index * _TSTRING_BYTES
            text, size = api.TF_StringGetDataPointer(string), api.TF_StringGetSize(string)
            array.flat[index] = ctypes.string_at(text, size)
    elif array.size:
        ctypes.memmove(array.ctypes.data, data, api.TF_TensorByteSize(tensor))
    return array

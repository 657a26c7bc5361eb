"""What hostile models are made of: files changed in place, and code that would leave a trace."""

from __future__ import annotations

import io
import json
import marshal
from base64 import b64encode

import numpy as np


def edit(path, change):
    """Changes the JSON of a file."""
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


def edit_arrays(path, change):
    """Changes the arrays of a file."""
    with np.load(path) as stored:
        arrays = dict(stored)
    change(arrays)
    np.savez(path, **arrays)


def code(canary):
    """Returns what Keras makes a function of that writes a file."""
    compiled = compile(f"lambda *_: open({str(canary)!r}, 'w')", "x", "eval").co_consts[0]
    return {"class_name": "__lambda__", "config": {
        "code": b64encode(marshal.dumps(compiled)).decode(), "defaults": None, "closure": None,
    }}  # fmt: skip


class Canary:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def header(shape, descr="<f4"):
    """Returns an array that is nothing but its header."""
    file = io.BytesIO()
    fields = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_2_0(file, fields)
    return file.getvalue()


def pickled(canary):
    file = io.BytesIO()
    np.save(file, np.array([Canary(canary)], object), allow_pickle=True)
    return file.getvalue()

"""Docstring examples are collected of every module but those whose extra is not installed."""

from __future__ import annotations

from importlib.util import find_spec

_NEEDS = {
    "export/mteb.py": "mteb",
    "export/sklearn.py": "sklearn",
    "export/_serving/triton_files/model.py": "triton_python_backend_utils",
}

collect_ignore = [path for path, package in _NEEDS.items() if find_spec(package) is None]
# pytest would put the module in place of the function of its name.
collect_ignore.append("tf_charagram/train.py")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Names bytes after their argument: compressed bytes contain the time.

    Workers of pytest-xdist run nothing unless all of them collect the same ids.
    """
    return argname if isinstance(val, bytes | bytearray) else None

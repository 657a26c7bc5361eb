"""Docstring examples are collected of every module but those whose extra is not installed."""

from importlib.util import find_spec

_NEEDS = {"export/interop/mteb.py": "mteb", "export/interop/sklearn.py": "sklearn"}

collect_ignore = [path for path, package in _NEEDS.items() if find_spec(package) is None]
# pytest would put the module in place of the function of its name.
collect_ignore.append("tf_charagram/train.py")

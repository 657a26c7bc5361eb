"""Which operations a SavedModel needs, and who provides them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError
from tensorflow.core.protobuf import saved_model_pb2

from tf_charagram.export.check.result import Result
from tf_charagram.models.saved_model import required_ops

CORE, PYTHON, UNKNOWN = "TensorFlow", "Python", "unknown"
# They call back into the Python process that made the graph, which no server has.
_PYTHON_OPS = frozenset({"EagerPyFunc", "PyFunc", "PyFuncStateless"})


def read_operations(folder: Path) -> dict[str, list[str]]:
    """Returns the operations of a SavedModel's graph and of its functions.

    Args:
        folder: That holds `saved_model.pb`.

    Returns:
        Who provides them (`"TensorFlow"`, `"tensorflow-text"`, `"Python"`, `"unknown"`) -> names,
        sorted.

    Raises:
        DecodeError: The file is not a SavedModel.
    """
    message = saved_model_pb2.SavedModel()
    message.ParseFromString((folder / "saved_model.pb").read_bytes())
    if not message.meta_graphs:
        raise DecodeError("There is no graph in it.")
    graph = message.meta_graphs[0]
    foreign = required_ops(graph)
    if UNKNOWN in foreign:
        # A package's operations are known once it is imported.
        with suppress(ImportError):
            import_module("tensorflow_text")
            foreign = required_ops(graph)
    library = graph.graph_def.library
    nodes = [*graph.graph_def.node, *(node for f in library.function for node in f.node_def)]
    names = {node.op for node in nodes} - {f.signature.name for f in library.function}
    names -= {name for group in foreign.values() for name in group}
    groups = {CORE: sorted(names - _PYTHON_OPS), PYTHON: sorted(names & _PYTHON_OPS), **foreign}
    return {owner: group for owner, group in groups.items() if group}


def check_operations(
    operations: Mapping[str, Sequence[str]], card: Mapping[str, Any] | None
) -> Result:
    """Fails operations that no server has, and packages that the model's card does not name.

    Args:
        operations: What `read_operations` returned.
        card: The model's card, or `None` if there is none.
    """
    counts = ", ".join(f"{len(names)} of {owner}" for owner, names in operations.items())
    needed = set(operations) - {CORE, PYTHON, UNKNOWN}
    problems = [
        f"{', '.join(operations[owner])} cannot be served ({owner})"
        for owner in (PYTHON, UNKNOWN)
        if owner in operations
    ]
    named = (card or {}).get("required_ops")
    # In a damaged card it may be anything.
    if card is not None and not needed <= set(named if isinstance(named, dict) else ()):
        problems.append(f"the model card does not name {', '.join(sorted(needed))}")
    return Result("graph", "operations", not problems, "; ".join([counts, *problems]))

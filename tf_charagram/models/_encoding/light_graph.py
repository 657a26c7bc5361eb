"""Makes the graph of a SavedModel quick to prepare, which the first call of a signature waits for.

Before the first call, TensorFlow optimizes the graph and all functions that it can reach, and the
first time that a function is called, it optimizes that function again. For the graphs of this
package that took seconds, and made later calls no faster.
"""

from __future__ import annotations

from collections.abc import Mapping

from tensorflow.core.framework.function_pb2 import FunctionDef
from tensorflow.core.framework.graph_pb2 import GraphDef
from tensorflow.core.framework.node_def_pb2 import NodeDef
from tensorflow.core.protobuf.config_pb2 import ConfigProto

from tf_charagram._common.devices import CPU

# TensorFlow sets it for functions of tf.data, and its optimizer passes over these.
_NOT_OPTIMIZED = "_tf_data_function"
# Whether TensorFlow inlines the branches of a condition.
_INLINED = "_lower_using_switch_merge"
# Types that nodes repeat, and that TensorFlow infers if it needs them.
_SHAPES = "_output_shapes"


def lighten(graph: GraphDef) -> None:
    """Changes a graph in place, so that TensorFlow prepares it quickly; its answers stay the same.

    Equal constants of a function become one constant. Functions are not optimized. A branch of a
    condition on the CPU is prepared when it is first taken.
    """
    config = ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    not_optimized = config.SerializeToString()
    for function in graph.library.function:
        _merge_constants(function)
        function.attr[_NOT_OPTIMIZED].b = True
        for node in function.node_def:
            node.attr.pop(_SHAPES, None)
            if "config_proto" in node.attr:
                node.attr["config_proto"].s = not_optimized
            # Branches that are not inlined run on one device, and those on a GPU may use the CPU.
            if _INLINED in node.attr and node.op != "While" and node.device.endswith(CPU):
                node.attr[_INLINED].b = False


def _merge_constants(function: FunctionDef) -> None:
    """Keeps one of all equal constants; the others are more than a third of all nodes."""
    first: dict[bytes, str] = {}
    merged = {}
    kept = []
    for node in function.node_def:
        # A constant with inputs waits for them.
        if node.op == "Const" and not node.input:
            value = node.attr["value"].SerializeToString(deterministic=True)
            name = first.setdefault(value + node.device.encode(), node.name)
            if name != node.name:
                merged[node.name] = name
                continue
        kept.append(node)
    for node in kept:
        _rename(node, merged)
    del function.node_def[:]
    function.node_def.extend(kept)
    for name, tensor in function.ret.items():
        function.ret[name] = _renamed(tensor, merged)


def _rename(node: NodeDef, names: Mapping[str, str]) -> None:
    inputs = [_renamed(tensor, names) for tensor in node.input]
    del node.input[:]
    node.input.extend(inputs)


def _renamed(tensor: str, names: Mapping[str, str]) -> str:
    """Renames the node of a tensor `node:output:0`, or of a control input `^node`."""
    control = "^" if tensor.startswith("^") else ""
    node, colon, output = tensor.removeprefix("^").partition(":")
    return f"{control}{names.get(node, node)}{colon}{output}"

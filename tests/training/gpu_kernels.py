"""Which operations of a traced function a GPU cannot run, or runs on tensors in host memory.

What no GPU kernel takes, TensorFlow moves to the CPU without a word, and its inputs with it. A
kernel that is registered for the GPU may still take and give some tensors in host memory: those of
nearly all operations on int32 do, and each of them copies and waits. Both are told from the
registered kernels, so that no GPU is needed.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import tensorflow as tf
from tensorflow.python.framework import op_def_registry
from tensorflow.python.framework.function_def_to_graph import function_def_to_graph
from tensorflow.python.framework.kernels import get_registered_kernels_for_op

# What they call is inlined or lowered to operations that keep these types in host memory.
CALLS = {
    "PartitionedCall": "f", "StatefulPartitionedCall": "f", "If": "then_branch else_branch",
    "StatelessIf": "then_branch else_branch", "While": "cond body",
    "StatelessWhile": "cond body", "Case": "branches", "StatelessCase": "branches",
}  # fmt: skip
IN_HOST_MEMORY = (tf.int32, tf.string)
# Inputs and outputs that are single numbers, or one per dimension, also where no shape says so.
SMALL = {
    "axis", "begin", "dim", "dims", "element_shape", "end", "filter_sizes", "index", "multiples",
    "num_elements", "paddings", "perm", "r0", "r1", "reduction_indices", "s0", "s1",
    "shape", "size", "strides",
}  # fmt: skip
# Their outputs, and inputs but for what they tell the shape of, are shapes.
ABOUT_SHAPES = {"ConcatOffset", "Shape", "ShapeN", "VariableShape"}


def problems(graph: tf.Graph) -> set[str]:
    """Returns the problems that keep a step, or a function it calls, from staying on the GPU."""
    return {found for op in all_operations(graph) for found in problems_of(op)}


def all_operations(graph: tf.Graph) -> Iterator[tf.Operation]:
    """Yields the operations of a graph, and of its functions with the shapes of the call."""
    functions = {f.signature.name: f for f in graph.as_graph_def().library.function}
    graphs = [graph]
    while graphs:
        for op in graphs.pop().get_operations():
            yield op
            for name in called(op):
                # The shapes that a variable of a loop has in all rounds are those of the output.
                arguments = list(op.outputs if "While" in op.type else op.inputs)
                number = len(functions[name].signature.input_arg)
                shapes = [tensor.shape for tensor in arguments[len(arguments) - number :]]
                graphs.append(function_def_to_graph(functions[name], shapes))


def called(op: tf.Operation) -> list[str]:
    """Returns the names of the functions that an operation calls."""
    names = []
    for attribute in CALLS.get(op.type, "").split():
        value = op.node_def.attr[attribute]
        names += [function.name for function in value.list.func] or [value.func.name]
    return names


def problems_of(op: tf.Operation) -> list[str]:
    """Returns the problems of one operation."""
    if op.type == "NoOp":
        return []
    if op.type == "Placeholder" or op.type in CALLS:
        tensors = [*op.inputs, *op.outputs]
        return [
            f"{op.type} ({op.name}): {tensor.dtype.name} {tensor.shape} in host memory"
            for tensor in tensors
            if tensor.dtype in IN_HOST_MEMORY and grows(tensor)
        ]
    kernel = gpu_kernel(op)
    if kernel is None:
        types = sorted({tensor.dtype.name for tensor in [*op.inputs, *op.outputs]})
        return [f"{op.type} ({op.name}): no GPU kernel for {', '.join(types)}"]
    return [
        f"{op.type} ({op.name}): `{name}`, {tensor.dtype.name} {tensor.shape}, in host memory"
        for name, tensor in arguments_of(op)
        if name in kernel.host_memory_arg and not is_small(op, name) and grows(tensor)
    ]


def is_small(op: tf.Operation, name: str) -> bool:
    """Returns whether an argument has no more numbers than a tensor has dimensions."""
    return name in SMALL or (op.type in ABOUT_SHAPES and name != "input")


def grows(tensor: tf.Tensor) -> bool:
    """Returns whether the size of a tensor depends on the batch."""
    return tensor.dtype != tf.resource and not tensor.shape.is_fully_defined()


@functools.cache
def kernels(op_type: str, device: str) -> list:
    """Returns the kernels of an operation, the one that TensorFlow prefers first."""
    registered = get_registered_kernels_for_op(op_type).kernel
    found = [k for k in registered if k.device_type == device and not k.label]
    return sorted(found, key=lambda kernel: -kernel.priority)


def gpu_kernel(op: tf.Operation):
    """Returns the kernel that TensorFlow chooses on a GPU, or `None`."""
    for device in ("GPU", "DEFAULT"):
        for kernel in kernels(op.type, device):
            if all(
                type_ in constraint.allowed_values.list.type
                for constraint in kernel.constraint
                if constraint.allowed_values.list.type
                for type_ in types_of(op, constraint.name)
            ):
                return kernel
    return None


def types_of(op: tf.Operation, attribute: str) -> list[int]:
    """Returns the types an attribute of an operation has."""
    value = op.get_attr(attribute)
    values = value if isinstance(value, list) else [value]
    return [value.as_datatype_enum for value in values]


def arguments_of(op: tf.Operation) -> Iterator[tuple[str, tf.Tensor]]:
    """Yields inputs and outputs with the name of their argument, which may be a list."""
    definition = op_def_registry.get(op.type)
    for arguments, tensors in (
        (definition.input_arg, op.inputs),
        (definition.output_arg, op.outputs),
    ):
        remaining = iter(tensors)
        for argument in arguments:
            number = 1
            if argument.number_attr:
                number = op.get_attr(argument.number_attr)
            elif argument.type_list_attr:
                number = len(op.get_attr(argument.type_list_attr))
            for _ in range(number):
                yield argument.name, next(remaining)

"""A lightened graph gives the same answers, with fewer nodes that are prepared later."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf.config_pb2 import ConfigProto
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

from tf_charagram._common.devices import on_cpu
from tf_charagram.models._encoding.light_graph import lighten

NUMBERS = tf.TensorSpec([None], tf.int32, name="numbers")


class Model(tf.Module):
    """Repeats constants, branches on the CPU and elsewhere, and calls a function twice."""

    @tf.function(
        input_signature=[NUMBERS], autograph=False, experimental_attributes={"_noinline": True}
    )
    @on_cpu
    def change(self, numbers):
        parts = tf.stack([numbers[1:], numbers[:-1] + 1, numbers[1:] * 1])
        return tf.cond(
            tf.size(numbers) > 3,
            lambda: tf.reduce_sum(parts, axis=0) + 7,
            lambda: tf.reduce_sum(parts, axis=0) - 7,
        )

    @tf.function(input_signature=[NUMBERS], autograph=False)
    def call(self, numbers):
        changed = self.change(self.change(numbers))
        # Its device is chosen later, so its branches must stay part of the graph.
        chosen = tf.cond(tf.size(numbers) > 4, lambda: changed, lambda: -changed)
        return {"chosen": chosen}


@pytest.fixture(scope="module")
def model():
    return Model()


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("light")
    tf.saved_model.save(model, str(folder), signatures=model.call)
    return folder


def graph_of(folder):
    message = SavedModel()
    message.ParseFromString((folder / "saved_model.pb").read_bytes())
    return message, message.meta_graphs[0].graph_def


def nodes(graph, *operations):
    found = [node for function in graph.library.function for node in function.node_def]
    return [node for node in found if node.op in operations]


def test_answers_are_the_same(model, folder):
    message, graph = graph_of(folder)
    before = len(nodes(graph, "Const"))
    lighten(graph)
    after = len(nodes(graph, "Const"))
    assert after < 0.8 * before
    (folder / "saved_model.pb").write_bytes(message.SerializeToString())
    call = tf.saved_model.load(str(folder)).signatures["serving_default"]
    for size in (2, 3, 4, 5, 9):
        numbers = np.arange(size, dtype=np.int32)
        found = call(numbers=tf.constant(numbers))["chosen"]
        np.testing.assert_array_equal(found, model.call(numbers)["chosen"])


def test_constants_are_merged_only_if_equal():
    graph = tf.Graph()
    with graph.as_default():

        @tf.function(input_signature=[NUMBERS], autograph=False)
        def add(numbers):
            texts = tf.constant([b"a", b"b"])
            others = tf.constant([b"a", b"c"])
            equal = tf.constant([b"a", b"b"])
            joined = tf.strings.join([texts, others, equal, tf.strings.as_string(numbers)])
            # Of other types and shapes.
            return joined, tf.constant(1.0), tf.constant(1), tf.constant([1]), tf.constant(1)

        concrete = add.get_concrete_function()
    definition = concrete.graph.as_graph_def()
    definition.library.function.add().CopyFrom(concrete.function_def)
    lighten(definition)
    (function,) = definition.library.function
    names = {node.name for node in function.node_def}
    constants = [node for node in function.node_def if node.op == "Const"]
    assert len(constants) == 5
    used = {name.split(":")[0] for node in function.node_def for name in node.input}
    results = {tensor.split(":")[0] for tensor in function.ret.values()}
    assert results <= names
    assert used <= names | {argument.name for argument in function.signature.input_arg}


def test_functions_are_not_optimized_again(folder):
    _, graph = graph_of(folder)
    lighten(graph)
    calls = nodes(graph, "PartitionedCall", "StatefulPartitionedCall")
    assert calls
    for node in calls:
        config = ConfigProto.FromString(node.attr["config_proto"].s)
        assert config.graph_options.rewrite_options.disable_meta_optimizer
    inlined = {}
    for node in nodes(graph, "If", "StatelessIf"):
        on_the_cpu = "CPU" in node.device
        inlined.setdefault(on_the_cpu, set()).add(node.attr["_lower_using_switch_merge"].b)
    assert inlined == {True: {False}, False: {True}}

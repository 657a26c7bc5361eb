"""Every operation of a training step has a GPU kernel; none of them needs a GPU to be checked.

TensorFlow moves what has no GPU kernel to the CPU without a word, and the batch with it. Kernels
registered for the GPU that keep their numbers in host memory, as many of int32, count as GPU ones.
"""

from __future__ import annotations

import functools
import itertools

import pytest
import tensorflow as tf
from tensorflow.python.framework import op_def_registry
from tensorflow.python.framework.kernels import get_registered_kernels_for_op

from tests.contracts import some_now
from tf_charagram.encoders import ENCODERS, encoder_class
from tf_charagram.layers.embedding_table import tables_in
from tf_charagram.layers.pair_head import PairLabelHead, PairScoreHead
from tf_charagram.layers.tagging_head import TaggingHead
from tf_charagram.layers.text_head import TextHead
from tf_charagram.objectives.negatives import STRATEGIES
from tf_charagram.optimizers import OPTIMIZERS, make_optimizer
from tf_charagram.trainers.paraphrase import ParaphraseModel
from tf_charagram.trainers.supervised import SupervisedModel
from tf_charagram.trainers.tagging import TaggingModel

pytestmark = pytest.mark.skipif(
    not tf.test.is_built_with_cuda(), reason="this TensorFlow has no GPU kernels at all"
)

SPEC = (
    tf.RaggedTensorSpec([None, None], tf.int32, ragged_rank=1, row_splits_dtype=tf.int64),
    tf.TensorSpec([None], tf.int32),
)
# The runtime handles these itself, by inlining or lowering, wherever the function is placed.
WITHOUT_DEVICE = {
    "NoOp", "Placeholder", "PartitionedCall", "StatefulPartitionedCall", "If", "StatelessIf",
    "While", "StatelessWhile", "Case", "StatelessCase",
}  # fmt: skip


def step_nodes(name, optimizer, options=None, **settings):
    """Returns the nodes of a traced training step, function bodies included."""
    model = ParaphraseModel(encoder_class(name)(num_rows=50, dim=6, **options or {}))
    model.compile(make_optimizer(optimizer, 0.01), **settings)
    step = tf.function(lambda ids, text_ids: model.train_step((ids, text_ids)))
    graph = step.get_concrete_function(*SPEC).graph.as_graph_def()
    nodes = [*graph.node, *(node for f in graph.library.function for node in f.node_def)]
    assert len(nodes) > 100
    return nodes


HEADS = {
    "scores": lambda: PairScoreHead(dim=6, num_classes=5),
    "pairs": lambda: PairLabelHead(dim=6, labels=["no", "maybe", "yes"]),
    "texts": lambda: TextHead(dim=6, labels=["no", "yes"]),
}


def supervised_nodes(task, encoder, **settings):
    """Returns the nodes of a step of a supervised task; without an encoder, on vectors."""
    made = None if encoder is None else encoder_class(encoder)(num_rows=50, dim=6)
    model = SupervisedModel(made, HEADS[task]())
    model.compile(make_optimizer("adam", 0.01), l2_head=0.1, clip_norm=1.0, **settings)
    step = tf.function(lambda inputs, targets: model.train_step((inputs, targets)))
    inputs = SPEC[0] if made is not None else tf.TensorSpec([None, 6])
    targets = tf.TensorSpec([None], tf.float32 if task == "scores" else tf.int32)
    graph = step.get_concrete_function(inputs, targets).graph.as_graph_def()
    return [*graph.node, *(node for f in graph.library.function for node in f.node_def)]


def tagger_nodes(name, optimizer="sgd", options=None, **settings):
    """Returns the nodes of a traced training step of a tagger."""
    encoder = encoder_class(name)(num_rows=50, dim=6)
    head = TaggingHead(labels=["A", "B"], word_dim=6, lstm_dim=4, hidden_dim=3, **options or {})
    model = TaggingModel(encoder, head)
    model.compile(make_optimizer(optimizer, 0.01), **settings)
    step = tf.function(lambda *batch: model.train_step(batch))
    specs = SPEC[0], tf.TensorSpec([None], tf.bool), SPEC[0], SPEC[1]
    graph = step.get_concrete_function(*specs).graph.as_graph_def()
    return [*graph.node, *(node for f in graph.library.function for node in f.node_def)]


def types_of(node, attribute):
    """Returns the types an attribute of a node has, by way of the default if it is left out."""
    value = node.attr[attribute] if attribute in node.attr else None
    if value is None:
        definition = op_def_registry.get(node.op)
        value = next(a.default_value for a in definition.attr if a.name == attribute)
    return [value.type] if value.type else list(value.list.type)


@functools.cache
def gpu_kernels(op):
    kernels = get_registered_kernels_for_op(op).kernel
    return [kernel for kernel in kernels if kernel.device_type in ("GPU", "DEFAULT")]


def accepts(kernel, node):
    return all(
        type_ in constraint.allowed_values.list.type
        for constraint in kernel.constraint
        for type_ in types_of(node, constraint.name)
    )


def problem(node):
    if node.op in WITHOUT_DEVICE:
        return None
    kernels = gpu_kernels(node.op)
    if not kernels:
        return f"{node.op} ({node.name}): no GPU kernel"
    if not any(accepts(kernel, node) for kernel in kernels):
        names = {c.name for kernel in kernels for c in kernel.constraint}
        types = {n: [tf.as_dtype(t).name for t in types_of(node, n)] for n in sorted(names)}
        return f"{node.op} ({node.name}): no GPU kernel for {types}"
    return None


def check(nodes):
    problems = {found for node in nodes if (found := problem(node))}
    assert not problems, "\n".join(sorted(problems))


def check_no_strings_and_no_tables(nodes):
    for node in nodes:
        assert "String" not in node.op and "Table" not in node.op and "Unicode" not in node.op
        assert node.op not in ("PyFunc", "EagerPyFunc", "PyFuncStateless")
        for value in node.attr.values():
            assert value.type != tf.string.as_datatype_enum, node.name


# What an optimizer adds to the step does not depend on how negatives are chosen.
@pytest.mark.parametrize(
    ("strategy", "optimizer"),
    sorted({(name, "adam") for name in STRATEGIES} | {("mix", name) for name in OPTIMIZERS}),
)
def test_train_step(strategy, optimizer):
    check(step_nodes("charagram", optimizer, negatives=strategy, l2=0.1, clip_norm=1.0))


@pytest.mark.parametrize("settings", [{}, {"l2": 0.1, "dense_l2": True}], ids=str)
def test_train_step_without_clipping(settings):
    check(step_nodes("charagram", "adam", **settings))


# Nor does what an encoder adds.
@pytest.mark.parametrize("name", ENCODERS)
def test_train_step_of_each_encoder(name):
    nodes = step_nodes(name, "adam", negatives="mix", l2=0.1, clip_norm=1.0)
    check(nodes)
    check_no_strings_and_no_tables(nodes)


@pytest.mark.parametrize(
    ("name", "dense_l2"),
    some_now(
        [*itertools.product(["dan", "identity_rnn"], [False, True])],
        ("dan", False), ("identity_rnn", True),
    ),
)  # fmt: skip
def test_train_step_with_settings_of_word_vectors(name, dense_l2):
    """A bag and a sequence of words; only the second has weights that are pulled to a target."""
    settings = {"l2_words": 0.1, "l2_composition": 0.1, "dense_l2": dense_l2}
    check(step_nodes(name, "adam", {"word_dropout": 0.5}, **settings))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("lstm", {"use_peepholes": False}),
        ("gran", {"use_peepholes": False, "num_words": 9}),
        ("word_average", {"num_words": 9}),
        ("word_average", {"num_words": 9, "word_dropout": 0.5}),
        ("lstm", {"num_words": 9, "word_dropout": 0.5}),
    ],
    ids=str,
)
def test_train_step_with_options(name, options):
    """Without peepholes, and with n-grams for unknown words."""
    check(step_nodes(name, "adam", options))


@pytest.mark.parametrize(
    ("task", "encoder"),
    some_now(
        [*itertools.product(HEADS, ["charagram", "cse", None])],
        ("scores", "charagram"), ("pairs", "cse"), ("texts", "charagram"), ("texts", None),
    ),
)  # fmt: skip
def test_supervised_step(task, encoder):
    pulled = {} if encoder is None else {"l2_composition": 0.1, "pull_back": True}
    weights = {"pairs": [1.0, 2.0, 3.0], "texts": [1.0, 2.0]}.get(task)
    check(supervised_nodes(task, encoder, class_weights=weights, **pulled))


@pytest.mark.parametrize(
    ("optimizer", "use_peepholes"),
    some_now([*itertools.product(OPTIMIZERS, [False, True])], ("sgd", True), ("adam", False)),
)
def test_train_step_of_the_tagger(optimizer, use_peepholes):
    options = {"use_capitals": True, "use_peepholes": use_peepholes}
    settings = {"l2": 0.1, "l2_head": 0.1, "dense_l2": use_peepholes, "clip_norm": 1.0}
    nodes = tagger_nodes("charagram", optimizer, options, **settings)
    assert len(nodes) > 100
    check(nodes)


@pytest.mark.parametrize("name", some_now(["char_cnn", "char_lstm"], "char_cnn"))
def test_train_step_of_the_tagger_on_characters(name):
    check(tagger_nodes(name))


@tf.function(input_signature=[tf.TensorSpec([None], tf.string), tf.TensorSpec([None], tf.int32)])
def on_the_cpu(texts, numbers):
    lengths = tf.strings.length(texts)
    return tf.strings.as_string(tf.math.bincount(numbers, dtype=tf.int32)), lengths


def test_the_check_itself():
    """Operations without a kernel are found, and so are types without one."""
    nodes = on_the_cpu.get_concrete_function().graph.as_graph_def().node
    assert any("no GPU kernel" in (problem(node) or "") for node in nodes if "String" in node.op)
    node = tf.compat.v1.NodeDef(name="product", op="MatMul")
    node.attr["T"].type = tf.float32.as_datatype_enum
    assert problem(node) is None
    node.attr["T"].type = tf.uint8.as_datatype_enum
    assert problem(node) == "MatMul (product): no GPU kernel for {'T': ['uint8']}"


@pytest.mark.parametrize("optimizer", some_now(OPTIMIZERS, "adam", "sgd"))
def test_train_step_on_a_table_in_bfloat16(optimizer):
    with tables_in("bfloat16"):
        nodes = step_nodes("charagram", optimizer, l2=0.1, clip_norm=1.0)
    assert any(tf.bfloat16.as_datatype_enum in types_of(node, "dtype") for node in nodes
               if node.op == "ResourceScatterUpdate")  # fmt: skip
    check(nodes)

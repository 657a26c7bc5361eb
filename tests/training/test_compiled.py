"""Steps compiled by XLA train as steps on the CPU do; XLA runs on a CPU, too."""

from __future__ import annotations

import functools
import itertools
import re

import keras
import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.contracts import ragged
from tests.variants import some_now
from tf_charagram.encoders import ENCODERS, encoder_class
from tf_charagram.encoders.base import is_padded
from tf_charagram.layers._ops.chunked import PADDING, ChunkedIds
from tf_charagram.layers._ops.xla import in_xla
from tf_charagram.optimizers.registry import OPTIMIZERS, make_optimizer
from tf_charagram.tasks.distillation._teachers.step import DistillModel
from tf_charagram.tasks.labels._heads.heads import TextHead
from tf_charagram.tasks.paraphrase._corpus.pair_stream import Pairs, PairStream
from tf_charagram.tasks.paraphrase.model import ParaphraseModel
from tf_charagram.training._loop import compiled
from tf_charagram.training._loop.steps import choose_steps
from tf_charagram.training.supervised_model import SupervisedModel

NUM_ROWS, NUM_PAIRS, BATCH = 40, 16, 4
#: What a GPU would have to wait for: sizes of results that the data decide.
DYNAMIC = {
    "BooleanMask", "DynamicPartition", "RaggedGather", "RaggedRange", "RaggedTensorToTensor",
    "SparseTensorToCSRSparseMatrix", "Unique", "UniqueV2", "Where",
}  # fmt: skip


def make_stream(*, is_padded=False, num_pairs=NUM_PAIRS):
    """Returns batches of texts of many lengths, some of them empty, some of them equal."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 20, size=2 * num_pairs)
    ids = ragged([rng.integers(0, NUM_ROWS, size=length).tolist() for length in lengths])
    keys = tf.constant(rng.integers(0, num_pairs, size=2 * num_pairs))
    return PairStream(
        num_pairs, lambda: Pairs(ids, keys), batch_size=BATCH, seed=1, bucket_by_length=is_padded
    )


def make_model(name, optimizer="adam", *, options=None, **settings):
    keras.utils.set_random_seed(0)
    encoder = encoder_class(name)(num_rows=NUM_ROWS, dim=6, **options or {})
    rng = np.random.default_rng(0)
    for weight in encoder.weights:
        weight.assign(rng.normal(scale=0.1, size=weight.shape))
    model = ParaphraseModel(encoder)
    model.compile(make_optimizer(optimizer, 0.01), **settings)
    return model


#: Programs are compiled once for a model and its stream.
steps_of = functools.cache(choose_steps)


def train(model, stream, num_steps, *, use_xla=True):
    """Trains; returns the mean loss of the last segment."""
    run_segment = steps_of(model, stream, use_xla)
    for segment in stream.segments(int(model.step.numpy()), num_steps):
        run_segment(segment, ())
    return float(model.loss_tracker.result())


def state_of(model):
    return [variable.numpy() for variable in model.checkpoint_variables]


def chunked(ids, width):
    """Returns ids in chunks of some width, or padded if it is `None`; by loops."""
    rows = ids.to_list()
    is_padded = width is None
    width = width or max(map(len, rows))
    distinct = sorted({i for row in rows for i in row})
    num_slots = len(distinct) + 3
    slots, texts = [], []
    for text, row in enumerate(rows):
        for start in range(0, max(len(row), is_padded), width):
            chunk = [distinct.index(i) for i in row[start : start + width]]
            slots.append(chunk + [num_slots] * (width - len(chunk)))
            texts.append(text)
    if not is_padded:
        # A chunk that is left over, as in a batch with fewer than others.
        slots.append([num_slots] * width)
        texts.append(0)
    return ChunkedIds(
        tf.constant(distinct + [PADDING] * 3),
        tf.constant(slots),
        tf.constant(texts),
        tf.constant([len(row) for row in rows]),
    )


def dense(gradients, variables):
    return [
        tf.math.unsorted_segment_sum(
            each.values, tf.where(each.indices == PADDING, -1, each.indices), variable.shape[0]
        )
        if isinstance(each, tf.IndexedSlices)
        else tf.convert_to_tensor(each)
        for each, variable in zip(gradients, variables, strict=True)
    ]


def check_loss_and_gradients(model, ids, *others):
    """Compares a step on ragged ids with one compiled by XLA."""

    def step(*batch):
        loss, gradients = model.loss_and_gradients(lambda: model.loss_of(*batch, training=True))
        return loss, dense(gradients, model.trained_variables)

    expected_loss, expected = tf.function(step, autograph=False)(ids, *others)
    chunks = chunked(ids, None if is_padded(model.encoder) else 3)
    loss, gradients = tf.function(step, jit_compile=True, autograph=False)(chunks, *others)
    assert_allclose(loss, expected_loss, rtol=1e-5)
    assert len(gradients) == len(expected) > 0
    for found, gradient in zip(gradients, expected, strict=True):
        assert np.linalg.norm(found - gradient) <= 1e-5 * np.linalg.norm(gradient)


def first_batch():
    stream = make_stream()
    return next(iter(stream.dataset(next(stream.segments(0, 1)))))


# A sum, windows, and states of all steps: the others are made of these, or recur over rows.
@pytest.mark.parametrize("name", some_now([*ENCODERS], "charagram", "char_cnn", "gran"))
def test_loss_and_gradients_of_each_encoder(name):
    check_loss_and_gradients(make_model(name), *first_batch())


def test_loss_and_gradients_of_distillation():
    ids, keys = first_batch()
    rng = np.random.default_rng(0)
    vectors = tf.constant(rng.normal(size=(4, 6)), tf.float32)
    neighbors, cosines = tf.constant([[0, 2], [1, 3]]), tf.constant([0.5, 0.1])
    model = DistillModel(make_model("charagram").encoder)
    model.compile(make_optimizer("adam", 0.01), neighbors_weight=0.5)
    check_loss_and_gradients(model, ids, vectors, neighbors, cosines, keys[4:])


@pytest.mark.variant
def test_loss_and_gradients_of_a_head():
    ids, _ = first_batch()
    model = SupervisedModel(
        make_model("charagram").encoder,
        TextHead(labels=["a", "b"], dim=6, hidden_dim=3),
    )
    model.compile(make_optimizer("adam", 0.01), class_weights=[1.0, 2.0], l2_head=0.1)
    check_loss_and_gradients(model, ids, tf.constant([0, 1, 1, 0, 1, 0, 0, 1]))


def test_weights_of_words():
    """Weights in the highest bits of ids count as they do on the CPU."""
    ids, keys = first_batch()
    steps = 1 + np.arange(len(ids.values)) % 100
    packed = ids.with_values(ids.values | tf.constant(steps << 24, tf.int32))
    found = []
    for use_xla in (False, True):
        model = make_model("charagram")
        model.has_weights = True
        stream = PairStream(BATCH, lambda: Pairs(packed, keys), batch_size=BATCH, seed=1)
        stream.open()
        train(model, stream, 2, use_xla=use_xla)
        found.append(model.encoder.get_weights())
    for on_cpu, in_program in zip(*found, strict=True):
        assert_allclose(in_program, on_cpu, atol=1e-5)


CASES = [
    ("charagram", "adam", {"l2": 0.1, "clip_norm": 0.5, "negatives": "mix"}),
    ("charagram", "adagrad", {"negatives": "random"}),
    ("charagram", "sgd", {"l2": 0.1, "dense_l2": True}),
    *(("charagram", optimizer, {}) for optimizer in OPTIMIZERS),
    *itertools.product(("word_average",), OPTIMIZERS, ({"l2_words": 0.1, "clip_norm": 0.1},)),
    ("dan", "adam", {"l2_words": 0.1, "l2_composition": 0.1, "dense_l2": True}),
    ("identity_rnn", "adam", {"l2_composition": 0.1}),
    ("lstm", "adam", {"options": {"use_peepholes": False}}),
    ("lstm", "adagrad", {"options": {"use_output_gate": False}}),
    ("cse", "sgd", {"options": {"activation": "linear"}}),
    *((name, "adam", {}) for name in ("projection", "rnn", "gran", "char_lstm")),
]


@pytest.mark.parametrize("case", some_now(range(len(CASES)), 0))
def test_trains_to_the_weights_of_the_cpu(case):
    """Over two epochs whose last batch is smaller, with a pause at which nothing is lost."""
    name, optimizer, settings = CASES[case]
    found = []
    for use_xla in (False, True):
        stream = make_stream(is_padded=is_padded(encoder_class(name)), num_pairs=NUM_PAIRS + 2)
        model = make_model(name, optimizer, **settings)
        losses = [train(model, stream, steps, use_xla=use_xla) for steps in (3, 7)]
        assert int(model.step) == 10
        found.append((losses, state_of(model)))
    (losses, states), (compiled_losses, compiled_states) = found
    assert_allclose(compiled_losses, losses, rtol=1e-4)
    for one, other in zip(states, compiled_states, strict=True):
        assert_allclose(other, one, rtol=1e-3, atol=1e-4)


def test_stops_at_a_step_that_is_not_finite():
    """The weights, and all else that steps change, are those of the step before."""
    stream = make_stream()
    model = make_model("charagram", "adagrad", l2=0.1, clip_norm=1.0)
    train(model, stream, 2)
    bias, rate, table = model.encoder.bias, model.optimizer.learning_rate, model.encoder.sum.table
    for variable, value in (
        (bias, np.full(6, np.inf)),
        (rate, np.array(np.nan)),
        # The sum of the squares of the gradient, mostly the penalty, is beyond float32.
        (table, np.full((NUM_ROWS, 6), 1e25)),
    ):
        right = variable.numpy()
        variable.assign(value)
        before = state_of(model)
        with pytest.raises(tf.errors.InvalidArgumentError, match="not finite"):
            train(model, stream, 2)
        assert int(model.step) == 2
        # The mean of no loss is reset before.
        changing = len(before) - len(model.loss_tracker.variables) - len(model.state)
        for old, new in zip(before[:changing], state_of(model)[:changing], strict=True):
            assert_array_equal(old, new)
        variable.assign(right)
    train(model, stream, 2)
    assert int(model.step) == 4


def test_stops_in_the_middle_of_a_program():
    """The batch with the only text that has a row of infinite weights is the third one."""
    stream = make_stream()
    (segment,) = stream.segments(0, 4)
    ids = [set(batch.flat_values.numpy()) for batch, _ in stream.dataset(segment)]
    (row, *_) = ids[2] - ids[0] - ids[1]
    model, expected = (make_model("charagram") for _ in range(2))
    for each in (model, expected):
        table = each.encoder.sum.table.numpy()
        table[row] = np.inf
        each.encoder.sum.table.assign(table)
    train(expected, stream, 2, use_xla=False)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not finite"):
        train(model, stream, 4)
    assert int(model.step) == 2
    for one, other in zip(expected.encoder.weights, model.encoder.weights, strict=True):
        assert_allclose(other, one, rtol=1e-4, atol=1e-5)


def test_a_batch_with_more_distinct_ids_than_others(monkeypatch):
    """There is too little room for the later batches, which a larger program does again."""
    monkeypatch.setattr(compiled, "_max_distinct", lambda *_: 5)
    stream = make_stream()
    models = [make_model("charagram") for _ in range(2)]
    for model, use_xla in zip(models, (False, True), strict=True):
        train(model, stream, 4, use_xla=use_xla)
        assert int(model.step) == 4
    for one, other in zip(*map(state_of, models), strict=True):
        assert_allclose(other, one, rtol=1e-3, atol=1e-4)


@pytest.mark.variant
def test_keras_optimizers_get_dense_gradients():
    """As on the CPU, where a table asks for the optimizer: Keras' own are wrong about rows."""
    weights = []
    for use_xla in (False, True):
        model = make_model("charagram")
        model.compile(keras.optimizers.Adam(0.01))
        train(model, make_stream(), 4, use_xla=use_xla)
        weights.append([weight.numpy() for weight in model.encoder.weights])
    for one, other in zip(*weights, strict=True):
        assert_allclose(other, one, rtol=1e-3, atol=1e-4)


@pytest.mark.variant
def test_no_size_depends_on_the_data():
    """In the traced step, whose losses, penalties and optimizer are all there."""
    model = make_model("charagram", l2=0.1, clip_norm=1.0, negatives="mix")
    ids, keys = first_batch()
    found = []

    @tf.function(jit_compile=True, autograph=False)
    def step(*batch):
        assert in_xla()
        done = compiled.step_if(model, tf.constant(True), batch)
        found.extend(op.type for op in tf.compat.v1.get_default_graph().get_operations())
        return done

    step(chunked(ids, 4), keys)
    assert len(found) > 100 and not DYNAMIC.intersection(found)


class Lowered(Exception):
    """Carries a program of XLA in place of its result."""


def test_a_step_only_scatters_into_tables(monkeypatch):
    def lower(self, *arguments):
        program = tf.function(self._steps, jit_compile=True, autograph=False)
        raise Lowered(program.experimental_get_compiler_ir(*arguments)(stage="optimized_hlo"))

    monkeypatch.setattr(compiled.CompiledSteps, "_call", lower)
    with pytest.raises(Lowered) as lowered:
        train(make_model("charagram"), make_stream(), 1)
    table = rf"= f32\[{NUM_ROWS},6\]\S* "
    kinds = re.findall(table + r"([a-z-]+)\(", str(lowered.value))
    # The weights and both moments; a copy or a sum would be a pass over all rows.
    assert kinds.count("scatter") == 3
    assert set(kinds) <= {"scatter", "fusion", "parameter", "get-tuple-element"}

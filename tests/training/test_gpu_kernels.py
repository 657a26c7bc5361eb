"""No training step has an operation that a GPU lacks, or one on a whole batch in host memory.

Steps are traced with what their streams feed a GPU.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest
import tensorflow as tf

from tests.contracts import some_now
from tests.texts import write_pairs
from tests.training.gpu_kernels import all_operations, problems
from tf_charagram import NgramVectorizer
from tf_charagram.encoders import ENCODERS, encoder_class
from tf_charagram.losses.negatives import STRATEGIES
from tf_charagram.optimizers import OPTIMIZERS, make_optimizer
from tf_charagram.tasks import TASKS, make_task, settings_class
from tf_charagram.tasks.distillation.step import DistillModel
from tf_charagram.tasks.paraphrase import model as paraphrase_model
from tf_charagram.tasks.paraphrase.model import ParaphraseModel
from tf_charagram.training.run import TrainingRun

pytestmark = pytest.mark.skipif(
    not tf.test.is_built_with_cuda(), reason="this TensorFlow has no GPU kernels at all"
)
FILES = {
    "words": "",
    "sentences": "",
    "distill": "".join(f"line {number}\n" for number in range(40)),
    "pos": "Ann\tNN\nruns\tVB\n\nBob\tNN\nsees\tVB\n",
    "similarity": "5\ta cat\tcats\n1\ta dog\tmice\n",
    "entailment": "yes\ta cat\tcats\nno\ta dog\tmice\n",
    "sentiment": "good\tfine cats\nbad\tsad dogs\n",
}
SETTINGS = {
    "words": {"l2": 0.1, "clip_norm": 1.0},
    "sentences": {"negatives": "mix"},
    "distill": {"pair_batch_size": 4, "neighbor_batch_size": 5, "num_neighbors": 4},
    "pos": {"use_capitals": True},
    "entailment": {"class_weights": "balanced"},
}


@pytest.fixture(scope="module")
def run_of(tmp_path_factory):
    """Returns a function that prepares a run of a task; each task only once."""

    @functools.cache
    def prepare(task) -> TrainingRun:
        folder = tmp_path_factory.mktemp(task)
        data = folder / "train.tsv"
        data.write_text(FILES[task])
        settings = {"dim": 6, "batch_size": 8, **SETTINGS.get(task, {})}
        if task in ("words", "sentences"):
            write_pairs(data)
        if task == "distill":
            np.save(folder / "vectors.npy", np.random.default_rng(0).normal(size=(40, 6)))
            pairs = write_pairs(folder / "pairs.tsv")
            settings |= {"teacher": (str(folder / "vectors.npy"),), "pairs": (str(pairs),)}
        config = settings_class(task)(
            task=task, data=(str(data),), out=str(folder / "run"), **settings
        )
        run = TrainingRun(make_task(config), resume=False, overwrite=False)
        run.stream.open()
        return run

    return prepare


@pytest.fixture(scope="module")
def specs_of(run_of):
    """Returns a function from a task to the `element_spec` of its batches on a GPU."""

    @functools.cache
    def specs(task):
        stream = run_of(task).stream
        return stream.dataset(next(stream.segments(0, 1)), "CPU:0").element_spec

    return specs


def step_of(model, specs):
    """Returns the graph of a training step."""
    step = tf.function(lambda *batch: model.train_step(batch))
    graph = step.get_concrete_function(*specs).graph
    assert sum(1 for _ in all_operations(graph)) > 100
    return graph


def check(model, specs):
    found = problems(step_of(model, specs))
    assert not found, "\n".join(sorted(found))


@pytest.mark.parametrize("task", some_now(TASKS, "distill", "pos", "entailment", "sentiment"))
def test_step_of_each_task(task, run_of, specs_of):
    check(run_of(task).loop.model, specs_of(task))


def paraphrase(name, optimizer="adam", options=None, **settings):
    model = ParaphraseModel(encoder_class(name)(num_rows=50, dim=6, **options or {}))
    model.compile(make_optimizer(optimizer, 0.01), **settings)
    return model


# What an optimizer adds to the step does not depend on how negatives are chosen.
@pytest.mark.parametrize(
    ("strategy", "optimizer"),
    sorted({(name, "adam") for name in STRATEGIES} | {("mix", name) for name in OPTIMIZERS}),
)
def test_step_on_pairs(strategy, optimizer, specs_of):
    model = paraphrase("charagram", optimizer, negatives=strategy, l2=0.1, clip_norm=1.0)
    check(model, specs_of("words"))


@pytest.mark.parametrize(
    ("name", "optimizer"),
    some_now(
        [*itertools.product(ENCODERS, OPTIMIZERS)],
        ("char_cnn", "adam"), ("word_average", "adam"), ("cse", "adagrad"), ("lstm", "sgd"),
    ),
)  # fmt: skip
def test_step_of_each_encoder(name, optimizer, specs_of):
    check(paraphrase(name, optimizer, negatives="mix", l2=0.1, clip_norm=1.0), specs_of("words"))


@pytest.mark.parametrize(
    ("name", "dense_l2"),
    some_now(
        [*itertools.product(["dan", "identity_rnn"], [False, True])],
        ("identity_rnn", True),
    ),
)  # fmt: skip
def test_step_with_settings_of_word_vectors(name, dense_l2, specs_of):
    """A bag and a sequence of words; only the second has weights that are pulled to a target."""
    settings = {"l2_words": 0.1, "l2_composition": 0.1, "dense_l2": dense_l2}
    check(paraphrase(name, options={"word_dropout": 0.5}, **settings), specs_of("words"))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("lstm", {"use_peepholes": False}),
        *(
            pytest.param(*case, marks=pytest.mark.variant)
            for case in (
                ("lstm", {"use_output_gate": False}),
                ("gran", {"use_peepholes": False}),
                ("word_average", {"word_dropout": 0.5}),
                ("lstm", {"word_dropout": 0.5}),
                ("cse", {"activation": "linear"}),
                ("char_cnn", {"filters": "kim", "dropout": 0.5, "dense": "none"}),
            )
        ),
    ],
    ids=str,
)
def test_step_with_options(name, options, specs_of):
    """Without peepholes, with dropout, and with other ways to pool."""
    check(paraphrase(name, options=options), specs_of("words"))


@pytest.mark.parametrize("num_replicas", [1, 2])
def test_step_on_raw_pairs(num_replicas, monkeypatch):
    """As `fit` turns them into ids for one GPU, and for several."""
    monkeypatch.setattr(paraphrase_model, "first_gpu", lambda: "CPU:0")
    vectorizer = NgramVectorizer.from_texts(["a cat", "a dog"])
    pairs = tf.data.Dataset.from_tensor_slices((["a cat"], ["a dog"])).batch(2)
    data = paraphrase_model.ids_of_pairs(pairs, vectorizer, num_replicas)
    check(paraphrase("charagram"), data.element_spec)


@pytest.mark.variant
@pytest.mark.parametrize("weights", [{}, {"neighbors_weight": 1.0, "pairs_weight": 0.0}], ids=str)
def test_step_of_distillation(weights, specs_of):
    """Without neighbors, and without pairs."""
    model = DistillModel(encoder_class("charagram")(num_rows=50, dim=6))
    model.compile(make_optimizer("adam", 0.01), **weights)
    check(model, specs_of("distill"))


@pytest.mark.parametrize("device", ["CPU:0", None])
def test_batches_are_not_taken_apart_in_host_memory(device, run_of):
    """As ragged tensors they would be: what `device=None` leaves on a CPU."""
    run = run_of("words")
    iterator = iter(run.stream.dataset(next(run.stream.segments(0, 1)), device))
    step = tf.function(lambda: run.loop.model.train_step(next(iterator)))
    found = problems(step.get_concrete_function().graph)
    assert any("RaggedTensorFromVariant" in problem for problem in found) == (device is None)
    assert not found or device is None

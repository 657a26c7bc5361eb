"""Runs with `--precision mixed_bfloat16`: small tables, exact when resumed, of every task."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_array_equal

from tests.commands import (
    assert_same_weights,
    call,
    interrupt_training_at,
    leave_out_export,
    saved_weights,
)
from tests.contracts import some_now
from tests.texts import write_pairs, write_scored
from tf_charagram.encoders import ENCODERS
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.layers.embedding_table import tables_in
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.optimizers import OPTIMIZERS
from tf_charagram.tasks import TASKS, make_task
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.training import processor
from tf_charagram.training.building import transfer
from tf_charagram.training.processor import has_bfloat16_instructions, products_in
from tf_charagram.training.run import TrainingRun

MIXED = ("--precision", "mixed_bfloat16")
QUICK = ("--dim", 8, "--epochs", 1, "--batch-size", 6, "--evaluations-per-epoch", 2)

pytestmark = pytest.mark.usefixtures("unexported")


def is_bfloat16(array):
    return not (np.ascontiguousarray(array).view(np.uint32) & 0xFFFF).any()


@pytest.fixture(scope="module")
def words(data):
    return ("--data", data[0], "--eval-data", data[1], *QUICK)


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    """Returns the data flags of each task that does not train on pairs of words."""
    folder = tmp_path_factory.mktemp("labelled")
    animals = ("cat", "dog", "cow", "hen")
    pairs = [
        f"{5 - 4 * (a != b)}\ta {a} ran\tthe {b}\t{a == b}\n" for a in animals for b in animals
    ]
    (folder / "pairs.tsv").write_text("".join(pairs))
    texts = [f"{i % 2}\tthe {a} {('ran', 'sat')[i % 2]}\n" for a in animals for i in range(4)]
    (folder / "texts.tsv").write_text("".join(texts))
    tagged = [f"the\tDT\n{a}s\tNN\n{verb}\tVB\n" for a in animals for verb in ("ran", "sat")]
    (folder / "tagged.tsv").write_text("\n".join(tagged))
    lines = [f"the {a} {b}" for a in animals for b in animals]
    (folder / "lines.txt").write_text("".join(f"{line}\n" for line in lines))
    np.save(folder / "vectors.npy", np.random.default_rng(0).normal(size=(16, 8)).astype("f4"))
    return folder


def task_arguments(task, folder: Path):
    if task == "distill":
        scored = write_scored(folder / "scored.tsv")
        teacher = ("--teacher", folder / "vectors.npy")
        return ("--data", folder / "lines.txt", *teacher, "--eval-data", scored, *QUICK[2:])
    if task == "pos":
        return ("--data", folder / "tagged.tsv", "--optimizer", "adam", *QUICK)
    name = "texts.tsv" if task == "sentiment" else "pairs.tsv"
    if task in ("words", "sentences"):
        scored = write_scored(folder / "scored.tsv")
        return ("--data", write_pairs(folder / "words.tsv"), "--eval-data", scored, *QUICK)
    return ("--data", folder / name, "--eval-data", folder / name, *QUICK)


@pytest.mark.parametrize("task", some_now(TASKS, "pos"))
def test_trains_every_task(task, labelled, tmp_path):
    arguments = ("--task", task, *task_arguments(task, labelled), *MIXED)
    assert call("train", *arguments, "--out", tmp_path / "run") == 0
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert all(value is None or np.isfinite(value) for value in metrics["scores"].values())
    tables = {
        name: w for name, w in saved_weights(tmp_path / "run").items() if name.endswith("table")
    }
    assert tables and all(is_bfloat16(w) and w.dtype == np.float32 for w in tables.values())


@pytest.mark.parametrize("encoder", some_now(ENCODERS, "charagram", "dan"))
def test_tables_and_moments_of_every_encoder(encoder, data, tmp_path):
    """All that is large is in bfloat16, and it is trained: it moves to other numbers."""
    config = ParaphraseConfig(
        data=(str(data[0]),), eval_data=str(data[1]), out=str(tmp_path / "run"), dim=6, epochs=0.2,
        batch_size=10, encoder=encoder, precision="mixed_bfloat16", clip_norm=1.0, l2=0.01,
        encoder_options={"char_dim": 5} if encoder.startswith("char_") else {},
    )  # fmt: skip
    run = TrainingRun(make_task(config), resume=False, overwrite=False)
    variables = run.loop.model.checkpoint_variables
    (table,) = (w for w in run.loop.model.all_weights if w.path.endswith("table"))
    large = [v for v in variables if tuple(v.shape) == tuple(table.shape)]
    assert len(large) == 3 and {v.dtype for v in large} == {tf.bfloat16}
    assert all(v.dtype != tf.bfloat16 for v in variables if v.shape != table.shape)
    before = [v.numpy() for v in large]
    run.run(resume=False, export=False)
    trained = TextEmbedder.load(config.out).encoder
    assert any(np.any(w != before[0]) for w in trained.weights if w.path == table.path)


@pytest.fixture(scope="module")
def whole(words, tmp_path_factory, optimized_graphs):
    """Returns the folder of a run that was never stopped."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    with pytest.MonkeyPatch.context() as patch:
        leave_out_export(patch)
        assert call("train", *words, *MIXED, "--out", folder) == 0
    return folder


@pytest.mark.usefixtures("optimized_graphs")
def test_goes_on_to_the_same_weights(words, whole, tmp_path, monkeypatch):
    interrupt_training_at(monkeypatch, 7)
    assert call("train", *words, *MIXED, "--out", tmp_path / "run") == 130
    monkeypatch.undo()
    assert call("train", *words, *MIXED, "--out", tmp_path / "run", "--resume") == 0
    assert_same_weights(tmp_path / "run", whole)


@pytest.mark.long
@pytest.mark.parametrize("optimizer", some_now(OPTIMIZERS, "adam"))
def test_goes_on_with_every_optimizer_and_penalty(optimizer, words, tmp_path, monkeypatch):
    more = (
        *MIXED, "--encoder", "word_average", "--optimizer", optimizer, "--l2", 1e-3, "--l2-words",
        0.1, "--dense-l2", "--clip-norm", 1,
    )  # fmt: skip
    assert call("train", *words, *more, "--out", tmp_path / "whole") == 0
    interrupt_training_at(monkeypatch, 7)
    assert call("train", *words, *more, "--out", tmp_path / "run") == 130
    monkeypatch.undo()
    assert call("train", *words, *more, "--out", tmp_path / "run", "--resume") == 0
    assert_same_weights(tmp_path / "run", tmp_path / "whole")


def test_goes_on_in_float32(words, whole, tmp_path):
    """A second stage may have another precision; weights that do not move stay as they were."""
    still = ("--init", whole, "--learning-rate", 1e-30)
    assert call("train", *words, *still, "--out", tmp_path / "run") == 0
    assert_same_weights(tmp_path / "run", whole)


def test_starts_from_float32():
    """The numbers of a model in float32 are rounded to the nearest."""
    old = Charagram(num_rows=3, dim=4, seed=1)
    with tables_in("bfloat16"):
        new = Charagram(num_rows=5, dim=4, seed=2)
    transfer(old, new, np.array([4, 0, 2]))
    assert_array_equal(
        tf.gather(new.ngram_table.value, [4, 0, 2]), tf.cast(old.ngram_table.value, tf.bfloat16)
    )


@pytest.mark.usefixtures("optimized_graphs")
@pytest.mark.parametrize("has_them", [False, True])
def test_products_are_in_bfloat16_only_inside(has_them, monkeypatch):
    """On a CPU with the instructions products are rounded; on others nothing changes."""
    if has_them and (not has_bfloat16_instructions() or tf.config.list_physical_devices("GPU")):
        pytest.skip("needs a CPU with instructions for bfloat16, and no GPU")
    monkeypatch.setattr(processor, "has_bfloat16_instructions", lambda: has_them)
    rng = np.random.default_rng(0)
    a, b = (tf.constant(rng.normal(size=(64, 64)), tf.float32) for _ in range(2))
    product = tf.function(lambda a, b: tf.nn.relu(tf.matmul(tf.nn.relu(a + b), b)))
    exact = product(a, b)
    with products_in("float32"):
        assert_array_equal(product(a, b), exact)
    with products_in("bfloat16"):
        inside = product(a, b).numpy()
    assert_array_equal(product(a, b), exact)
    assert is_bfloat16(inside) == has_them and not is_bfloat16(exact.numpy())
    np.testing.assert_allclose(inside, exact, rtol=0.02, atol=0.3 if has_them else 0)

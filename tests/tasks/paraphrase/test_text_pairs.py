"""`ParaphraseModel.fit` on raw pairs: the same as on ids, on one replica and on two."""

from __future__ import annotations

import json
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.commands import environment
from tf_charagram import NgramVectorizer, ParaphraseModel, TextEmbedder
from tf_charagram.encoders import Charagram
from tf_charagram.errors import ConfigError
from tf_charagram.optimizers import LazyAdam
from tf_charagram.tasks.paraphrase._corpus.pair_stream import text_keys

# Batches of two pairs and a last one of one pair: negatives come from all replicas.
SCRIPT = """
import json, sys
import keras
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
import tf_charagram
from tf_charagram import NgramVectorizer, ParaphraseModel, TextEmbedder
from tf_charagram.encoders import Charagram
from tf_charagram.optimizers import LazyAdam
lefts, rights = json.loads(sys.argv[1])
pairs = tf.data.Dataset.from_tensor_slices((lefts, rights)).batch(2)
found = []
for strategy in (tf.distribute.get_strategy(), tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])):
    with strategy.scope():
        vectorizer = NgramVectorizer.from_texts(lefts + rights)
        embedder = TextEmbedder(vectorizer, Charagram(num_rows=vectorizer.num_rows, dim=4))
        model = ParaphraseModel.from_embedder(embedder)
        model.compile(LazyAdam(0.01), l2=0.01, metrics=[keras.metrics.CosineSimilarity()])
    history = model.fit(pairs, epochs=3, verbose=0, shuffle=False, validation_data=pairs).history
    table = embedder.encoder.sum.table.numpy().tolist()
    found.append([strategy.num_replicas_in_sync, history, table, int(model.step.numpy())])
model.compile(LazyAdam(), steps_per_execution=2)
try:
    model.fit(pairs)
except tf_charagram.ConfigError as error:
    found.append(str(error))
print(json.dumps(found))
"""
LEFTS = ["a cat", "a dog", "mice", "red house", "blue sky"]
RIGHTS = ["cats", "dogs", "a mouse", "the house is red", "skies"]


def make_embedder():
    vectorizer = NgramVectorizer.from_texts(LEFTS + RIGHTS)
    return TextEmbedder(vectorizer, Charagram(num_rows=vectorizer.num_rows, dim=4))


def pairs(batch_size=5):
    return tf.data.Dataset.from_tensor_slices((LEFTS, RIGHTS)).batch(batch_size)


def test_the_same_as_ids():
    weights = []
    for as_ids in (False, True):
        embedder = make_embedder()
        model, data = ParaphraseModel.from_embedder(embedder), pairs()
        if as_ids:
            ids = embedder.vectorizer(tf.constant(LEFTS + RIGHTS))
            data = tf.data.Dataset.from_tensors((ids, tf.range(10, dtype=tf.int64)))
            model = ParaphraseModel(embedder.encoder)
        model.compile(LazyAdam(0.01))
        model.fit(data, epochs=2, verbose=0, shuffle=False)
        weights.append(embedder.encoder.get_weights())
    for one, other in zip(*weights, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.long
def test_losses_and_metrics_are_means(tmp_path):
    """Over all batches, not of the last one; callbacks and validation data as in Keras."""
    embedder = make_embedder()
    model = ParaphraseModel.from_embedder(embedder)
    model.compile(LazyAdam(0.01), metrics=[keras.metrics.CosineSimilarity(name="cosine")])
    alone = [
        model.evaluate(batch, verbose=0, return_dict=True)
        for batch in (pairs(2).take(1), pairs(2).skip(1).take(1))
    ]
    together = model.evaluate(pairs(2).take(2), verbose=0, return_dict=True)
    assert together.keys() == {"loss", "cosine"} and alone[0]["loss"] != alone[1]["loss"]
    for name, value in together.items():
        np.testing.assert_allclose(value, (alone[0][name] + alone[1][name]) / 2, rtol=1e-5)
    np.testing.assert_allclose(
        model.evaluate(pairs(), verbose=0, return_dict=True)["cosine"],
        embedder.similarity(LEFTS, RIGHTS).mean(),
        rtol=1e-5,
    )
    callbacks = [
        keras.callbacks.EarlyStopping("val_loss", patience=0, min_delta=10.0),
        keras.callbacks.CSVLogger(tmp_path / "log.csv"),
    ]
    history = model.fit(
        pairs(2), epochs=9, verbose=0, shuffle=False, callbacks=callbacks, validation_data=pairs(3)
    ).history
    assert history.keys() == {"loss", "cosine", "val_loss", "val_cosine"}
    assert len(history["loss"]) == 2, "stopped early"
    assert (tmp_path / "log.csv").read_text().startswith("epoch,cosine,loss,val_cosine,val_loss")


@pytest.mark.long
def test_two_replicas():
    command = [sys.executable, "-c", SCRIPT, json.dumps([LEFTS, RIGHTS])]
    done = subprocess.run(command, capture_output=True, text=True, env=environment())
    assert done.returncode == 0, done.stderr
    one, two, refused = json.loads(done.stdout.splitlines()[-1])
    assert (one[0], two[0]) == (1, 2)
    for name, values in one[1].items():
        np.testing.assert_allclose(two[1][name], values, rtol=1e-4, atol=1e-6, err_msg=name)
    np.testing.assert_allclose(two[2], one[2], rtol=1e-3, atol=1e-5)
    assert one[3] == two[3] == 9
    assert two[1]["loss"][-1] < two[1]["loss"][0]
    assert refused == (
        "`steps_per_execution` must be 1 under a strategy of several replicas. Received: 2"
    )


def test_errors():
    model = ParaphraseModel.from_embedder(make_embedder())
    model.compile(LazyAdam())
    with pytest.raises(ConfigError, match=r"must be pairs of texts, .*Use dataset\.batch"):
        model.fit(pairs().unbatch(), verbose=0)
    for data in ((LEFTS, RIGHTS), tf.constant(LEFTS), np.array(LEFTS)):
        with pytest.raises(
            ConfigError, match=r"must be a `tf\.data\.Dataset`, .*batch\(batch_size"
        ):
            model.fit(data, verbose=0)
    without = ParaphraseModel(model.encoder)
    without.compile(LazyAdam())
    with pytest.raises(ConfigError, match=r"a model made by .*from_embedder\(embedder\)"):
        without.evaluate(pairs(), verbose=0)


@pytest.mark.parametrize(
    "batch",
    [
        (LEFTS, RIGHTS, [1.0] * 5),
        ((LEFTS, RIGHTS), [1.0] * 5),
        ((LEFTS, RIGHTS), [1] * 5, [1.0] * 5),
        {"left": LEFTS, "right": RIGHTS},
        (LEFTS, [1.0] * 5),
        LEFTS,
    ],
    ids=["weights", "nested", "nested_weights", "names", "scores", "texts"],
)
def test_other_batches_are_refused(batch):
    model = ParaphraseModel.from_embedder(make_embedder())
    model.compile(LazyAdam())
    data = tf.data.Dataset.from_tensor_slices(batch).batch(2)
    with pytest.raises(ConfigError, match=r"^Batches must be pairs of texts, .* no weights"):
        model.fit(data, verbose=0)
    with pytest.raises(ConfigError, match=r"^Batches must be pairs of texts, .* no weights"):
        model.fit(pairs(), validation_data=data, verbose=0)


def test_weights_are_refused():
    model = ParaphraseModel.from_embedder(make_embedder())
    model.compile(LazyAdam())
    for name, value in {"sample_weight": [1.0] * 5, "class_weight": {0: 2.0}}.items():
        with pytest.raises(ConfigError, match=rf"takes no weights\. Received: {name}="):
            model.fit(pairs(), verbose=0, **{name: value})


def test_is_saved_by_its_embedder_alone(tmp_path):
    embedder = make_embedder()
    model = ParaphraseModel.from_embedder(embedder)
    model.compile(LazyAdam(0.01))
    with pytest.raises(ConfigError, match=r"A ParaphraseModel is neither saved .*embedder; or"):
        model.save(tmp_path / "model.keras")
    model.save_weights(tmp_path / "model.weights.h5")
    table = embedder.encoder.sum.table
    expected = table.numpy()
    table.assign_add(tf.ones_like(expected))
    model.load_weights(tmp_path / "model.weights.h5")
    np.testing.assert_array_equal(table, expected)


def test_case_and_white_space_make_no_other_text():
    """Nor does a final sigma; the capital dotted I has no lowercase letter of its own."""
    texts = ["\u00c9cole", "\u00e9cole", " a  cat", "A\tcat\u00a0", "acat", "\u00c9 COLE", "", " "]
    texts += ["\u039f\u03a3", "\u03bf\u03c3", "TITLE", "title", "t\u0131tle", "\u0130"]
    _, groups = np.unique(text_keys(texts), return_inverse=True)
    same = groups[:, np.newaxis] == groups
    expected = [[0, 1], [0, 1], [2, 3], [2, 3], [4], [5], [6, 7], [6, 7], [8, 9], [8, 9]]
    expected += [[10, 11], [10, 11], [12], [13]]
    assert [np.flatnonzero(row).tolist() for row in same] == expected

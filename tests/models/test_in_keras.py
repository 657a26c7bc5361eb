"""Models as parts of Keras models: composed, trained, saved, cloned."""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.commands import environment
from tests.contracts import ragged
from tests.models.answers import parts
from tests.models.test_base import HEADS, make_model
from tests.variants import some_now
from tf_charagram import NgramVectorizer, TextEmbedder
from tf_charagram.encoders import Charagram
from tf_charagram.errors import ConfigError
from tf_charagram.layers import PeepholeLSTM, embedding_table
from tf_charagram.models._storage.locations import MODELS, model_class
from tf_charagram.optimizers import LazyAdam, MomentumSgd
from tf_charagram.tasks.labels._heads.heads import PairLabelHead, TextHead
from tf_charagram.tasks.tagging.head import TaggingHead
from tf_charagram.text._spelling.dictionary import Dictionary

LEFTS, RIGHTS = ["a cat", "a dog", "mice", ""], ["cats", "dogs", "a mouse", "house"]
TARGETS = np.array([[1.0], [0.0], [1.0], [0.5]], np.float32)


def inputs_of(kind):
    if kind == "tagger":
        return tf.ragged.constant([["a", "cat"], [], ["Dogs"]], row_splits_dtype=tf.int64)
    pairs = [tf.constant(LEFTS), tf.constant(RIGHTS)]
    return pairs if kind.startswith("pair") else pairs[0]


def copies(model, folder):
    model.save(folder / "model.keras")
    model.save_weights(folder / "model.weights.h5")
    clone = keras.models.clone_model(model)
    clone.load_weights(folder / "model.weights.h5")
    return {
        "archive": keras.models.load_model(folder / "model.keras"),
        "deepcopy": copy.deepcopy(model),
        "pickle": pickle.loads(pickle.dumps(model)),
        "clone": clone,
    }


@pytest.mark.parametrize("kind", some_now(MODELS, "embedder", "tagger", "pair_scorer"))
def test_every_kind_is_copied(kind, tmp_path):
    model, inputs = make_model(kind, "poetry"), inputs_of(kind)
    expected = model(inputs)
    for way, other in copies(model, tmp_path).items():
        assert type(other) is type(model) and other.task == "poetry", way
        np.testing.assert_array_equal(other(inputs), expected, err_msg=way)
    is_ragged = kind == "tagger"
    symbols = [keras.Input((None,) if is_ragged else (), dtype="string", ragged=is_ragged)]
    symbols = symbols * len(inputs) if isinstance(inputs, list) else symbols[0]
    symbol = model(symbols)
    assert symbol.dtype == expected.dtype.name
    assert symbol.shape[1:] == tuple(expected.shape[1:]) and symbol.shape[0] is None


@pytest.mark.parametrize("kind", some_now([k for k in MODELS if k != "tagger"], "pair_scorer"))
def test_inputs_of_another_shape_are_refused_by_the_model(kind):
    model = make_model(kind)
    symbols = [keras.Input((1,), dtype="string") for _ in range(1 + kind.startswith("pair"))]
    with pytest.raises(
        ConfigError, match=r"shape \(None, 1\)\. The input .* is keras\.Input\(\(\)"
    ):
        model(symbols if len(symbols) > 1 else symbols[0])


def test_two_embedders_in_one_model(tmp_path):
    embedders = [make_model("embedder"), make_model("embedder")]
    assert len({embedder.name for embedder in embedders}) == 2
    texts = keras.Input((), dtype="string")
    model = keras.Model(texts, keras.layers.Add()([embedder(texts) for embedder in embedders]))
    model.save(tmp_path / "both.keras")
    expected = model(tf.constant(LEFTS))
    both = keras.models.load_model(tmp_path / "both.keras")
    np.testing.assert_array_equal(both(tf.constant(LEFTS)), expected)


def towers(optimizer):
    """Returns a model that calls one encoder twice, and the encoder."""
    vectorizer = NgramVectorizer.from_texts(LEFTS + RIGHTS)
    encoder = Charagram(num_rows=vectorizer.num_rows, dim=3)
    inputs = [keras.Input((), dtype="string") for _ in range(2)]
    both = keras.layers.Multiply()([encoder(vectorizer(side)) for side in inputs])
    dense = keras.layers.Dense(1, kernel_initializer="ones")
    model = keras.Model(inputs, dense(both))
    model.compile(optimizer, "mse", jit_compile=False)
    return model, encoder


def train(model, steps=3):
    data = [tf.constant(LEFTS), tf.constant(RIGHTS)]
    for _ in range(steps):
        model.train_on_batch(data, TARGETS)
    return model.get_weights()


def watched(base, gradients):
    """Returns a class of optimizers that records its gradients."""

    class Watched(base):
        def update_step(self, gradient, variable, learning_rate):
            gradients.append((variable.shape, type(gradient)))
            super().update_step(gradient, variable, learning_rate)

    return Watched


@pytest.fixture(scope="module")
def dense_weights():
    """Returns the weights after three steps of Keras' Adam on dense gradients."""
    optimizer = keras.optimizers.Adam(0.1)
    model, _ = towers(optimizer)
    variables = [variable.value for variable in model.trainable_variables]
    for _ in range(3):
        with tf.GradientTape() as tape:
            answers = model([tf.constant(LEFTS), tf.constant(RIGHTS)], training=False)
            loss = tf.reduce_mean(tf.square(answers - TARGETS))
        gradients = [tf.convert_to_tensor(g) for g in tape.gradient(loss, variables)]
        optimizer.apply(gradients, model.trainable_variables)
    return model.get_weights()


@pytest.mark.parametrize("base", [keras.optimizers.Adam, LazyAdam])
def test_an_encoder_called_twice(base, dense_weights):
    """A row occurs twice: Keras' Adam would be wrong about it, and gets a dense gradient."""
    gradients: list[tuple] = []
    model, encoder = towers(watched(base, gradients)(0.1))
    # The batch names every row, so that the lazy optimizer works like the dense one.
    for found, expected in zip(train(model), dense_weights, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=2e-5)
    kinds = {kind for shape, kind in gradients if shape == encoder.sum.table.shape}
    assert {issubclass(kind, tf.IndexedSlices) for kind in kinds} == {base is LazyAdam}


def is_sparse(encoder):
    """Whether the table has a sparse gradient in a training loop without a compiled model."""
    with tf.GradientTape() as tape:
        embedded = encoder(ragged([[1, 2]]), training=True)
    return isinstance(tape.gradient(embedded, encoder.sum.table.value), tf.IndexedSlices)


def test_the_optimizer_of_the_model_counts():
    model, encoder = towers(LazyAdam(0.1))
    assert not is_sparse(encoder)
    train(model, 1)
    assert is_sparse(encoder)
    gradients: list[tuple] = []
    model.compile(watched(keras.optimizers.Adam, gradients)(0.1), "mse", jit_compile=False)
    train(model, 1)
    assert gradients and tf.IndexedSlices not in {kind for _, kind in gradients}
    momentum = MomentumSgd()
    momentum.build(encoder.trainable_variables)
    assert is_sparse(encoder)
    del momentum
    gc.collect()
    assert not is_sparse(encoder), "its optimizer is gone"


@pytest.mark.long
def test_large_tables_are_warned_of_once(monkeypatch):
    monkeypatch.setattr(embedding_table, "_LARGE", 10)
    model, _ = towers(keras.optimizers.Adam(0.1))
    with pytest.warns(UserWarning, match=r"Each step rewrites .* x 3\. .*LazyAdam") as seen:
        train(model, 2)
    assert len(seen) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train(model, 1)
        train(towers(LazyAdam(0.1))[0], 1)


@pytest.mark.long
@pytest.mark.parametrize(
    "imports",
    [
        "import tf_charagram, keras",
        pytest.param("import keras, tf_charagram", marks=pytest.mark.variant),
    ],
)
def test_sequential_fits_and_freezes(imports, tmp_path):
    embedder = make_model("embedder")
    embedder.trainable = False
    model = keras.Sequential([embedder, keras.layers.Dense(1, kernel_initializer="zeros")])
    before = embedder.encoder.get_weights()
    model.compile(LazyAdam(0.1), "mse", metrics=["mae"])
    history = model.fit(tf.constant(LEFTS), TARGETS, epochs=3, verbose=0).history
    assert history["loss"][-1] < history["loss"][0] and "mae" in history
    for one, other in zip(before, embedder.encoder.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    model.save(tmp_path / "model.keras")
    # In a process that has not imported the classes of the archive.
    code = (
        "import sys; {}; assert 'tf_charagram.layers.base' not in sys.modules; "
        "import tensorflow as tf; model = keras.models.load_model(sys.argv[1]); "
        "assert len(model.trainable_variables) == 2; "
        "print(*model(tf.constant(sys.argv[2:])).numpy().ravel().tolist())"
    )
    command = [sys.executable, "-c", code.format(imports), str(tmp_path / "model.keras"), *LEFTS]
    done = subprocess.run(command, capture_output=True, text=True, env=environment())
    assert done.returncode == 0, done.stderr
    answers = np.array(done.stdout.split(), np.float32)
    np.testing.assert_allclose(answers, model(tf.constant(LEFTS)).numpy().ravel(), rtol=1e-5)


def test_is_not_compiled_by_xla():
    model, _ = towers(LazyAdam(0.1))
    with pytest.warns(UserWarning, match=r"doesn't support `jit_compile=True`"):
        model.compile(LazyAdam(0.1), "mse", jit_compile=True)
    assert not model.jit_compile
    for part in (*parts(), HEADS[TaggingHead](), PeepholeLSTM(2)):
        assert not all(layer.supports_jit for layer in part._flatten_layers())


def test_presets(tmp_path):
    embedder = make_model("embedder")
    embedder.save(tmp_path / "mine")
    loaded = TextEmbedder.from_preset(tmp_path / "mine")
    np.testing.assert_array_equal(loaded.encode(LEFTS), embedder.encode(LEFTS))
    with pytest.raises(ConfigError, match=r"`table_dtype` must be float32 for a \.keras archive"):
        embedder.save(tmp_path / "mine.keras", table_dtype="int8")


def test_parts_that_do_not_fit():
    vectorizer = NgramVectorizer.from_texts(LEFTS)
    texts, encoder = keras.Input((), dtype="string"), Charagram(num_rows=3, dim=2)
    message = r"`num_rows` of the encoder must be at least .* Received: num_rows=3\. Make .*"
    with pytest.raises(ConfigError, match=message):
        encoder(vectorizer(texts))
    with pytest.raises(ConfigError, match=message):
        TextEmbedder(vectorizer, encoder)
    with pytest.raises(ConfigError, match=r"`vectorizer` must be a layer from .*: Charagram"):
        TextEmbedder(encoder, vectorizer)
    with pytest.raises(ConfigError, match=r"'vectorizer' has no vocabulary yet"):
        TextEmbedder(NgramVectorizer(), encoder)


def test_heads_that_do_not_fit():
    vectorizer, encoder = parts(dim=6)
    for kind, other, message in (
        ("text_classifier", PairLabelHead, "The head of a TextClassifier must be a TextHead. "),
        ("pair_scorer", PairLabelHead, "The head of a PairScorer must be a PairScoreHead. "),
    ):
        with pytest.raises(ConfigError, match=f"{message}Received: PairLabelHead"):
            model_class(kind)(vectorizer, encoder, HEADS[other]())
    head = TextHead(dim=5, labels=["a", "b"])
    with pytest.raises(ConfigError, match=r"`dim` of the head \(5\) does not .* encoder \(6\)"):
        model_class("text_classifier")(vectorizer, encoder, head)


@pytest.mark.long
@pytest.mark.parametrize("is_functional", [True, False])
def test_export_with_a_dictionary(tmp_path, is_functional):
    vectorizer = NgramVectorizer(orders=[2, 3], dictionary=Dictionary({"vehicles": 5, "road": 9}))
    vectorizer.adapt(["vehicles on the road"])
    embedder = TextEmbedder(vectorizer, Charagram(num_rows=vectorizer.num_rows, dim=4))
    texts = keras.Input((), dtype="string")
    dense = keras.layers.Dense(1)
    if is_functional:
        model = keras.Model(texts, dense(embedder(texts)))
    else:
        model = keras.Sequential([texts, embedder, dense])
    model.export(tmp_path / "exported", verbose=False)
    loaded = tf.saved_model.load(tmp_path / "exported")
    found = loaded.serve(tf.constant(["vehicls", "roda", "other"]))
    expected = model(tf.constant(["vehicles", "road", "other"]))
    np.testing.assert_allclose(found, expected, atol=1e-6)

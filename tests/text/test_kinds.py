"""What every vectorizer keeps to: in a graph, in any batch, stored, adapted, grown."""

from __future__ import annotations

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.text.kinds import KINDS, TEXTS
from tests.text.strategies import encoded, ids_of
from tests.texts import NASTY
from tests.variants import some_now
from tf_charagram.errors import ConfigError
from tf_charagram.text.characters import CharacterVectorizer
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.words import WordVectorizer


@pytest.fixture(params=some_now(KINDS, "exact", "one form", "characters", "words"))
def vectorizer(request):
    pytest.importorskip("tensorflow_text")
    return KINDS[request.param](TEXTS)


def contents(vectorizer):
    return {name: array.tolist() for name, array in vectorizer.state().items()}


def graph_ops(function):
    """Returns the names of all operations of a traced function, including nested ones."""
    definition = function.get_concrete_function().graph.as_graph_def()
    inner = (node.op for f in definition.library.function for node in f.node_def)
    return {*(node.op for node in definition.node), *inner}


def test_graph_equals_eager(vectorizer):
    graph = tf.function(vectorizer, input_signature=[tf.TensorSpec([None], tf.string)])
    for batch in (TEXTS, TEXTS[:1], ()):
        found = graph(tf.constant(batch, tf.string))
        assert found.to_list() == ids_of(vectorizer, batch)
        assert found.dtype == tf.int32 and found.row_splits.shape == (len(batch) + 1,)
    ops = graph_ops(graph)
    assert not any("PyFunc" in op for op in ops), ops
    if not isinstance(vectorizer, WordVectorizer):  # Only words need an add-on package.
        assert not any(">" in op for op in ops), ops


def test_other_texts_change_nothing(vectorizer):
    """Also texts that are broken, empty or very long."""
    texts = [*TEXTS, *NASTY.values()]
    together = ids_of(vectorizer, texts)
    assert together[::-1] == ids_of(vectorizer, texts[::-1])
    assert any(together)
    for text, ids in zip(texts, together, strict=True):
        assert ids_of(vectorizer, [text]) == [ids]
        assert all(0 <= row < vectorizer.num_rows for row in {*ids})


def test_state_round_trip(vectorizer, tmp_path):
    config = json.loads(json.dumps(vectorizer.settings()))
    np.savez(tmp_path / "state.npz", **vectorizer.state())
    with np.load(tmp_path / "state.npz", allow_pickle=False) as state:
        restored = type(vectorizer).from_state(config, dict(state))
    assert restored.get_config() == vectorizer.get_config()
    assert restored.num_rows == vectorizer.num_rows
    assert len(restored.resources) == len(vectorizer.resources)
    texts = [*TEXTS, *NASTY.values()]
    assert ids_of(restored, texts) == ids_of(vectorizer, texts)


@pytest.mark.parametrize("cls", [NgramVectorizer, CharacterVectorizer])
def test_unicode_form(cls):
    pytest.importorskip("tensorflow_text")
    vectorizer = cls.from_texts(["\uff43\uff41\uff54"], unicode_form="NFKC")
    assert ids_of(vectorizer, ["\uff23at"]) == ids_of(vectorizer, ["cat"]) != [[]]


ADAPTED = {
    "ngrams": (NgramVectorizer, {"orders": (1, 3), "lowercase": False}, {"min_count": 1}),
    "characters": (CharacterVectorizer, {"max_chars": 4}, {}),
    "words": (WordVectorizer, {}, {"min_count": 2}),
}
DATA = {
    "list": lambda texts: texts,
    "array": np.array,
    "tensor": tf.constant,
    "dataset": tf.data.Dataset.from_tensor_slices,
    "batches": lambda texts: tf.data.Dataset.from_tensor_slices(texts).batch(2),
}


@pytest.mark.parametrize("kind", ADAPTED)
def test_adapt(kind):
    """Equals `from_texts`, for all kinds of data, and replaces an earlier vocabulary."""
    pytest.importorskip("tensorflow_text")
    cls, options, counting = ADAPTED[kind]
    texts = ["A cat", "the dog", "caf\u00e9 au lait", "the cat"]
    expected = cls.from_texts(texts, **options, **counting)
    vectorizer = cls(**options)
    message = rf"The {cls.__name__} 'vectorizer' has no vocabulary yet\. Call `adapt\(texts\)`"
    for use in (lambda: vectorizer(tf.constant(texts)), lambda: vectorizer.num_rows):
        with pytest.raises(ConfigError, match=message):
            use()
    for data in DATA.values():
        vectorizer.adapt(["quite other texts", "other"], **counting)
        vectorizer.adapt(data(texts), **counting)
        assert contents(vectorizer) == contents(expected)
    assert ids_of(vectorizer, ["the cat, unseen"]) == ids_of(expected, ["the cat, unseen"]) != [[]]
    with pytest.raises(ConfigError, match=r"`data` must be a list of texts\. .* single string"):
        vectorizer.adapt("cat")


@pytest.mark.parametrize("kind", ADAPTED)
def test_adapted_again(kind, tmp_path):
    """An archive that was saved before keeps its vocabulary."""
    pytest.importorskip("tensorflow_text")
    cls, options, counting = ADAPTED[kind]
    vectorizer = cls(**options)
    vectorizer.adapt(["the cat", "the dog"], **counting)
    config, expected = vectorizer.get_config(), contents(vectorizer)
    assert contents(cls.from_config(config)) == expected
    texts = keras.Input((), dtype="string")
    keras.Model(texts, vectorizer(texts)).save(tmp_path / "model.keras")
    vectorizer.adapt(["other texts", "other"], **counting)
    assert contents(cls.from_config(config)) == expected
    loaded = keras.models.load_model(tmp_path / "model.keras").get_layer("vectorizer")
    assert contents(loaded) == expected != contents(vectorizer)


def test_hashing_needs_no_vocabulary():
    vectorizer = NgramVectorizer(hash_buckets=8)
    assert vectorizer.num_rows == 8 and "vocabulary_arrays" not in vectorizer.get_config()
    with pytest.raises(ConfigError, match="`adapt` is for vocabularies; `hash_buckets` needs none"):
        vectorizer.adapt(TEXTS)


def test_symbolic_texts():
    vectorizer = NgramVectorizer(hash_buckets=8)
    ids = vectorizer(keras.Input((), dtype="string"))
    assert (ids.shape, ids.dtype, ids.ragged, ids.num_ids) == ((None, None), "int32", True, 8)
    with pytest.raises(ConfigError, match=r"`texts` must be strings \(batch,\). .*\(2, 1\)"):
        vectorizer(tf.reshape(encoded(["a", "b"]), [2, 1]))

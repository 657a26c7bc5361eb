"""Tests of all kinds of models: saving, loading, exporting, folding."""

from __future__ import annotations

import json
import multiprocessing
import warnings

import numpy as np
import pytest
import tensorflow as tf

from tests.commands import full_disk
from tests.models.answers import TOLERANCE, parts, randomized
from tests.variants import some_now
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.models._storage.locations import MODELS, load_any, model_class
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.tasks.labels._heads.heads import PairLabelHead, PairScoreHead, TextHead
from tf_charagram.tasks.tagging.head import TaggingHead

LABELS = ["no", "maybe", "s\u00ed"]
HEADS = {
    TaggingHead: lambda: TaggingHead(labels=LABELS, word_dim=6, lstm_dim=4, hidden_dim=5),
    PairScoreHead: lambda: PairScoreHead(dim=6, num_classes=4),
    PairLabelHead: lambda: PairLabelHead(dim=6, labels=LABELS),
    TextHead: lambda: TextHead(dim=6, labels=LABELS),
}
INPUTS = {
    "texts": ["a cat", "", "dogs"],
    "texts_a": ["a cat", ""],
    "texts_b": ["dogs", "a"],
    "tokens": ["a", "cat"],
    "row_lengths": [2, 0],
}


def make_model(kind, task=None):
    """Returns a model of a kind with random weights."""
    cls = model_class(kind)
    heads = [] if cls.head_class is None else [randomized(HEADS[cls.head_class](), seed=1)]
    return cls.from_parts(*parts(), *heads, task=task)


@pytest.fixture(params=some_now(MODELS, "pair_classifier"))
def model(request):
    return make_model(request.param)


def concrete(model):
    """Returns the signatures of a model as functions that are called like those of a SavedModel."""
    functions = model.signatures().items()
    return {name: function.get_concrete_function() for name, function in functions}


def answers(functions):
    """Returns the answers of each signature."""
    results = {}
    for name, function in functions.items():
        specs = function.structured_input_signature
        named = {**{spec.name: spec for spec in specs[0]}, **specs[1]}
        inputs = {key: tf.constant(INPUTS[key], spec.dtype) for key, spec in named.items()}
        results[name] = {key: value.numpy() for key, value in function(**inputs).items()}
    return results


def assert_same(results, expected):
    assert results.keys() == expected.keys()
    for name, outputs in expected.items():
        assert results[name].keys() == outputs.keys()
        for key, value in outputs.items():
            if value.dtype == np.float32:
                np.testing.assert_allclose(results[name][key], value, **TOLERANCE)
            else:
                np.testing.assert_array_equal(results[name][key], value)


def test_save_load_export(model, tmp_path):
    expected = answers(concrete(model))
    model.save(tmp_path / "model")
    loaded = load_any(tmp_path / "model")
    assert type(loaded) is type(model)
    loaded.export(tmp_path / "1")
    served = tf.saved_model.load(str(tmp_path / "1")).signatures
    assert_same(answers(served), expected)
    card = json.loads((tmp_path / "1" / "model_card.json").read_text())
    assert set(card["signatures"]) == set(expected)
    assert card.get("kind", "embedder") == model.kind
    assert ("head" in card) is (model.head is not None)


# Taggers are folded whenever they are exported.
@pytest.mark.parametrize("model", some_now(MODELS, "pair_classifier"), indirect=True)
def test_folded(model, tmp_path):
    model.task = "poetry"
    expected = answers(concrete(model))
    model.save(tmp_path)
    for folded in (model.folded(), type(model).load(tmp_path, folded=True)):
        assert folded.vectorizer.longest_only and folded.task == "poetry"
        assert_same(answers(concrete(folded)), expected)


def test_another_kind(model, tmp_path):
    model.save(tmp_path)
    for kind in set(MODELS) - {model.kind}:
        with pytest.raises(RunError, match=rf"of the kind '{model.kind}'\. Expected: '{kind}'"):
            model_class(kind).load(tmp_path)


def test_overwrite(tmp_path):
    model = TextEmbedder(*parts())
    model.save(tmp_path / "a")
    model.save(tmp_path / "a", overwrite=True)
    with pytest.raises(RunError, match=r"a exists\. Give another path, or overwrite=True"):
        model.save(tmp_path / "a", overwrite=False)


@pytest.mark.parametrize("path", [None, 3, ""])
def test_path_of_another_type(path):
    model = TextEmbedder(*parts())
    for write in (model.save, model.export):
        with pytest.raises(ConfigError, match=f"A model must be given by its folder.*: {path!r}"):
            write(path)


def test_archive_on_a_full_disk(tmp_path):
    model = TextEmbedder(*parts())
    path = tmp_path / "a.keras"
    model.save(path)
    before = path.read_bytes()
    with full_disk(len(before) // 2), pytest.raises(RunError, match=r"Cannot write .*a\.keras"):
        model.save(path)
    assert path.read_bytes() == before and [*tmp_path.iterdir()] == [path]


def test_a_fork_after_a_model_was_made():
    TextEmbedder(*parts())

    def in_child(queue):
        for use in (lambda: TextEmbedder(*parts()), lambda: TextEmbedder.load("english")):
            try:
                use()
            except RunError as error:
                queue.put(str(error))

    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of forks, too.
        child = context.Process(target=in_child, args=(queue,))
        child.start()
    messages = [queue.get(), queue.get()]
    child.join()
    assert all("was forked from process" in message for message in messages)

"""One base: every kind of model is saved, loaded, exported and described through it."""

from __future__ import annotations

import json
import multiprocessing
import warnings

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the operations of exported taggers)

from tests.commands import full_disk
from tests.contracts import some_now
from tests.models.answers import TOLERANCE, parts, randomized
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.export.serving.samples import sample_texts
from tf_charagram.models.base import HeadedModel, TextModel
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.models.parts import Parts
from tf_charagram.models.registry import MODELS, load_any, model_class
from tf_charagram.tasks.pairs.model import PairLabelHead, PairScoreHead
from tf_charagram.tasks.sentiment.model import TextHead
from tf_charagram.tasks.tagging.head import TaggingHead

LABELS = ["no", "yes"]
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
BASE_METHODS = (
    "save", "load", "export", "write_saved_model", "folded", "from_parts", "get_config",
)  # fmt: skip


# A classifier of texts is written as one of pairs is.
@pytest.fixture(params=some_now(MODELS, "embedder", "tagger", "pair_classifier"))
def model(request):
    """Returns a model of each kind, with random weights."""
    cls = model_class(request.param)
    head = None if cls.head_class is None else randomized(HEADS[cls.head_class](), seed=1)
    return cls.from_parts(Parts(*parts(), head))


def concrete(model):
    """Returns the signatures of a model as functions that are called like those of a SavedModel."""
    functions = model.signatures().items()
    return {name: function.get_concrete_function() for name, function in functions}


def answers(functions):
    """Returns what each signature answers."""
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


def test_it_is_written_once(model):
    for name in BASE_METHODS:
        owner = next(cls for cls in type(model).__mro__ if name in vars(cls))
        assert owner is TextModel, f"{owner.__name__} writes {name} again"


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
    assert ("head" in card) is isinstance(model, HeadedModel)


# Taggers are folded whenever they are exported.
@pytest.mark.parametrize("model", some_now(MODELS, "embedder", "pair_classifier"), indirect=True)
def test_folded(model, tmp_path):
    """A table of fewer sums gives the same answers; the task is remembered."""
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


@pytest.mark.parametrize("kind", MODELS)
def test_facts(kind):
    cls = model_class(kind)
    assert cls.kind == kind
    assert cls.purpose and cls.score_title
    assert all(text.strip() for text in sample_texts(kind))


def test_what_save_and_export_do_not_take(model, tmp_path):
    with pytest.raises(ConfigError, match=r"`save` does not take tabledtype='int8'"):
        model.save(tmp_path / "a", tabledtype="int8")
    with pytest.raises(ConfigError, match=r"`save` does not take overwrite=False"):
        model.save(tmp_path / "a", overwrite=False)
    with pytest.raises(ConfigError, match=r"`export` does not take format='onnx'"):
        model.export(tmp_path / "a", format="onnx")
    assert not [*tmp_path.iterdir()]
    model.save(tmp_path / "a", overwrite=True)


@pytest.mark.parametrize("path", [None, 3, ""])
def test_what_is_no_path(model, path):
    for write in (model.save, model.export):
        with pytest.raises(ConfigError, match=f"A model must be given by its folder.*: {path!r}"):
            write(path)


def test_an_archive_the_disk_has_no_room_for(model, tmp_path):
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

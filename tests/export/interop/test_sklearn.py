"""An embedder in scikit-learn."""

from __future__ import annotations

import pickle
import shutil
import sys

import numpy as np
import pytest

from tests.search.conftest import save_model
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.models.text_reader import TextReader

base = pytest.importorskip("sklearn.base")

from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402

from tf_charagram.export.sklearn import CharagramTransformer  # noqa: E402

CATS = [f"cat {number}" for number in range(20)]
DOGS = [f"dog {number}" for number in range(20)]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return save_model(tmp_path_factory.mktemp("sklearn") / "model", seed=1)


def test_transform(model):
    vectors = CharagramTransformer(model).transform(["cat", "", "dog"])
    assert vectors.dtype == np.float32
    expected = TextEmbedder.load(model).encode(["cat", "", "dog"])
    np.testing.assert_allclose(vectors, expected, atol=1e-6)


@pytest.mark.parametrize("kind", [np.array, lambda texts: np.array(texts, object), tuple])
def test_kinds_of_lists(model, kind):
    vectors = CharagramTransformer(model).fit_transform(kind(["cat", "dog"]))
    assert vectors.shape == (2, 12)


def test_pipeline(model):
    texts, labels = CATS + DOGS, [0] * 20 + [1] * 20
    pipeline = make_pipeline(CharagramTransformer(model), LogisticRegression(C=100))
    pipeline.fit(texts[::2], labels[::2])
    assert pipeline.score(texts[1::2], labels[1::2]) > 0.9
    again = pickle.loads(pickle.dumps(pipeline))
    np.testing.assert_array_equal(again.predict_proba(texts), pipeline.predict_proba(texts))


def test_grid_search(model):
    pipeline = make_pipeline(CharagramTransformer(model), LogisticRegression())
    grid = {"charagramtransformer__model": [model]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(CATS + DOGS, [0] * 20 + [1] * 20)
    assert search.best_score_ > 0.9


def test_another_model(model, tmp_path):
    transformer = CharagramTransformer(model)
    before = transformer.transform(["cat"])
    other = save_model(tmp_path / "other", seed=2)
    after = transformer.set_params(model=other).transform(["cat"])
    assert not np.allclose(before, after)
    np.testing.assert_array_equal(after, CharagramTransformer(other).transform(["cat"]))


def test_copies_share_what_is_loaded(model, tmp_path, monkeypatch):
    path = shutil.copytree(model, tmp_path / "model")
    transformer = CharagramTransformer(path)
    before = transformer.transform(["cat"])
    monkeypatch.setattr(TextReader, "load", None)
    np.testing.assert_array_equal(base.clone(transformer).transform(["cat"]), before)
    monkeypatch.undo()
    shutil.rmtree(path)
    save_model(path, seed=3)
    assert not np.allclose(transformer.transform(["cat"]), before)


def test_pickle_holds_no_weights(model):
    transformer = CharagramTransformer(model)
    transformer.transform(["cat"])
    pickled = pickle.dumps(transformer)
    assert len(pickled) < 1000
    again = pickle.loads(pickled)
    assert again.model == model
    np.testing.assert_array_equal(again.transform(["cat"]), transformer.transform(["cat"]))


def test_feature_names(model):
    names = CharagramTransformer(model).get_feature_names_out()
    assert list(names) == [f"charagramtransformer{number}" for number in range(12)]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("cat", r"`X` must be a list of texts\. Received a single string"),
        (["cat", float("nan")], "`X` must hold strings. Row 1 is missing"),
        (np.array([["cat"] * 2] * 2), r"`X` must be texts \(n,\). Received: shape \(2, 2\)"),
        ({"text": ["cat", "dog"]}, "Received: dict"),
    ],
)
def test_what_are_no_texts(model, texts, message):
    with pytest.raises(ConfigError, match=message):
        CharagramTransformer(model).transform(texts)


def test_no_model(tmp_path):
    transformer = CharagramTransformer(tmp_path / "nothing")  # Loaded when it is needed.
    for method in (transformer.fit, transformer.transform):
        with pytest.raises(RunError, match="is not a model folder"):
            method(["cat"])


def test_without_sklearn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    monkeypatch.delitem(sys.modules, "tf_charagram.export.sklearn")
    with pytest.raises(ConfigError, match=r"pip install .*\[sklearn\]'"):
        import tf_charagram.export.sklearn  # noqa: F401

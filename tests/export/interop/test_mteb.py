"""An embedder in MTEB, on a task from a local file, without a network."""

from __future__ import annotations

import importlib.util
import socket
import warnings

import numpy as np
import pytest
from scipy.stats import spearmanr

from tests.search.conftest import save_model
from tf_charagram.models.embedder import TextEmbedder

if importlib.util.find_spec("mteb") is None:
    pytest.skip("needs mteb", allow_module_level=True)

# MTEB and its requirements have warnings of their own.
pytestmark = pytest.mark.filterwarnings("ignore")

ROWS = [
    ("cat 1", "cat 2", 5), ("cat 1", "catalogue 1", 3), ("dog 4", "dogged 4", 4),
    ("horse", "hoarse", 2), ("bird", "cat", 0), ("byrd 3", "bird 3", 4), ("dog", "horse 9", 1),
]  # fmt: skip


@pytest.fixture(scope="module")
def mteb():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import mteb

        return mteb


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return save_model(tmp_path_factory.mktemp("mteb") / "small", seed=1)


@pytest.fixture
def encoder(mteb, model):
    from tf_charagram.export.mteb import CharagramEncoder

    return CharagramEncoder(model)


@pytest.fixture
def task(mteb, tmp_path):
    """Returns an STS task that reads a file of this test."""
    from datasets import Dataset, DatasetDict
    from mteb.abstasks.sts import AbsTaskSTS
    from mteb.abstasks.task_metadata import TaskMetadata

    path = tmp_path / "sts.tsv"
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in ROWS))

    class LocalSTS(AbsTaskSTS):
        metadata = TaskMetadata(
            name="LocalSTS", dataset={"path": str(path), "revision": "1"}, description="Words.",
            reference=None, type="STS", category="t2t", modalities=["text"], eval_splits=["test"],
            eval_langs=["eng-Latn"], main_score="cosine_spearman",
        )  # fmt: skip

        def load_data(self, *args, **kwargs):
            columns = zip(
                *(line.split("\t") for line in path.read_text().splitlines()), strict=True
            )
            left, right, scores = map(list, columns)
            rows = {"sentence1": left, "sentence2": right, "score": list(map(float, scores))}
            self.dataset = DatasetDict({"test": Dataset.from_dict(rows)})
            self.data_loaded = True

    return LocalSTS()


def test_fulfils_the_protocol(mteb, encoder, model):
    from mteb.models import EncoderProtocol

    assert isinstance(encoder, EncoderProtocol)
    vectors = encoder.encode([{"text": ["cat", ""]}, {"text": ["dog"]}], task_metadata=None)
    expected = TextEmbedder.load(model).encode(["cat", "", "dog"])
    np.testing.assert_allclose(vectors, expected, atol=1e-5)


def test_names_the_model(encoder, mteb, tmp_path):
    from tf_charagram.export.mteb import CharagramEncoder

    meta = encoder.mteb_model_meta
    assert meta.name == "tf-charagram/small"
    other = CharagramEncoder(save_model(tmp_path / "small", seed=2), name="me/mine")
    assert other.mteb_model_meta.name == "me/mine"
    assert other.mteb_model_meta.revision != meta.revision


def test_score(mteb, encoder, task, model, monkeypatch):
    def refuse(*address):
        pytest.fail(f"MTEB asks the network: {address}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    result = mteb.evaluate(
        encoder, task, cache=None, co2_tracker=False, show_progress_bar=False
    ).task_results[0]
    left, right, gold = map(list, zip(*ROWS, strict=True))
    cosines = TextEmbedder.load(model).similarity(left, right)
    (scores,) = result.scores["test"]
    assert scores["main_score"] == pytest.approx(spearmanr(cosines, gold).statistic, abs=1e-6)
    assert scores["main_score"] == scores["spearman"]

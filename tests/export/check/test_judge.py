"""How answers are judged: a sound model passes, a bad one fails the check meant for it."""

from __future__ import annotations

import numpy as np
import pytest

from tf_charagram.export.check.judge import BAD_TEXTS, Judge
from tf_charagram.export.check.probe import measure
from tf_charagram.export.serving.version import GoldenCall
from tf_charagram.models.embedder import unit_rows

TEXTS = [b"cat", b"", b"two words", b"\xff", b"dog"]
DIM = 4
SIGNATURES = {"serving_default": ["texts"], "similarity": ["texts_a", "texts_b"]}
CHECKS = ["loads", "golden answers", "bad texts", "inputs of different lengths", "empty batch",
          "latency"]  # fmt: skip


class Sound:
    """Counts some letters."""

    def __call__(self, signature, **inputs):
        if signature == "serving_default":
            return {"embedding": self.embed(inputs["texts"])}
        return {"cosine": self.similarity(inputs["texts_a"], inputs["texts_b"])}

    def embed(self, texts):
        rows = [[text.count(letter) for letter in b"aeio"] for text in texts]
        return np.array(rows, np.float32).reshape(len(texts), DIM)

    def similarity(self, left, right):
        return np.sum(unit_rows(self.embed(left)) * unit_rows(self.embed(right)), axis=1)


class NotFinite(Sound):
    def embed(self, texts):
        vectors = super().embed(texts)
        return vectors / vectors.max(axis=1, keepdims=True)


class Mixed(Sound):
    def embed(self, texts):
        vectors = super().embed(texts)
        return vectors + 1e-3 * (vectors.sum() if len(texts) > 10 else 0)


class Strict(Sound):
    def embed(self, texts):
        for text in texts:
            text.decode()
        return super().embed(texts)


class Narrow(Sound):
    def embed(self, texts):
        return super().embed(texts)[:, :2]


class Ragged(Sound):
    def embed(self, texts):
        return super().embed(texts)[:, : 1 if texts == [b"\0"] else 2]


class NoEmptyBatch(Sound):
    def embed(self, texts):
        return super().embed(texts) if texts else np.zeros(0, np.float32)


class SmallBatches(Sound):
    def embed(self, texts):
        if len(texts) > 500:
            raise MemoryError("too many\ntexts")
        return super().embed(texts)


class Dull(Sound):
    def similarity(self, left, right):
        return super().similarity(left, right) * 0.999


class Other(Sound):
    def embed(self, texts):
        return super().embed(texts) * 1.001


class Close(Sound):
    def embed(self, texts):
        return super().embed(texts) * 1.00001


class Renamed(Sound):
    def __call__(self, signature, **inputs):
        return {"vectors": super().__call__(signature, **inputs).popitem()[1]}


class Lenient(Sound):
    def similarity(self, left, right):
        return super().similarity(left[: len(right)], right)


def golden_calls(vectors):
    inputs = {"texts_a": TEXTS, "texts_b": TEXTS[::-1]}
    return [
        GoldenCall("serving_default", {"texts": TEXTS}, {"embedding": vectors}),
        GoldenCall("similarity", inputs, Sound()("similarity", **inputs)),
    ]


def judge(load, golden=None):
    """Returns the result of each check: name -> (ok, detail)."""
    judge = Judge(SIGNATURES, golden_calls(Sound().embed(TEXTS)) if golden is None else golden)
    request = {
        "calls": judge.calls(), "text_inputs": ["texts"], "texts": [b"a", b"b", b"c"],
        "seconds": 1e-9,
    }  # fmt: skip
    results = judge.results("here", measure(load, request))
    assert {result.where for result in results} == {"here"}
    return {result.name: (result.ok, result.detail) for result in results}


@pytest.mark.parametrize("model", [Sound, Close])
def test_a_sound_model(model):
    found = judge(model)
    assert {ok for ok, _ in found.values()} == {True}
    assert list(found) == CHECKS
    assert found["bad texts"][1] == f"{len(BAD_TEXTS)} texts, alone and in one batch"
    assert found["latency"][1].startswith("batch of 1: 0.")


def test_without_golden_answers():
    found = judge(Sound, golden=[])
    assert found.pop("golden answers") == (None, "no golden file")
    assert {ok for ok, _ in found.values()} == {True}


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.parametrize(
    ("model", "check", "detail"),
    [
        (NotFinite, "bad texts", "empty: `embedding` has numbers that are not finite"),
        (NotFinite, "golden answers", "serving_default: `embedding` has numbers that are not"),
        (Mixed, "bad texts", "other texts of a batch change an answer: "),
        (Strict, "bad texts", "broken UTF-8: UnicodeDecodeError: 'utf-8' codec can't decode"),
        (Strict, "golden answers", "serving_default: UnicodeDecodeError"),
        (Narrow, "golden answers", "serving_default: expected `embedding` of shape (5, 4), found"),
        (Ragged, "bad texts", "answers to single texts differ in shape"),
        (NoEmptyBatch, "empty batch", "expected shapes {'embedding': (0, 4)}, found {'embedd"),
        (SmallBatches, "latency", "batch of 1000: MemoryError: too many texts"),
        (Dull, "golden answers", "similarity: "),
        (Other, "golden answers", "serving_default: "),
        (Renamed, "golden answers", "serving_default: expected embedding, found vectors"),
        (Lenient, "inputs of different lengths", "accepted by similarity"),
    ],
)
def test_a_bad_model(model, check, detail):
    ok, found = judge(model)[check]
    assert ok is False
    assert found.startswith(detail)


@pytest.mark.parametrize(
    ("model", "check"), [(Dull, "golden answers"), (Mixed, "bad texts"), (Lenient, CHECKS[3])]
)
def test_a_bad_model_passes_the_other_checks(model, check):
    assert [name for name, (ok, _) in judge(model).items() if not ok] == [check]


def test_golden_numbers_that_are_not_finite():
    vectors = Sound().embed(TEXTS)
    vectors[0, 0] = np.nan
    found = judge(Sound, golden_calls(vectors))
    assert [name for name, (ok, _) in found.items() if not ok] == ["golden answers"]


def test_a_model_that_does_not_load():
    def load():
        raise OSError("x" * 1000)

    found = judge(load)
    assert list(found) == ["loads"]
    ok, detail = found["loads"]
    assert ok is False
    assert detail.startswith("OSError: xxx") and detail.endswith("...") and len(detail) == 300


def test_latency():
    class Counting(Sound):
        sizes: tuple[int, ...] = ()

        def embed(self, texts):
            Counting.sizes += (len(texts),)
            return super().embed(texts)

    request = {
        "calls": {}, "text_inputs": ["texts"], "texts": [b"a", b"b", b"c"], "seconds": 1e-9,
    }  # fmt: skip
    rows = measure(Counting, request)["latency"]
    # No time is left, but 10 calls are made, and 3 before them.
    assert [*rows] == [1, 32, 1000]
    assert Counting.sizes.count(1) == Counting.sizes.count(1000) == 13
    assert all(0 < median <= p99 for median, p99 in rows.values())

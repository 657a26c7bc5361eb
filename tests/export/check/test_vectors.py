"""How answers are judged: a sound model passes, a bad one fails the check meant for it."""

from __future__ import annotations

import numpy as np
import pytest

from tf_charagram.export.check.probe import measure
from tf_charagram.export.check.texts import BAD_TEXTS
from tf_charagram.export.check.vectors import VectorJudge
from tf_charagram.export.serving.golden import vector_calls
from tf_charagram.export.serving.inputs import words
from tf_charagram.models.embedder import unit_rows

TEXTS = [b"cat", b"", b"two words", b"\xff", b"dog"]
DIM = 4


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
        if len(texts) > 20:
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


class Wordless(Sound):
    def similarity(self, left, right):
        raise KeyError("similarity")


def judge(load, *, golden=True, dim=DIM):
    """Returns what each check says of a model: name -> (ok, detail)."""
    judge = VectorJudge(vector_calls(TEXTS, Sound().embed(TEXTS)) if golden else [], dim)
    request = {
        "calls": judge.calls(), "text_inputs": ["texts"], "words": words(30),
        "batches": [1, 25], "repeats": 3, "seconds": 1,
    }  # fmt: skip
    results = judge.results("here", measure(load, request))
    assert {result.where for result in results} == {"here"}
    return {result.name: (result.ok, result.detail) for result in results}


@pytest.mark.parametrize("model", [Sound, Close])
def test_a_sound_model(model):
    found = judge(model)
    assert {ok for ok, _ in found.values()} == {True}
    assert list(found) == [
        "loads", "golden vectors", "golden cosines", "bad texts", "empty batch", "latency",
    ]  # fmt: skip
    assert found["bad texts"][1] == f"{len(BAD_TEXTS)} texts, alone and in one batch"
    assert found["latency"][1].startswith("6 calls")


def test_without_golden_vectors():
    found = judge(Sound, golden=False, dim=None)
    assert found.pop("golden vectors") == (None, "the model comes without any")
    assert "golden cosines" not in found
    assert {ok for ok, _ in found.values()} == {True}


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.parametrize(
    ("model", "check", "detail"),
    [
        (NotFinite, "bad texts", "empty: 1 of 1 vectors have numbers that are not finite"),
        (NotFinite, "golden vectors", "2 of 5 vectors have numbers that are not finite"),
        (Mixed, "bad texts", "other texts of a batch change the vector of: empty, one character"),
        (Strict, "bad texts", "broken UTF-8: UnicodeDecodeError: 'utf-8' codec can't decode"),
        (Strict, "golden vectors", "UnicodeDecodeError"),
        (Narrow, "golden vectors", "expected the shape (5, 4), found (5, 2)"),
        (Narrow, "bad texts", "empty: expected the shape (1, 4), found (1, 2)"),
        (Narrow, "empty batch", "expected the shape (0, 4), found (0, 2)"),
        (NoEmptyBatch, "empty batch", "expected the shape (0, 4), found (0,)"),
        (SmallBatches, "latency", "batch of 25: MemoryError: too many texts"),
        (Dull, "golden cosines", "cosines differ by up to 0.001"),
        (Other, "golden vectors", "3 of 5 vectors differ, the first is that of text 0; by up to"),
        (Wordless, "golden cosines", "KeyError: 'similarity'"),
        (Renamed, "golden vectors", "expected embedding, found vectors"),
        (Renamed, "bad texts", "empty: expected embedding, found vectors"),
        (Renamed, "empty batch", "expected embedding, found vectors"),
    ],
)
def test_a_bad_model(model, check, detail):
    ok, found = judge(model)[check]
    assert ok is False
    assert found.startswith(detail)


def test_golden_numbers_that_are_not_finite():
    vectors = Sound().embed(TEXTS)
    vectors[0, 0] = np.nan
    judge = VectorJudge(vector_calls(TEXTS, vectors), DIM)
    request = {"calls": judge.calls(), "text_inputs": ["texts"], "words": [], "batches": []}
    results = judge.results("here", measure(Sound, request))
    wrong = [result.name for result in results if result.ok is False]
    assert wrong == ["golden vectors", "golden cosines"]


def test_only_what_is_bad_fails():
    assert [name for name, (ok, _) in judge(Dull).items() if not ok] == ["golden cosines"]
    assert [name for name, (ok, _) in judge(Mixed).items() if not ok] == ["bad texts"]


def test_a_width_nobody_told():
    assert judge(Narrow, golden=False, dim=None)["bad texts"][0]
    assert judge(Narrow, golden=False, dim=3)["bad texts"] == (
        False,
        "; ".join(f"{name}: expected the shape (1, 3), found (1, 2)" for name in BAD_TEXTS),
    )


def test_different_widths():
    ok, detail = judge(Ragged, golden=False, dim=None)["bad texts"]
    assert (ok, detail) == (False, "NUL: expected the shape (1, 2), found (1, 1)")


def test_a_model_that_does_not_load():
    def load():
        raise OSError("x" * 1000)

    found = judge(load)
    assert list(found) == ["loads"]
    ok, detail = found["loads"]
    assert ok is False
    assert detail.startswith("OSError: xxx") and detail.endswith("...") and len(detail) == 300


def test_calls_are_counted_and_bounded():
    class Counting(Sound):
        sizes: tuple[int, ...] = ()

        def embed(self, texts):
            Counting.sizes += (len(texts),)
            return super().embed(texts)

    request = {
        "calls": {}, "text_inputs": ["texts"], "words": ["a", "b", "c"], "batches": [2, 7],
        "repeats": 100, "seconds": 1e-9,
    }  # fmt: skip
    rows = measure(Counting, request)["latency"]
    # No time is left, but 20 calls are made; and 10 before, which do not count.
    assert [(row["batch"], row["calls"]) for row in rows] == [(2, 20), (7, 20)]
    assert (Counting.sizes.count(2), Counting.sizes.count(7)) == (30, 30)
    assert all(0 < row["p50_ms"] <= row["p99_ms"] for row in rows)
    assert all(row["texts_per_second"] > 0 for row in rows)


def test_words_come_once():
    found = words(500)
    assert len(found) == len(set(found)) == 500
    assert all(word.strip() for word in found)

"""How answers are judged: a sound model passes, a bad one fails the checks meant for it."""

from __future__ import annotations

import numpy as np
import pytest

from tf_charagram.export._check.judge import judged, questions
from tf_charagram.export._check.probe import measure
from tf_charagram.export._serving.requests import GoldenCall

TEXTS = [b"cat", b"", b"two words", b"\xff", b"dog"]
CHECKS = ["loads", "golden answers", "huge texts", "empty batch", "latency"]
GOLDEN, HUGE, EMPTY, LATENCY = CHECKS[1:]


class Sound:
    """Counts some letters, and names the most frequent one."""

    def __call__(self, signature, texts):
        if signature == "label":
            best = self.embed(texts).argmax(axis=1)
            return {"label": np.array([b"aeio"[i : i + 1] for i in best], object)}
        return {"embedding": self.embed(texts)}

    def embed(self, texts):
        rows = [[text.count(letter) for letter in b"aeio"] for text in texts]
        return np.array(rows, np.float32).reshape(len(texts), 4)


class NotFinite(Sound):
    def embed(self, texts):
        vectors = super().embed(texts)
        return vectors / vectors.max(axis=1, keepdims=True)


class Strict(Sound):
    def embed(self, texts):
        for text in texts:
            text.decode()
        return super().embed(texts)


class Narrow(Sound):
    def embed(self, texts):
        return super().embed(texts)[:, :2]


class NoEmptyBatch(Sound):
    def embed(self, texts):
        return super().embed(texts) if texts else np.zeros(0, np.float32)


class SmallBatches(Sound):
    def embed(self, texts):
        if len(texts) > 500:
            raise MemoryError("too many\ntexts")
        return super().embed(texts)


class Other(Sound):
    def embed(self, texts):
        return super().embed(texts) * 1.001


class Close(Sound):
    def embed(self, texts):
        return super().embed(texts) * 1.00001


class Renamed(Sound):
    def __call__(self, signature, texts):
        return {"vectors": super().__call__(signature, texts).popitem()[1]}


class OtherLabels(Sound):
    def __call__(self, signature, texts):
        outputs = super().__call__(signature, texts)
        return {name: array[::-1] if name == "label" else array for name, array in outputs.items()}


def golden_calls():
    return [
        GoldenCall(signature, {"texts": TEXTS}, Sound()(signature, TEXTS))
        for signature in ("serving_default", "label")
    ]


def judge(load, golden=None):
    """Returns the result of each check: name -> (ok, detail)."""
    golden = golden_calls() if golden is None else golden
    request = {
        "calls": questions(["texts"], golden), "text_inputs": ["texts"],
        "texts": [b"a", b"b", b"c"], "seconds": 1e-9,
    }  # fmt: skip
    results = judged("here", measure(load, request), golden)
    assert {result.where for result in results} == {"here"}
    return {result.name: (result.ok, result.detail) for result in results}


@pytest.mark.parametrize("model", [Sound, Close])
def test_a_sound_model(model):
    found = judge(model)
    assert {ok for ok, _ in found.values()} == {True}
    assert list(found) == CHECKS
    assert found[HUGE][1] == "embedding (3, 4)" and found[EMPTY][1] == "embedding (0, 4)"
    assert found[LATENCY][1].startswith("batch of 1: 0.")


def test_without_golden_answers():
    found = judge(Sound, golden=[])
    assert found.pop(GOLDEN) == (None, "no golden file")
    assert {ok for ok, _ in found.values()} == {True}


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.parametrize(
    ("model", "failures"),
    [
        (NotFinite, {
            GOLDEN: "serving_default: `embedding` has numbers that are not finite",
            HUGE: "`embedding` has numbers that are not finite",
            EMPTY: "`embedding` has numbers that are not finite",
        }),
        (Strict, {
            GOLDEN: "serving_default: UnicodeDecodeError: 'utf-8' codec can't decode",
            HUGE: "UnicodeDecodeError",
            EMPTY: "UnicodeDecodeError",
        }),
        (Narrow, {GOLDEN: "serving_default: expected embedding (5, 4), found embedding (5, 2)"}),
        (NoEmptyBatch, {EMPTY: "expected embedding (0, 4), found embedding (0,)"}),
        (SmallBatches, {LATENCY: "batch of 1000: MemoryError: too many texts"}),
        (Other, {GOLDEN: "serving_default: 3 of 20 values of `embedding` differ by up to 0."}),
        (OtherLabels, {GOLDEN: "label: 2 of 5 values of `label` differ by up to 1, the first in"}),
        (Renamed, {GOLDEN: "serving_default: expected embedding (5, 4), found vectors (5, 4)"}),
    ],
)  # fmt: skip
def test_a_bad_model(model, failures):
    found = {name: detail for name, (ok, detail) in judge(model).items() if not ok}
    assert found.keys() == failures.keys()
    for name, detail in failures.items():
        assert found[name].startswith(detail)


def test_golden_numbers_that_are_not_finite():
    golden = golden_calls()
    golden[0].outputs["embedding"][0, 0] = np.nan
    found = judge(Sound, golden)
    assert [name for name, (ok, _) in found.items() if not ok] == [GOLDEN]


def test_a_model_that_does_not_load():
    def load():
        raise OSError("x" * 1000)

    found = judge(load)
    assert list(found) == ["loads"]
    ok, detail = found["loads"]
    assert ok is False
    assert detail.startswith("OSError: xxx") and detail.endswith("...") and len(detail) == 300


def test_latency():
    sizes = []

    def call(signature, texts):
        sizes.append(len(texts))
        return Sound()(signature, texts)

    request = {"calls": {}, "text_inputs": ["texts"], "texts": [b"a", b"b"], "seconds": 1e-9}
    rows = measure(lambda: call, request)["latency"]
    # No time is left, but 10 calls are made, and 3 before them.
    assert [*rows] == [1, 32, 1000]
    assert sizes.count(1) == sizes.count(1000) == 13
    assert all(0 < median <= p99 for median, p99 in rows.values())

"""`score_sets`: scores, means, left-out sets, and differences."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tf_charagram.data._tables.scored import ScoredPairs
from tf_charagram.evaluation._scores import scores as module
from tf_charagram.evaluation._scores.scores import differences, score_names, score_sets
from tf_charagram.evaluation._scores.statistics import pearson, spearman


def make_set(name, num_pairs=12, metric="pearson", constant=False, seed=0):
    random = np.random.default_rng([seed, len(name)])
    left = [f"{name} left {i}" for i in range(num_pairs)]
    right = [f"{name} right {i}" for i in range(num_pairs)]
    gold = np.ones(num_pairs) if constant else random.normal(size=num_pairs)
    group = name.partition(".")[0] if name.startswith("STS") else None
    return ScoredPairs(name, left, right, gold, metric, group, num_unscored=1)


def embed(texts):
    """Returns unit vectors that depend on the text."""
    seeds = [np.frombuffer(text.encode().ljust(4, b" "), np.uint8) for text in texts]
    vectors = np.array([np.random.default_rng(seed).normal(size=5) for seed in seeds])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def by_name(scores):
    return {score.name: score for score in scores}


@pytest.mark.parametrize("metric", ["pearson", "spearman"])
def test_one_set(metric):
    pairs = make_set("mine", metric=metric)
    (score,) = score_sets(embed, [pairs])
    cosines = np.sum(embed(pairs.left) * embed(pairs.right), axis=1)
    assert score.pearson == round(100 * pearson(cosines, pairs.scores), 2)
    assert score.spearman == round(100 * spearman(cosines, pairs.scores), 2)
    assert score.value == (score.pearson if metric == "pearson" else score.spearman)
    assert (score.num_pairs, score.num_unscored, score.num_sets) == (12, 1, 1)
    assert (score.interval, score.is_mean) == (None, False)


def test_zero_vectors_have_cosine_zero():
    """Cosines 0, 1, 0.6; scores 0, 2, 1: r is 1 / sqrt(0.506667 * 2) * 1 = 0.993399."""
    vectors = {"": [0, 0], "a": [1, 0], "b": [0.6, 0.8]}
    pairs = ScoredPairs("x", ["", "a", "a"], ["a", "a", "b"], np.array([0.0, 2.0, 1.0]), "pearson")
    (score,) = score_sets(lambda texts: np.array([vectors[text] for text in texts]), [pairs])
    assert score.pearson == 99.34


def test_each_text_of_a_set_is_embedded_once(monkeypatch):
    first = make_set("STS2012.OnWN", 5)
    sets = [ScoredPairs("b", first.right, first.right[::-1], first.scores), make_set("c", 5)]
    expected = score_sets(embed, sets)
    monkeypatch.setattr(module, "_CHUNK", 2)
    calls = []
    assert score_sets(lambda texts: calls.append(len(texts)) or embed(texts), sets) == expected
    assert calls == [5, 10]
    assert score_sets(embed, []) == []


class TestMeans:
    def test_years_and_all(self):
        names = [
            "STS2012.OnWN", "STS2012.MSRpar", "STS2013.FNWN", "STS2016.plagiarism", "SL999",
            "SICK.test",
        ]  # fmt: skip
        sets = [make_set(name) for name in names]
        scores = score_sets(embed, sets)
        assert [score.name for score in scores] == score_names(sets)
        assert [score.name for score in scores[6:]] == ["STS2012", "STS2013", "STS2016", "STS"]
        found = by_name(scores)
        for mean, members in {
            "STS2012": names[:2], "STS2013": names[2:3], "STS": names[:4],
        }.items():  # fmt: skip
            assert found[mean].sets == tuple(members)
            assert found[mean].num_sets == len(members)
            assert found[mean].num_pairs == 12 * len(members)
            expected = np.mean([found[name].value for name in members])
            assert found[mean].value == pytest.approx(expected, abs=0.011)

    @pytest.mark.parametrize(
        ("names", "means"),
        [
            (["SL999", "WS353"], []),
            (["STS2016.plagiarism"], ["STS2016"]),
            (["STS.x", "STS.y"], ["STS"]),
        ],
    )
    def test_means_that_say_nothing_new_are_left_out(self, names, means):
        scores = score_sets(embed, [make_set(name) for name in names])
        assert [score.name for score in scores] == names + means

    def test_constant_sets_are_left_out_and_named(self):
        sets = [make_set("STS2013.FNWN"), make_set("STS2013.OnWN", constant=True)]
        found = by_name(score_sets(embed, sets, num_resamples=20))
        assert found["STS2013.OnWN"].value is None and found["STS2013.OnWN"].interval is None
        mean = found["STS2013"]
        assert mean.value == found["STS2013.FNWN"].value
        assert mean.interval == found["STS2013.FNWN"].interval
        assert (mean.sets, mean.left_out) == (("STS2013.FNWN",), ("STS2013.OnWN",))
        only_constant = by_name(score_sets(embed, sets[1:]))["STS2013"]
        assert (only_constant.value, only_constant.num_sets) == (None, 0)
        assert only_constant.is_mean

    def test_constant_cosines(self):
        (score,) = score_sets(lambda texts: np.ones((len(texts), 1)), [make_set("x")])
        assert (score.value, score.spearman, score.pearson) == (None, None, None)


class TestBootstrap:
    def test_intervals(self):
        sets = [make_set("STS2012.OnWN", 40), make_set("STS2012.MSRpar", 40), make_set("x", 40)]
        scores = score_sets(embed, sets, num_resamples=200, seed=3)
        for score in scores:
            low, high = score.interval
            assert low < score.value < high
            assert score.draws.shape == (200,)
            bounds = np.quantile(score.draws, [0.025, 0.975])
            assert score.interval == tuple(bounds.round(2))
        # The mean of two moves less than each of them.
        widths = {score.name: score.interval[1] - score.interval[0] for score in scores}
        assert widths["STS2012"] < min(widths["STS2012.OnWN"], widths["STS2012.MSRpar"])

    def test_other_sets_change_nothing(self):
        sets = [make_set("a"), make_set("bb")]
        both = score_sets(embed, sets, num_resamples=50)
        assert score_sets(embed, sets[1:], num_resamples=50) == both[1:]
        assert score_sets(embed, sets, num_resamples=50, seed=1) != both

    def test_json(self):
        (score,) = score_sets(embed, [make_set("x")], num_resamples=9)
        found = json.loads(json.dumps(score.to_dict()))
        assert "draws" not in found
        assert found["value"] == score.value and found["num_sets"] == 1
        assert found["interval"] == list(score.interval)


class TestDifferences:
    @pytest.fixture
    def sets(self):
        return [make_set("STS2012.OnWN", 60), make_set("STS2012.MSRpar", 60)]

    def better(self, sets):
        """Returns an embedding that knows the scores of half of the pairs."""
        angles = {}
        for pairs in sets:
            for i, (a, b) in enumerate(zip(pairs.left, pairs.right, strict=True)):
                angles[a] = 0.0
                angles[b] = 1.5 - pairs.scores[i] / 3 if i % 2 else float(i)
        return lambda texts: np.array([[np.cos(angles[t]), np.sin(angles[t])] for t in texts])

    def test_values_and_intervals(self, sets):
        first = score_sets(embed, sets, num_resamples=300)
        second = score_sets(self.better(sets), sets, num_resamples=300)
        for one, other, change in zip(first, second, differences(first, second), strict=True):
            assert change.name == one.name
            assert change.value == round(other.value - one.value, 2)
            low, high = change.interval
            assert low < change.value < high
            bounds = np.quantile(other.draws - one.draws, [0.025, 0.975])
            assert change.interval == tuple(bounds.round(2))

    def test_means_over_different_sets_have_none(self, sets):
        first = score_sets(embed, sets)
        partly = [sets[0], make_set(sets[1].name, 60, constant=True)]
        changes = {change.name: change for change in differences(first, score_sets(embed, partly))}
        assert changes["STS2012.OnWN"].value == 0.0
        assert changes["STS2012.MSRpar"].value is None
        assert changes["STS2012"].to_dict() == {"name": "STS2012", "value": None, "interval": None}

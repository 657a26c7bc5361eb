"""Batches of lines with vectors, and of pairs beside them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tf_charagram.data.typos import Typos
from tf_charagram.tasks.distillation._teachers.lines import (
    MeanOfTeachers,
    TeacherLines,
    nearest_lines,
)
from tf_charagram.tasks.distillation._teachers.stream import DistillStream, PairTexts
from tf_charagram.text.vectorizer import NgramVectorizer

NUM_LINES, NUM_PAIRS = 23, 9
LINES = [f"line number {number}" for number in range(NUM_LINES)]
PAIRS = [(f"left {number}", f"Right  {number}") for number in range(NUM_PAIRS)]


def lines_with(vectors, folder):
    (folder / "a.txt").write_text("".join(f"{line}\n" for line in LINES))
    np.save(folder / "a.npy", vectors)
    return TeacherLines([folder / "a.txt"], [folder / "a.npy"])


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    vectors = np.random.default_rng(0).normal(size=(NUM_LINES, 4)) * 3
    return lines_with(vectors, tmp_path_factory.mktemp("lines"))


@pytest.fixture(scope="module")
def vectorizer():
    return NgramVectorizer.from_texts([*LINES, *(text for pair in PAIRS for text in pair)])


@pytest.fixture
def make(lines, vectorizer):
    def make_stream(share=0.0, pairs=PAIRS, **options):
        options = {"batch_size": 5, "dim": 4, "seed": 1, **options}
        read = PairTexts.of(pairs) if pairs else None
        stream = DistillStream(lines, read, vectorizer, errors=Typos(share), **options)
        stream.open()
        return stream

    return make_stream


def batches(stream, first, num):
    return [batch for segment in stream.segments(first, num) for batch in stream.dataset(segment)]


def same(some, others):
    for a, b in zip(some, others, strict=True):
        assert_array_equal(a[0].values, b[0].values)
        assert_array_equal(a[0].row_splits, b[0].row_splits)
        for left, right in zip(a[1:], b[1:], strict=True):
            assert_array_equal(left, right)


def names(ids, vectorizer, texts):
    """Returns, for each row of ids, the index of its text."""
    of = {
        tuple(row): text
        for text, row in zip(texts, vectorizer(tf.constant(texts)).to_list(), strict=True)
    }
    return [of[tuple(row)] for row in ids.to_list()]


def test_every_epoch_visits_every_line_once_with_its_vector(make, lines, vectorizer):
    stream = make(pairs=None)
    assert (stream.steps_per_epoch, stream.size) == (5, NUM_LINES)
    orders = []
    for epoch in range(2):
        seen = []
        for ids, vectors, _, _, keys in batches(stream, 5 * epoch, 5):
            assert keys.shape == (0,)
            texts = names(ids, vectorizer, LINES)
            expected = lines.vectors(np.array([LINES.index(text) for text in texts]))
            expected /= np.linalg.norm(expected, axis=1, keepdims=True)
            assert_allclose(vectors, expected, rtol=1e-5)
            seen += texts
        assert sorted(seen) == sorted(LINES)
        orders.append(seen)
    assert orders[0] != orders[1]


def test_pairs_come_in_epochs_of_their_own(make, vectorizer):
    stream = make()
    lefts = []
    for ids, vectors, _, _, keys in batches(stream, 0, 9):
        texts = names(ids[len(vectors) :], vectorizer, [text for pair in PAIRS for text in pair])
        left, right = texts[:5], texts[5:]
        assert all(pair in PAIRS for pair in zip(left, right, strict=True))
        lefts += left
        again = PairTexts.of(zip(left, right, strict=True)).keys
        assert_array_equal(keys, again.T.reshape(-1))
    counts = [Counter(lefts[first : first + NUM_PAIRS]) for first in range(0, 45, NUM_PAIRS)]
    assert all(set(count.values()) == {1} and len(count) == NUM_PAIRS for count in counts)


@pytest.mark.parametrize(
    "options",
    [{"share": 0.7}, pytest.param({"neighbor_batch_size": 3}, marks=pytest.mark.variant)],
    ids=str,
)
def test_resumed_batches_are_the_same(make, options):
    whole = batches(make(**options), 0, 12)
    stream = make(**options)
    same(whole[:3], batches(stream, 0, 3))
    same(whole[3:], batches(stream, 3, 9))


def test_errors_differ_from_epoch_to_epoch(make):
    stream = make(share=1.0, pairs=None)
    first, second = (
        {tuple(row) for ids, *_ in batches(stream, 5 * epoch, 5) for row in ids.to_list()}
        for epoch in range(2)
    )
    assert len(first & second) < NUM_LINES / 2


def test_projected_vectors(make, lines):
    stream = make(dim=2, pairs=None)
    directions = lines.principal_directions(2)
    for (_, small, *_), (_, wide, *_) in zip(
        batches(stream, 0, 3), batches(make(pairs=None), 0, 3), strict=True
    ):
        projected = wide @ directions
        assert_allclose(small, projected / np.linalg.norm(projected, axis=1)[:, None], rtol=1e-5)


@pytest.mark.long
def test_neighbors_come_along(make, lines, vectorizer, monkeypatch):
    """Each of the first lines with one of its two nearest; an epoch later with another."""
    monkeypatch.setattr("tf_charagram.tasks.distillation._teachers.stream._NUM_NEIGHBORS", 2)
    stream = make(neighbor_batch_size=3)
    nearest = nearest_lines(lines, 2, seed=1)
    seen = Counter()
    for index, (ids, vectors, neighbors, cosines, _) in enumerate(batches(stream, 0, 50)):
        num_lines = 3 if index % 5 == 4 else 5
        assert_array_equal(neighbors, [[0, num_lines], [1, num_lines + 1], [2, num_lines + 2]])
        assert len(vectors) == num_lines + 3
        texts = names(ids[: len(vectors)], vectorizer, LINES)
        expected = lines.vectors(np.array([LINES.index(text) for text in texts]))
        assert_allclose(vectors, expected / np.linalg.norm(expected, axis=1)[:, None], rtol=1e-5)
        left, right = (vectors.numpy()[side] for side in neighbors.numpy().T)
        assert_allclose(cosines, np.sum(left * right, axis=1), atol=1e-6)
        for line, neighbor in neighbors.numpy().tolist():
            number, other = LINES.index(texts[line]), LINES.index(texts[neighbor])
            assert other in nearest[number]
            seen[number, other] += 1
    drawn = Counter(number for number, _ in seen)
    assert sum(drawn.values()) > 1.6 * len(drawn)


def test_two_teachers_say_together_what_is_near(make, lines, vectorizer, tmp_path, monkeypatch):
    """The student learns the vectors of the first; a neighbor's cosine is the mean of both."""
    other = np.random.default_rng(5).normal(size=(NUM_LINES, 7))
    judge = MeanOfTeachers(lines, lines_with(other, tmp_path))
    first = lines.vectors(np.arange(NUM_LINES))
    unit = other / np.linalg.norm(other, axis=1, keepdims=True)
    means = (first @ first.T + unit @ unit.T) / 2
    monkeypatch.setattr("tf_charagram.tasks.distillation._teachers.stream._NUM_NEIGHBORS", 3)
    stream = make(neighbor_batch_size=5, judge=judge)
    near = np.argsort(-(means - 9 * np.eye(NUM_LINES)), axis=1)[:, :3]
    for ids, vectors, neighbors, cosines, _ in batches(stream, 0, 10):
        texts = names(ids[: len(vectors)], vectorizer, LINES)
        numbers = np.array([LINES.index(text) for text in texts])
        assert_allclose(vectors, first[numbers], rtol=1e-5)
        left, right = numbers[neighbors.numpy().T]
        assert_allclose(cosines, means[left, right], atol=1e-6)
        assert all(b in near[a] for a, b in zip(left, right, strict=True))


def test_few_pairs_are_all_in_every_batch(make, vectorizer):
    stream = make(batch_size=10)
    for ids, vectors, *_ in batches(stream, 0, 2):
        texts = names(ids[len(vectors) :], vectorizer, [text for pair in PAIRS for text in pair])
        assert sorted(texts) == sorted(text for pair in PAIRS for text in pair)

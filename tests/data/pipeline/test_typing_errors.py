"""Typing errors that training adds."""

from __future__ import annotations

import numpy as np
from rapidfuzz.distance import OSA

from tf_charagram.data.pipeline.typing_errors import TypingErrors

TEXTS = [f"they receive necessary letters {number}" for number in range(400)]
FORMS = {"receive": ["recieve", "receve"], "necessary": ["neccesary"]}


def test_share():
    """Of several errors, one may undo another."""
    for share, least, most in ((0.0, 0, 0), (0.5, 160, 240), (1.0, 390, 400)):
        texts = TypingErrors(share).add(TEXTS, np.random.default_rng(0))
        assert least <= sum(a != b for a, b in zip(texts, TEXTS, strict=True)) <= most


def test_one_to_three_errors():
    """A third of the texts each; where errors meet, fewer or more edits tell the texts apart."""
    texts = TypingErrors(1.0).add(TEXTS, np.random.default_rng(0))
    edits = [OSA.distance(a, b) for a, b in zip(texts, TEXTS, strict=True)]
    counts = np.bincount(edits, minlength=4)
    assert counts[1:4].min() >= 95 and counts[1:4].sum() >= 390


def test_half_are_real_where_there_are_some():
    errors = TypingErrors(1.0, FORMS)
    texts = errors.add(TEXTS, np.random.default_rng(0))
    real = sum(any(form in text for forms in FORMS.values() for form in forms) for text in texts)
    assert 200 <= real <= 360
    capitals = TypingErrors(1.0, FORMS).add(["RECEIVE"] * 50, np.random.default_rng(0))
    assert "recieve" in " ".join(capitals)


def test_same_seed_same_errors():
    errors = TypingErrors(0.5, FORMS)
    first, second = (errors.add(TEXTS, np.random.default_rng(3)) for _ in range(2))
    assert first == second
    assert list(errors.samples(TEXTS, 1)) == list(errors.samples(TEXTS, 1))


def test_texts_without_words():
    texts = ["", "42", "日本", "a"]
    assert TypingErrors(1.0, FORMS).add(texts, np.random.default_rng(0)) == texts

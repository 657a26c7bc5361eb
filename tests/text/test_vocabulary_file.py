"""A counted vocabulary as a file."""

from __future__ import annotations

import numpy as np
import pytest

from tests.text.test_vocabulary import CJK_126, assert_same
from tf_charagram.errors import RunError
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary_file import load_vocabulary, save_vocabulary


@pytest.mark.parametrize("texts", [["cat", "Hat"], ["cat", CJK_126]], ids=["exact", "mixed"])
def test_round_trip(texts, tmp_path):
    settings = {"lowercase": False, "unicode_form": "NFC", "max_chars": 7}
    vectorizer = NgramVectorizer.from_texts(texts, orders=[1, 8], **settings)
    save_vocabulary(tmp_path / "v.npz", vectorizer)
    restored = load_vocabulary(tmp_path / "v.npz")
    assert_same(restored.vocabulary, vectorizer.vocabulary)
    assert {name: getattr(restored, name) for name in settings} == settings


def test_no_file(tmp_path):
    with pytest.raises(RunError, match=r"v.npz: no such file. Count one with charagram vocab"):
        load_vocabulary(tmp_path / "v.npz")


def test_another_file(tmp_path):
    (tmp_path / "v.npz").write_text("cat")
    with pytest.raises(
        RunError,
        match=r"v.npz is damaged or no vocabulary: ValueError.*not a zip.*again",
    ):
        load_vocabulary(tmp_path / "v.npz")
    np.savez(tmp_path / "v.npz", orders=np.array([2]), keys=np.array([5]), counts=np.array([1]))
    with pytest.raises(RunError, match=r"is damaged or no vocabulary: KeyError\('settings'\)"):
        load_vocabulary(tmp_path / "v.npz")

"""The script that scales kinds of n-grams."""

from __future__ import annotations

import pytest
from numpy.testing import assert_allclose

from recipes.scale_ngrams import KINDS, kind_of, main
from tests.models.answers import parts
from tf_charagram.models.embedder import TextEmbedder


@pytest.mark.parametrize(
    ("ngram", "kind"),
    [
        ("a1b", "digit"), (" 5%", "digit"), ("it'", "punctuation"), (". T", "punctuation"),
        ("s a", "across"), (" ", "across"), (" a ", "whole"), (" the", "start"), ("ing ", "end"),
        ("ver", "inside"), ("é", "inside"),
    ],
)  # fmt: skip
def test_kinds(ngram, kind):
    assert kind_of(ngram) == kind


def test_only_rows_of_these_kinds_change(tmp_path):
    model = TextEmbedder(*parts())
    model.save(tmp_path / "model")
    arguments = [str(tmp_path / "model"), str(tmp_path / "scaled")]
    assert main([*arguments, "--factors", "start=2,inside=0.5"]) == 0
    scaled = TextEmbedder.load(tmp_path / "scaled")
    kinds = [kind_of(ngram) for ngram in model.vectorizer.vocabulary.ngrams()]
    assert {"start", "inside", "end"} <= set(kinds)
    table, new_table = (part.encoder.ngram_table.numpy() for part in (model, scaled))
    for row, kind in enumerate(kinds):
        factor = {"start": 2.0, "inside": 0.5}.get(kind, 1.0)
        assert_allclose(new_table[row], factor * table[row], rtol=1e-6)


@pytest.mark.parametrize(
    ("factors", "message"),
    [("middle=2", "middle"), ("start", "Received: start"), ("end=-1", "Received: end=-1")],
)
def test_factors_that_are_wrong(tmp_path, capsys, factors, message):
    TextEmbedder(*parts()).save(tmp_path / "model")
    arguments = [str(tmp_path / "model"), str(tmp_path / "scaled"), "--factors", factors]
    assert main(arguments) == 1
    assert message in capsys.readouterr().err
    assert len(KINDS) == len(set(KINDS))

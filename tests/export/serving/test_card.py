"""The page beside an exported model."""

from __future__ import annotations

import pytest

from tf_charagram.export.serving.card import PAGE, write_page
from tf_charagram.files.json_files import write_json
from tf_charagram.models.saved_model import MODEL_CARD

STRINGS = {"texts": {"dtype": "string", "shape": [-1]}}
CLASSIFIER = {
    "kind": "text_classifier",
    "head": {"labels": ["NO", "YES"]},
    "signatures": {"serving_default": {"inputs": STRINGS, "outputs": {}}},
}


@pytest.mark.parametrize("about", [{}, CLASSIFIER], ids=["embedder", "classifier"])
def test_the_version_it_is_of(tmp_path, about):
    card = {
        "encoder": {"name": "charagram"}, "vectorizer": {"num_rows": 3}, "dim": 2, "versions": {},
        "num_parameters": 6, "size_bytes": 24, "required_ops": {}, **about,
    }  # fmt: skip
    for name in ("2", "10", ".new.part"):
        (tmp_path / "words" / name).mkdir(parents=True)
    partial = tmp_path / "words" / ".new.part"
    write_json(partial / MODEL_CARD, card)
    write_page(partial, "words")
    assert 'tf.saved_model.load("models/words/11")' in (partial / PAGE).read_text()

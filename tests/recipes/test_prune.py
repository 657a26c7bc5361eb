"""The script that leaves out n-grams before a model is trained on."""

from __future__ import annotations

import numpy as np

from recipes.prune import main
from tests.models.answers import parts
from tf_charagram.models.embedder import TextEmbedder


def test_what_matters_is_kept_as_it_is(tmp_path):
    """A count to the power of 0 leaves the norm alone to choose."""
    whole = TextEmbedder(*parts())
    whole.task = "words"
    whole.save(tmp_path / "whole")
    arguments = [str(tmp_path / name) for name in ("whole", "pruned")]
    assert main([*arguments, "--max-ngrams", "20", "--count-power", "0"]) == 0
    pruned = TextEmbedder.load(tmp_path / "pruned")
    assert pruned.task == "words"
    rows = {
        int(key): row
        for key, row in zip(
            whole.vectorizer.vocabulary.keys, whole.encoder.ngram_table.numpy(), strict=True
        )
    }
    largest = sorted(rows, key=lambda key: -np.linalg.norm(rows[key]))[:20]
    kept = pruned.vectorizer.vocabulary.keys.tolist()
    assert sorted(kept) == sorted(largest)
    np.testing.assert_array_equal(pruned.encoder.ngram_table.numpy(), [rows[key] for key in kept])

"""The script that prunes n-grams before a model is trained further."""

from __future__ import annotations

import numpy as np

from recipes.prune import main
from tests.models.answers import parts
from tf_charagram.models.embedder import TextEmbedder


def test_largest_ngrams_are_kept_unchanged(tmp_path):
    """With a count to the power of 0, only the norm decides."""
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

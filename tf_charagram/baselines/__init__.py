"""Baselines that need no training: averages of word vectors, tf-idf, stored vectors.

Each has `fit(texts)`, which does nothing where there is nothing to learn from the texts of a set,
and `encode(texts)`, which returns vectors, float32 `(num_texts, dim)`, sparse ones as a SciPy
matrix.
"""

from tf_charagram.baselines.specs import Baseline, BaselineSpec, baseline_specs, load_baselines
from tf_charagram.baselines.stored_vectors import StoredVectors
from tf_charagram.baselines.tfidf import CharacterTfidf
from tf_charagram.baselines.word_average import WordAverage

__all__ = [
    "Baseline", "BaselineSpec", "CharacterTfidf", "StoredVectors", "WordAverage", "baseline_specs",
    "load_baselines",
]  # fmt: skip

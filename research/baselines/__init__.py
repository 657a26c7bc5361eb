"""Baselines that need no training: averages of word vectors, tf-idf, stored vectors.

Each has `fit(texts)`, which does nothing where there is nothing to learn from the texts of a set,
and `encode(texts)`, which returns vectors, float32 `(num_texts, dim)`, sparse ones as a SciPy
matrix.
"""

from research.baselines.specs import Baseline, BaselineSpec, baseline_specs, load_baselines
from research.baselines.stored_vectors import StoredVectors
from research.baselines.word_average import WordAverage
from tf_charagram.evaluation.tfidf import CharacterTfidf

__all__ = [
    "Baseline", "BaselineSpec", "CharacterTfidf", "StoredVectors", "WordAverage", "baseline_specs",
    "load_baselines",
]  # fmt: skip

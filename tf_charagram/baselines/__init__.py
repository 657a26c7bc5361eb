"""What models are compared with and nothing is trained for: averages, tf-idf, stored vectors.

Each is an object with `fit(texts)`, which does nothing unless the baseline says so, and
`encode(texts)`, which returns vectors, float32 `(num_texts, dim)`.
"""

from tf_charagram.baselines.specs import Baseline, BaselineSpec, baseline_specs, load_baselines
from tf_charagram.baselines.stored_vectors import StoredVectors
from tf_charagram.baselines.tfidf import CharacterTfidf
from tf_charagram.baselines.word_average import WordAverage

__all__ = [
    "Baseline", "BaselineSpec", "CharacterTfidf", "StoredVectors", "WordAverage", "baseline_specs",
    "load_baselines",
]  # fmt: skip

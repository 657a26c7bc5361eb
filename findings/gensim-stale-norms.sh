#!/usr/bin/env bash
# gensim version 4.4.0: after a vector is replaced, `most_similar` reports cosines above 1.
# `most_similar` divides by norms that were computed before; `kv[word] = vector` does not renew them.
# `similarity` of the same two words is right.
# Seen:     most_similar 6.0, similarity 1.0
# Expected: 1.0 from both.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder/packages" \
    gensim==4.4.0
cd "$folder"
PYTHONPATH=packages python3 -W ignore - <<'PYTHON'
import numpy as np
from gensim.models import KeyedVectors

vectors = KeyedVectors(2)
vectors.add_vectors(["a", "b", "c"], np.array([[1, 0], [3, 4], [0, 1]], np.float32))
vectors.most_similar("a")
vectors["b"] = np.array([30, 0], np.float32)
word, cosine = vectors.most_similar("a", topn=1)[0]
similarity = float(vectors.similarity("a", "b"))
print(f"most_similar {cosine}, similarity {similarity}")
assert (word, cosine, similarity) == ("b", 6.0, 1.0)
PYTHON

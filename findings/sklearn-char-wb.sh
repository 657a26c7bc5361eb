#!/usr/bin/env bash
# scikit-learn version 1.9.1: `analyzer="char_wb"` with `ngram_range=(5, 5)` also makes 4-grams, and
# words of three letters have one feature where longer words have one per position.
# A word with its two spaces that is shorter than n is a feature of its own length.
# Seen:     [' ab ', ' abc ', ' abcd', 'abcde', 'bcdef', 'cdef ']
# Expected: 5-grams only, as from `analyzer="char"`, or a note in the documentation.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder/packages" \
    scikit-learn==1.9.1
cd "$folder"
PYTHONPATH=packages python3 -W ignore - <<'PYTHON'
from sklearn.feature_extraction.text import CountVectorizer

texts = ["ab abc abcdef"]
lengths = {}
for analyzer in ("char", "char_wb"):
    counter = CountVectorizer(analyzer=analyzer, ngram_range=(5, 5)).fit(texts)
    features = counter.get_feature_names_out().tolist()
    lengths[analyzer] = {len(feature) for feature in features}
print(features)
assert lengths == {"char": {5}, "char_wb": {4, 5}} and " ab " in features
PYTHON

#!/usr/bin/env bash
# model2vec version 0.10.0: `encode(max_length=n)` keeps fewer than n tokens, down to none.
# Before a text is split, it is cut after n times the median length of the tokens of the vocabulary,
# in characters: here after 3 * 1. So a text of two known long words loses both for n = 3, and its
# vector is zero. With usual vocabularies, the last tokens are lost, or cut in the middle.
# Seen:     max_length=3: [0.0, 0.0, 0.0, 0.0], max_length=None: [0.5, 0.0, 0.0, 0.5]
# Expected: equal, because the text has two tokens.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder/packages" \
    model2vec==0.10.0 tokenizers==0.23.3 numpy==2.4.6
cd "$folder"
PYTHONPATH=packages python3 -W ignore - <<'PYTHON'
import numpy as np
from model2vec import StaticModel
from tokenizers import Tokenizer, models, pre_tokenizers

words = ["internationalization", "a", "[UNK]", "multidimensionality"]
vocabulary = {word: row for row, word in enumerate(words + ["b", "c", "d", "e"])}
tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
model = StaticModel(np.eye(8, dtype=np.float32), tokenizer, normalize=False)
text = "internationalization multidimensionality"
cut, whole = (model.encode(text, max_length=length)[:4].tolist() for length in (3, None))
print(f"max_length=3: {cut}, max_length=None: {whole}")
assert cut == [0.0, 0.0, 0.0, 0.0] and whole == [0.5, 0.0, 0.0, 0.5]
PYTHON

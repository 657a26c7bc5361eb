#!/usr/bin/env bash
# TensorFlow version 2.21.0: a `tf.data` snapshot survives another vocabulary.
# `snapshot` reuses its files as long as the pipeline before it is the same. The contents of a look-up
# table are no part of what it compares, so after `adapt` or with another vocabulary of the same
# layer, training reads the ids of the old one.
# Seen:     without snapshot [3, 2], from the snapshot [1, 2]
# Expected: a snapshot is written anew if the ids change, as it is if the pipeline changes.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder/packages" \
    tensorflow-cpu==2.21.0
cd "$folder"
PYTHONPATH=packages python3 -W ignore - <<'PYTHON'
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import tensorflow as tf


def ids(vocabulary):
    lookup = keras.layers.StringLookup(vocabulary=vocabulary)
    dataset = tf.data.Dataset.from_tensor_slices(["cat", "dog"]).map(lookup)
    return [[int(row) for row in rows] for rows in (dataset, dataset.snapshot("snapshot"))]


assert ids(["cat", "dog"]) == [[1, 2], [1, 2]]
right, found = ids(["mouse", "dog", "cat"])
print(f"without snapshot {right}, from the snapshot {found}")
assert (right, found) == ([3, 2], [1, 2])
PYTHON

"""Helpers for tests of models."""

from __future__ import annotations

import base64
import json
import sys

import numpy as np

from tests.commands import run
from tests.texts import NASTY
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.encoders.cse import Cse
from tf_charagram.text.batches import to_bytes
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.words import WordVectorizer

KNOWN = ["a cat", "some cats", "a dog sat", "the cat did not sit", "dogs"]
TEXTS = [*KNOWN, "a cat", "never seen", *(t for n, t in NASTY.items() if not n.startswith("long"))]
# Folded n-grams are summed in another order.
TOLERANCE = {"rtol": 1e-4, "atol": 1e-5}

SCRIPT = """
import base64, json, sys
import numpy as np
import tensorflow as tf
arguments = json.load(open(sys.argv[1]))
results = {}
for folder in sys.argv[3:]:
    served = tf.saved_model.load(folder).signatures["serving_default"]
    for name, inputs in arguments.items():
        inputs = {key: [base64.b64decode(text) for text in texts] for key, texts in inputs.items()}
        inputs = {key: tf.constant(texts, tf.string, [len(texts)]) for key, texts in inputs.items()}
        for key, value in served(**inputs).items():
            value = value.numpy()
            if value.dtype == object:
                value = np.array([label.decode() for label in value], "U9")
            results["|".join((folder, name, key))] = value
found = {name.split(".")[0] for name in sys.modules} & {"tf_charagram", "tensorflow_text"}
assert not found, found
np.savez(sys.argv[2], **results)
"""


def parts(encoder="charagram", dim=6):
    """Returns a vectorizer and an encoder with random weights."""
    if encoder == "charagram":
        vectorizer = NgramVectorizer.from_texts(KNOWN)
        made = Charagram(num_rows=vectorizer.num_rows, dim=dim, activation="tanh")
    else:
        vectorizer = WordVectorizer.from_texts(KNOWN)
        made = Cse(num_rows=vectorizer.num_rows, dim=dim)
    return vectorizer, randomized(made)


def randomized(layer, seed=0):
    """Returns a layer with all weights random, so that no zero hides a mistake."""
    rng = np.random.default_rng(seed)
    for weight in layer.trainable_variables:
        weight.assign(rng.normal(scale=0.5, size=weight.shape))
    if hasattr(layer, "scale"):
        layer.scale.assign(0.7)
    return layer


def decided(model, vectors):
    """Changes the head of a model so that it gives each label to some of the vectors."""
    model.head.output_kernel.assign(10.0 * model.head.output_kernel)
    model.head.output_bias.assign_sub(np.mean(model.head(vectors), axis=0))
    return model


def served(folder, folders, arguments):
    """Runs `serving_default` of SavedModels in a process with only TensorFlow.

    Args:
        folder: Empty, for files.
        folders: Name -> SavedModel.
        arguments: Name -> name of an input -> texts.

    Returns:
        Name of a model -> name of the arguments -> name of an output -> array.
    """
    encoded = {
        name: {
            key: [base64.b64encode(to_bytes(text)).decode() for text in texts]
            for key, texts in inputs.items()
        }
        for name, inputs in arguments.items()
    }
    (folder / "texts.json").write_text(json.dumps(encoded))
    command = [sys.executable, "-c", SCRIPT, "texts.json", "out.npz", *map(str, folders.values())]
    ended = run(command, cwd=folder)
    assert ended.returncode == 0, ended.stderr
    results = {name: {key: {} for key in arguments} for name in folders}
    names = {str(path): name for name, path in folders.items()}
    with np.load(folder / "out.npz") as arrays:
        for key, value in arrays.items():
            path, name, output = key.split("|")
            results[names[path]][name][output] = value
    return results

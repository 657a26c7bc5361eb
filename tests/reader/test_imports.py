"""A reader starts without TensorFlow."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
from tf_charagram.reader import TextReader
reader = TextReader.load("english", keep_words=["vehical"])
reader.encode(["my pasword", "caf\\u00e9"], normalize=True)
reader.similarity(["a"], ["b"])
reader.read_as(["my pasword"])
reader.known_share(["a"])
print(sorted({"tensorflow", "tensorflow_text", "keras"} & sys.modules.keys()))
"""


def test_tensorflow_is_not_imported():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


FORKED = """
import multiprocessing
import pickle
import numpy as np
from tf_charagram.reader import TextReader
reader = TextReader.load("english")
texts = [f"my pasword is {i}" for i in range(600)]
expected = reader.encode(texts)

def encode(texts):
    return reader.encode(texts)

with multiprocessing.get_context("fork").Pool(2) as pool:
    halves = pool.map(encode, [texts[:300], texts[300:]])
copied = pickle.loads(pickle.dumps(reader))
print(np.array_equal(np.concatenate(halves), expected))
print(np.array_equal(copied.encode(texts), expected))
"""


def test_forked_processes_and_copies():
    done = subprocess.run(
        [sys.executable, "-c", FORKED], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.split() == ["True", "True"]

"""A reader works in forked processes, and can be copied."""

from __future__ import annotations

import subprocess
import sys

FORKED = """
import multiprocessing
import pickle
import numpy as np
from tf_charagram.models.text_reader import TextReader
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

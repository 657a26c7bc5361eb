"""Threads suit the size of the operations."""

from __future__ import annotations

import sys

import pytest

from tests.commands import run
from tf_charagram.tasks.labels.settings import SupervisedConfig
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.tasks.tagging.settings import TaggingConfig
from tf_charagram.training._loop.processor import _default_threads


@pytest.mark.parametrize(
    ("task", "encoder", "expected"),
    [
        ("words", "charagram", 1),
        ("sentences", "charagram", None),
        ("words", "word_average", 1),
        ("sentences", "dan", 1),
        ("words", "char_cnn", None),
        ("sentences", "lstm", None),
    ],
)
def test_default(task, encoder, expected):
    assert _default_threads(ParaphraseConfig(task=task, encoder=encoder)) == expected


def test_default_of_a_head_alone():
    config = SupervisedConfig(task="similarity", encoder="lstm", init="runs/one", freeze="encoder")
    assert _default_threads(config) == 1
    assert _default_threads(TaggingConfig()) is None


@pytest.mark.long
def test_set(tmp_path):
    """In a process where TensorFlow has not begun to work; here it has."""
    script = """
import tensorflow as tf
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.training._loop.processor import limit_threads, set_threads
limit_threads(3)
assert tf.config.threading.get_intra_op_parallelism_threads() == 3
set_threads(ParaphraseConfig())
tf.zeros([1])
limit_threads(7)
assert tf.config.threading.get_intra_op_parallelism_threads() == 1
"""
    ended = run([sys.executable, "-c", script], cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr

"""Messages between workers, in two processes, and the error if one of them is gone."""

import json
import subprocess
import sys
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from tests.commands import environment
from tf_charagram.optimizers.exchange import Exchange
from tf_charagram.training.workers import VARIABLE, local_clusters


@pytest.fixture(scope="module")
def results():
    """The lines of JSON that each of two workers printed."""
    script = Path(__file__).parent / "exchange_worker.py"
    root = str(Path(__file__).parents[2])
    processes = [
        subprocess.Popen(
            [sys.executable, script], text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=environment(PYTHONPATH=root, **{VARIABLE: cluster.to_json()}),
        )
        for cluster in local_clusters(2)
    ]  # fmt: skip
    outputs = [process.communicate(timeout=240)[0] for process in processes]
    return [[json.loads(line) for line in output.splitlines()] for output in outputs]


def test_all_workers_get_the_same(results):
    (first, _), (second,) = results
    assert first == second
    assert first["json"] == [{"rank": 0, "ü": ""}, {"rank": 1, "ü": "x" * 9}]
    assert (first["numbers"], first["any"], first["of_chief"]) == ([2, 1], [True, False], [3.5])
    assert first["copied"] == [[[[0, 1], [2, 3], [4, 5]], [5]]] * 3
    # Row 1 is that of worker 1.
    assert first["merged"] == [[[0, 1], [3, 4], [4, 5]], [5]]
    assert first["ragged"] == [[[1, 2], []], [[]]]


def test_gradients(results):
    first = results[0][0]
    assert first["sparse"] == [[2, 2], [2, 2], [0, 0], [3, 3]]
    assert first["distinct"]
    assert first["dense"] == [2, 1]


def test_texts_encoded_in_shares(results):
    """The gradient of the sum of (w * s)^2 is 2 w s^2 each; also for a share without texts."""
    assert results[0][0]["encoded"] == [
        [[6, 0, 6, 30, 14], 4 * (9 + 9 + 225 + 49)],
        [[0, 6, 30], 4 * (9 + 225)],
        [[6], 4 * 9],
    ]


def test_a_lost_worker_is_an_error(results):
    message = results[0][1]
    assert message.startswith("Another worker was lost (")
    assert message.endswith("Go on from the last checkpoint with the same command and --resume.")


@pytest.mark.parametrize("size", [1, 2, 3])
def test_each_row_has_one_worker(size):
    workers = [Exchange(rank, size) for rank in range(size)]
    rows = [[4, 1, 1, 2], [], [7], [3, 6], [0, 5]]
    ids = tf.ragged.constant(rows, tf.int32)
    own = [worker.own_ids(ids).to_list() for worker in workers]
    assert [sorted(chain(*parts)) for parts in zip(*own, strict=True)] == [*map(sorted, rows)]
    assert {value % size for value in chain(*own[-1])} == {size - 1}
    values = np.arange(16.0).reshape(8, 2)
    parts = [worker.own_rows(tf.constant(values[3:]), 3).numpy() for worker in workers]
    np.testing.assert_array_equal(sum(parts), values[3:])
    assert not parts[0][[row for row in range(5) if (row + 3) % size]].any()

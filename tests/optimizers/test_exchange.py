"""What workers exchange, in two processes, and what they hear when one is gone."""

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.commands import environment
from tf_charagram.errors import ConfigError
from tf_charagram.optimizers.exchange import ALONE
from tf_charagram.training.workers.cluster import VARIABLE, local_clusters
from tf_charagram.training.workers.connection import connect
from tf_charagram.training.workers.launcher import free_ports, linked_clusters


def started(clusters, command):
    """Starts workers; returns the processes."""
    root = str(Path(__file__).parents[2])
    return [
        subprocess.Popen(
            [sys.executable, *command], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, pass_fds=cluster.sockets,
            env=environment(PYTHONPATH=root, **{VARIABLE: cluster.to_json()}),
        )
        for cluster in clusters
    ]  # fmt: skip


@pytest.fixture(scope="module", params=["sockets", "addresses"])
def results(request):
    """What each of two workers printed, lines of JSON."""
    with ExitStack() as stack:
        if request.param == "sockets":
            clusters = linked_clusters(2, stack)
        else:
            clusters = local_clusters(free_ports(2))
        processes = started(clusters, [str(Path(__file__).parent / "workers.py")])
    outputs = [process.communicate(timeout=240)[0] for process in processes]
    return [[json.loads(line) for line in output.splitlines()] for output in outputs]


def test_both_get_the_same(results):
    (first, _), (second,) = results
    assert first == second
    assert first["json"] == [{"rank": 0, "ü": ""}, {"rank": 1, "ü": "x" * 9}]
    assert (first["numbers"], first["any"], first["of_chief"]) == ([2, 1], [True, False], [3.5])
    assert first["copied"] == [[[[0, 1], [2, 3], [4, 5]], 5]] * 6
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


def test_the_loss_of_a_worker_is_said(results):
    message = results[0][1]
    assert message.startswith("Another worker was lost (")
    assert message.endswith("Go on from the last checkpoint with the same command and --resume.")


def test_alone():
    assert ALONE.numbers(1, 2) == [1, 2]
    assert ALONE.json("x") == ["x"]
    assert ALONE.any(True)
    assert not ALONE.any(False)
    ALONE.wait()


SEVERAL = """
import json
import tensorflow as tf
from tf_charagram.training.workers.cluster import cluster_of
from tf_charagram.training.workers.connection import connect

tf.config.threading.set_inter_op_parallelism_threads(1)
exchange = connect(cluster_of())
large = tf.range(2_000_000, dtype=tf.float32) + exchange.rank  # more than sockets hold

@tf.function
def both():
    # Neither needs the other, and all have to send them in the same order.
    return exchange.sum(large), exchange.gather(tf.fill([2, 1], exchange.rank))

for _ in range(3):
    total, rows = both()
    assert total[0] == 3 and total[-1] == 3 * 1_999_999 + 3
print(json.dumps(rows[:, 0].numpy().tolist()))
exchange.wait()
"""


@pytest.mark.long
def test_large_messages_of_several():
    with ExitStack() as stack:
        processes = started(linked_clusters(3, stack), ["-c", SEVERAL])
    outputs = [process.communicate(timeout=240)[0] for process in processes]
    assert [json.loads(output) for output in outputs] == [[0, 0, 1, 1, 2, 2]] * 3


def test_sockets_that_are_not_open():
    (cluster, _) = local_clusters(free_ports(2), [[1000], [1000]])
    with pytest.raises(ConfigError, match=r"Worker 0 has no socket to another one .*Leave it out"):
        connect(cluster)

"""What `TF_CONFIG` may say."""

import json
from dataclasses import replace

import pytest

from tf_charagram.errors import ConfigError
from tf_charagram.training.workers.cluster import VARIABLE, Cluster, cluster_of, local_clusters

TWO = {"worker": ["a:1", "b:2"]}


def found(config):
    return cluster_of({VARIABLE: config if isinstance(config, str) else json.dumps(config)})


@pytest.mark.parametrize(
    "config", ["", "  ", {}, {"cluster": {}}, {"cluster": {"chief": ["a:1"]}, "task": {}}], ids=str
)
def test_one_process_is_alone(config):
    assert found(config) is None
    assert cluster_of({}) is None


def test_a_worker():
    config = {"cluster": TWO, "task": {"type": "worker", "index": 1}}
    assert found(config) == Cluster(("a:1", "b:2"), 1)


def test_the_chief_comes_first():
    cluster = {"worker": ["b:2", "c:3"], "chief": ["a:1"]}
    assert found({"cluster": cluster, "task": {"type": "chief", "index": 0}}).rank == 0
    assert found({"cluster": cluster, "task": {"type": "worker", "index": 0}}) == Cluster(
        ("a:1", "b:2", "c:3"), 1
    )


def test_workers_of_one_machine():
    first, second = local_clusters([10, 11])
    assert found(second.to_json()) == second == Cluster(("localhost:10", "localhost:11"), 1, 2)
    assert first.size == 2
    linked = local_clusters([10, 11], [[5], [6]])[1]
    assert linked.sockets == (6,)
    assert found(linked.to_json()) == linked
    started = replace(linked, launcher=7)
    assert found(started.to_json()) == started


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("{", "`TF_CONFIG` must be JSON, such as .*Received: '{'"),
        ("[1]", "must have an object `cluster`.*Received: .1."),
        ({"cluster": {**TWO, "ps": ["c:3"]}}, "no parameter servers. Received: ps"),
        ({"cluster": {"worker": "a:1"}}, "a list of host:port as `worker`.*Received: .a:1"),
        ({"cluster": {"worker": ["a", "b:2"]}}, "a list of host:port as `worker`"),
        ({"cluster": {"worker": ["a:1", "a:1"]}}, "Received: a:1 more than once"),
        (
            {"cluster": TWO, "task": {"type": "worker", "index": 2}},
            "one of the workers of `cluster`: worker 0, worker 1. Received: worker 2",
        ),
        ({"cluster": TWO, "task": {"type": "chief", "index": 0}}, "Received: chief 0"),
    ],
    ids=str,
)
def test_what_it_must_not_say(config, message):
    with pytest.raises(ConfigError, match=message):
        found(config)

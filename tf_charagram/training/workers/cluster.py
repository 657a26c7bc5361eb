"""Which processes train together: what `TF_CONFIG` says, checked before TensorFlow sees it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tf_charagram.errors import ConfigError
from tf_charagram.files.json_files import parse_json

VARIABLE = "TF_CONFIG"
_ROLES = ("chief", "worker")
_EXAMPLE = (
    '{"cluster": {"worker": ["host-a:2222", "host-b:2222"]}, '
    '"task": {"type": "worker", "index": 0}}'
)


@dataclass(frozen=True)
class Cluster:
    """The workers of one training, and which of them this process is.

    Attributes:
        addresses: `host:port` of each worker; the first is the chief.
        rank: Number of this one.
        num_local: How many of them were started together on this machine, by `--workers`; 0 if
            they were not.
        sockets: File descriptors of the sockets to the others, in order of rank, that such workers
            were started with; none for those that speak through their addresses.
        launcher: Id of the process that started this one, and with which it ends; 0 if unknown.
    """

    addresses: tuple[str, ...]
    rank: int
    num_local: int = 0
    sockets: tuple[int, ...] = ()
    launcher: int = 0

    @property
    def size(self) -> int:
        """Number of workers."""
        return len(self.addresses)

    def to_json(self) -> str:
        """Returns the value of `TF_CONFIG` for this worker."""
        task = {"type": "worker", "index": self.rank}
        cluster = {"worker": list(self.addresses)}
        local = {name: getattr(self, name) for name in ("num_local", "sockets", "launcher")}
        return json.dumps({"cluster": cluster, "task": task, **local})


def local_clusters(
    ports: Sequence[int], sockets: Sequence[Sequence[int]] | None = None
) -> list[Cluster]:
    """Returns what each of some workers on this machine is to know.

    Args:
        ports: One for each worker.
        sockets: For each worker the file descriptors of its sockets to the others, if it has some.
    """
    addresses = tuple(f"localhost:{port}" for port in ports)
    return [
        Cluster(addresses, rank, len(ports), tuple(sockets[rank]) if sockets else ())
        for rank in range(len(ports))
    ]


def cluster_of(environment: Mapping[str, str] = os.environ) -> Cluster | None:
    """Returns what `TF_CONFIG` says; `None` if this process trains alone.

    Raises:
        ConfigError: It is not what TensorFlow defines, or names a worker that is not there.
    """
    text = environment.get(VARIABLE, "")
    if not text.strip():
        return None
    try:
        config = parse_json(text)
    except ValueError as error:
        raise ConfigError(
            f"`{VARIABLE}` must be JSON, such as {_EXAMPLE}. Received: {text[:200]!r} ({error})"
        ) from None
    members = _members(config)
    if len(members) < 2:
        return None
    addresses = tuple(address for *_, address in members)
    return Cluster(
        addresses,
        _rank(config, members),
        _number(config, "num_local"),
        _sockets(config, members),
        _number(config, "launcher"),
    )


def _members(config: Any) -> list[tuple[str, int, str]]:
    """Returns role, index and address of each worker, the chief first."""
    cluster = config.get("cluster", {}) if isinstance(config, dict) else None
    if not isinstance(cluster, dict):
        raise ConfigError(
            f"`{VARIABLE}` must have an object `cluster`, as in {_EXAMPLE}. Received: "
            f"{json.dumps(config)[:200]}"
        )
    if other := sorted(set(cluster) - {*_ROLES}):
        raise ConfigError(
            f"`{VARIABLE}` must have the roles {' and '.join(_ROLES)} only: all workers do the "
            f"same, and there are no parameter servers. Received: {', '.join(other)}"
        )
    members = []
    for role in _ROLES:
        addresses = cluster.get(role, [])
        if not isinstance(addresses, list) or not all(map(_is_address, addresses)):
            raise ConfigError(
                f"`{VARIABLE}` must have a list of host:port as `{role}`, as in {_EXAMPLE}. "
                f"Received: {json.dumps(addresses)[:200]}"
            )
        members += [(role, index, address) for index, address in enumerate(addresses)]
    addresses = [address for *_, address in members]
    if repeated := {address for address in addresses if addresses.count(address) > 1}:
        raise ConfigError(
            f"`{VARIABLE}` must have another host:port for each worker. "
            f"Received: {', '.join(sorted(repeated))} more than once"
        )
    return members


def _is_address(value: Any) -> bool:
    return isinstance(value, str) and value.rpartition(":")[2].isdigit() and ":" in value


def _rank(config: dict[str, Any], members: Sequence[tuple[str, int, str]]) -> int:
    task = config.get("task")
    task = task if isinstance(task, dict) else {}
    role, index = task.get("type", "worker"), task.get("index", 0)
    tasks = [(name, number) for name, number, _ in members]
    if (role, index) not in tasks:
        there = ", ".join(f"{name} {number}" for name, number in tasks)
        raise ConfigError(
            f"`{VARIABLE}` must name in `task` one of the workers of `cluster`: {there}. "
            f"Received: {role} {index}"
        )
    return tasks.index((role, index))


def _number(config: dict[str, Any], name: str) -> int:
    number = config.get(name, 0)
    return number if isinstance(number, int) else 0


def _sockets(config: dict[str, Any], members: Sequence[Any]) -> tuple[int, ...]:
    numbers = config.get("sockets", [])
    if not isinstance(numbers, list) or len(numbers) != len(members) - 1:
        return ()
    return tuple(numbers) if all(type(number) is int for number in numbers) else ()

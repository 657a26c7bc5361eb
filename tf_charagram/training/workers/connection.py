"""Makes a process one of the workers of a training."""

from __future__ import annotations

import signal
import socket
import threading

import tensorflow as tf

from tf_charagram.errors import ConfigError
from tf_charagram.optimizers.exchange import ALONE, Exchange
from tf_charagram.training.workers.cluster import Cluster
from tf_charagram.training.workers.local_exchange import LocalExchange
from tf_charagram.training.workers.parent import end_with_parent


def connect(cluster: Cluster | None) -> Exchange:
    """Connects this worker with the others, and waits for them; `TF_CONFIG` is set.

    Workers that were started together on a machine without GPUs have sockets to each other. Else
    TensorFlow's servers connect them.

    Has to come before anything that makes TensorFlow begin to work.

    Args:
        cluster: The workers; `None` for a process that trains alone.

    Raises:
        ConfigError: The port is in use, a socket is not open, or TensorFlow has begun to work.
    """
    if cluster is None:
        return ALONE
    if cluster.sockets and not tf.config.list_physical_devices("GPU"):
        exchange = _linked(cluster)
        end_with_parent(cluster.launcher)
        return exchange
    if cluster.num_local:
        end_with_parent(cluster.launcher)
        _take_gpu(cluster)
    own = cluster.addresses[cluster.rank]
    options = tf.distribute.experimental.CommunicationOptions(
        implementation=tf.distribute.experimental.CommunicationImplementation.RING
    )
    try:
        # Of the strategy, the servers and the watch over each other are used; its variables, which
        # would all be copied in full at each step, are not.
        strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)
    except (tf.errors.OpError, RuntimeError, ValueError) as error:
        reason = str(error).split("\n", 1)[0][:300]
        raise ConfigError(
            f"Worker {cluster.rank} cannot be reached by the others at {own}: {reason}. Is the "
            "port in use, or the name that of another machine? Give others in TF_CONFIG."
        ) from error
    if threading.current_thread() is threading.main_thread():
        # TensorFlow takes SIGTERM for news of a machine that will be gone, and goes on.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    return _Connected(cluster, strategy)


def _linked(cluster: Cluster) -> LocalExchange:
    others = [rank for rank in range(cluster.size) if rank != cluster.rank]
    try:
        sockets = [socket.socket(fileno=number) for number in cluster.sockets]
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"Worker {cluster.rank} has no socket to another one ({error}). `sockets` in TF_CONFIG "
            "is for workers that `--workers` starts. Leave it out."
        ) from error
    return LocalExchange(cluster.rank, dict(zip(others, sockets, strict=True)))


class _Connected(Exchange):
    """Holds the strategy, whose watch over the other workers ends with it."""

    def __init__(self, cluster: Cluster, strategy: tf.distribute.Strategy) -> None:
        super().__init__(cluster.rank, cluster.size)
        self._strategy = strategy


def _take_gpu(cluster: Cluster) -> None:
    """Leaves each worker of a machine a GPU of its own, where there are enough."""
    gpus = tf.config.list_physical_devices("GPU")
    if len(gpus) >= cluster.num_local:
        tf.config.set_visible_devices(gpus[cluster.rank], "GPU")

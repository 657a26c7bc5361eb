"""What workers on one machine give each other, through sockets that they were started with.

TensorFlow's collective operations send what they exchange by gRPC, also to the process beside. For
the vectors of a step that takes several times as much of the processor's time.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Mapping

import numpy as np
import tensorflow as tf

from tf_charagram.optimizers.exchange import Exchange

# Which exchange this is, and its bytes: equal on all workers, or they do not run the same steps.
_HEADER = struct.Struct("<qq")
# Large enough that few exchanges have to wait until another worker reads.
_BUFFER = 4 * 2**20


class LocalExchange(Exchange):
    """The other workers of a training, each at the other end of a socket.

    Args:
        rank: Number of this worker.
        sockets: Those to the others, by their rank, lowest first.

    Attributes:
        num_bytes_sent: How many bytes went to others.
    """

    def __init__(self, rank: int, sockets: Mapping[int, socket.socket]) -> None:
        super().__init__(rank, 1 + len(sockets))
        self.num_bytes_sent = 0
        self._sockets = dict(sockets)
        for each in self._sockets.values():
            each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
        self._turn = tf.Variable(0, trainable=False, dtype=tf.int64)

    def sum(self, values: tf.Tensor) -> tf.Tensor:
        """As for `Exchange`."""
        total = self._in_turn(_added, values)
        total.set_shape(values.shape)
        return total

    def gather(self, values: tf.Tensor) -> tf.Tensor:
        """As for `Exchange`."""
        rows = self._in_turn(np.concatenate, values)
        num_rows = values.shape[0]
        rows.set_shape([None if num_rows is None else self.size * num_rows, *values.shape[1:]])
        return rows

    def _in_turn(
        self, combine: Callable[[list[np.ndarray]], np.ndarray], values: tf.Tensor
    ) -> tf.Tensor:
        """Returns what a function makes of the values of all workers, in their order."""

        def exchanged(own: np.ndarray, turn: np.ndarray) -> np.ndarray:
            return combine(self._of_all(own, int(turn)))

        # One at a time, as they were traced: TensorFlow keeps the order of what uses a variable.
        result = tf.numpy_function(exchanged, [values, self._turn.read_value()], values.dtype)
        with tf.control_dependencies([result]):
            self._turn.assign_add(1)
        return result

    def _of_all(self, own: np.ndarray, turn: int) -> list[np.ndarray]:
        """Sends an array to the others and returns those of all.

        Raises:
            ConnectionError: Another worker has ended.
            RuntimeError: It is at another exchange.
        """
        header = _HEADER.pack(turn, own.nbytes)
        message = header + own.reshape(-1).view(np.uint8).data
        arrays = [own] * self.size
        # Of two the lower one sends first, and both come to those below before those above: nobody
        # waits in a circle. Each call waits for all bytes, for between two calls another thread of
        # Python may be long.
        for rank, each in self._sockets.items():
            if self.rank < rank:
                each.sendall(message)
            received = _received(each, len(message))
            if self.rank > rank:
                each.sendall(message)
            if received[: _HEADER.size].tobytes() != header:
                raise RuntimeError(f"Worker {rank} is at another exchange than worker {self.rank}.")
            arrays[rank] = received[_HEADER.size :].view(own.dtype).reshape(own.shape)
        self.num_bytes_sent += len(message) * len(self._sockets)
        return arrays


def _received(connection: socket.socket, size: int) -> np.ndarray:
    """Returns what comes from another worker, uint8 `(size,)`."""
    received = np.empty(size, np.uint8)
    missing = received.data
    while missing:
        number = connection.recv_into(missing, 0, socket.MSG_WAITALL)
        if not number:
            raise ConnectionResetError("Another worker has ended.")
        missing = missing[number:]
    return received


def _added(arrays: list[np.ndarray]) -> np.ndarray:
    """Returns the sum, in the same order on all workers."""
    total = arrays[0] + arrays[1]
    for array in arrays[2:]:
        total += array
    return np.asarray(total, arrays[0].dtype)

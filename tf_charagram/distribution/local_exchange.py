"""What workers on one machine give each other, through sockets that they were started with.

TensorFlow's collective operations send what they exchange by gRPC, also to the process beside. For
the vectors of a step that takes several times as much of the processor's time.
"""

from __future__ import annotations

import selectors
import socket
import struct
from collections.abc import Callable, Mapping

import numpy as np
import tensorflow as tf

from tf_charagram.distribution.exchange import Exchange

# Which exchange this is, and its bytes: equal on all workers, or they do not run the same steps.
_HEADER = struct.Struct("<qq")
# Large enough that few exchanges have to wait until another worker reads.
_BUFFER = 4 * 2**20


class LocalExchange(Exchange):
    """The other workers of a training, each at the other end of a socket.

    Args:
        rank: Number of this worker.
        sockets: Those to the others, by their rank.

    Attributes:
        num_bytes_sent: How many bytes went to others.
    """

    def __init__(self, rank: int, sockets: Mapping[int, socket.socket]) -> None:
        super().__init__(rank, 1 + len(sockets))
        self.num_bytes_sent = 0
        self._sockets = dict(sockets)
        for each in self._sockets.values():
            each.setblocking(False)
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
        """Sends an array to the others and returns those of all."""
        header = _HEADER.pack(turn, own.nbytes)
        outgoing = header + own.reshape(-1).view(np.uint8).data
        transfers = {rank: _Transfer(outgoing) for rank in self._sockets}
        with selectors.DefaultSelector() as selector:
            for rank, each in self._sockets.items():
                selector.register(each, transfers[rank].awaited, (each, transfers[rank]))
            while selector.get_map():
                for key, events in selector.select():
                    each, transfer = key.data
                    transfer.go_on(each, events)
                    if not transfer.awaited:
                        selector.unregister(each)
                    elif transfer.awaited != key.events:
                        selector.modify(each, transfer.awaited, key.data)
        self.num_bytes_sent += len(outgoing) * len(transfers)
        arrays = [own] * self.size
        for rank, transfer in transfers.items():
            if transfer.received[: _HEADER.size].tobytes() != header:
                raise RuntimeError(f"Worker {rank} is at another exchange than worker {self.rank}.")
            arrays[rank] = transfer.received[_HEADER.size :].view(own.dtype).reshape(own.shape)
        return arrays


class _Transfer:
    """Bytes on their way to another worker, and as many from there.

    Args:
        outgoing: What is sent.

    Attributes:
        received: What has come, uint8 `(len(outgoing),)`.
    """

    def __init__(self, outgoing: bytes) -> None:
        self.received = np.empty(len(outgoing), np.uint8)
        self._unsent, self._missing = memoryview(outgoing), self.received.data

    @property
    def awaited(self) -> int:
        """What is to come yet, as `selectors` has it; 0 when both ways are done."""
        return bool(self._unsent) * selectors.EVENT_WRITE | (
            bool(self._missing) * selectors.EVENT_READ
        )

    def go_on(self, connection: socket.socket, events: int) -> None:
        """Sends and receives what can be at once.

        Raises:
            ConnectionError: The other worker has ended.
        """
        if events & selectors.EVENT_WRITE:
            self._unsent = self._unsent[connection.send(self._unsent) :]
        if events & selectors.EVENT_READ:
            number = connection.recv_into(self._missing)
            if not number:
                raise ConnectionResetError("Another worker has ended.")
            self._missing = self._missing[number:]


def _added(arrays: list[np.ndarray]) -> np.ndarray:
    """Returns the sum, in the same order on all workers."""
    total = arrays[0] + arrays[1]
    for array in arrays[2:]:
        total += array
    return np.asarray(total, arrays[0].dtype)

"""The devices that hold the parts of a table: GPUs, or logical devices of the CPU."""

from __future__ import annotations

import tensorflow as tf

from tf_charagram.errors import ConfigError

#: Holds the whole table, which may be too large for one device.
HOST = "CPU:0"


def table_devices(number: int) -> list[str]:
    """Returns the devices of a table that is cut into parts.

    A machine without GPUs gets logical CPU devices, which share its cores and its memory: there
    the parts show what training on GPUs does, and save nothing.

    Args:
        number: How many parts there are, at least 1.

    Raises:
        ConfigError: There are GPUs, but not enough, or TensorFlow has begun to work with fewer
            logical CPU devices.
    """
    num_gpus = sum(_num_logical(gpu) for gpu in tf.config.list_physical_devices("GPU"))
    if num_gpus:
        if number > num_gpus:
            raise ConfigError(
                f"`table_devices` must be at most the number of GPUs, {num_gpus}. "
                f"Received: table_devices={number}"
            )
        return [f"GPU:{index}" for index in range(number)]
    (cpu,) = tf.config.list_physical_devices("CPU")
    if _num_logical(cpu) < number:
        try:
            tf.config.set_logical_device_configuration(
                cpu, [tf.config.LogicalDeviceConfiguration()] * number
            )
        except RuntimeError as error:
            raise ConfigError(
                f"`table_devices` needs {number} logical CPU devices, and TensorFlow has begun to "
                f"work with {_num_logical(cpu)}. Start a process of its own for this run, such as "
                f"`charagram train --table-devices {number}`."
            ) from error
    return [f"CPU:{index}" for index in range(number)]


def _num_logical(device: tf.config.PhysicalDevice) -> int:
    return len(tf.config.get_logical_device_configuration(device) or [None])

"""The comparison of two trainings: by bits, and by rounding on a machine with a GPU."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tests.commands import assert_same_training

WEIGHTS = np.array([0.5, -0.25, 0.0], np.float32)


def on_devices(monkeypatch, devices):
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: devices)


def test_to_the_bit(monkeypatch):
    on_devices(monkeypatch, [])
    assert_same_training(WEIGHTS.copy(), WEIGHTS)
    for other in (np.nextafter(WEIGHTS, np.float32(1)), WEIGHTS * [1, 1, -1], WEIGHTS[:2]):
        with pytest.raises(AssertionError):
            assert_same_training(other.astype(np.float32), WEIGHTS)


def test_up_to_rounding(monkeypatch):
    on_devices(monkeypatch, ["GPU:0"])
    assert_same_training(WEIGHTS + np.float32(1e-5), WEIGHTS)
    for other in (WEIGHTS + np.float32(1e-3), WEIGHTS[:2]):
        with pytest.raises(AssertionError):
            assert_same_training(other, WEIGHTS)

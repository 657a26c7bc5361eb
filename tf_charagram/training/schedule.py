"""How the weights of a run change: penalties, clipping, and a learning rate that falls."""

from __future__ import annotations

from typing import Any

import keras

from tf_charagram.config import RunConfig


def set_decay(
    optimizer: keras.optimizers.Optimizer, config: RunConfig, updates_per_epoch: int
) -> None:
    """Lets the learning rate of an optimizer fall as the settings say.

    Args:
        optimizer: With the learning rate of the settings.
        config: Settings of the run.
        updates_per_epoch: Steps of the optimizer in an epoch.
    """
    if config.decay == "linear":
        steps = max(1, round(config.epochs * updates_per_epoch))
        optimizer.learning_rate = keras.optimizers.schedules.PolynomialDecay(
            config.learning_rate, steps, end_learning_rate=0.0
        )


def step_options(config: RunConfig) -> dict[str, Any]:
    """Returns what `StepModel.compile` takes from the settings that all runs have."""
    names = ("l2", "l2_words", "l2_composition", "dense_l2", "clip_norm")
    return {name: getattr(config, name) for name in names}

"""The dense layers of encoders and heads."""

from __future__ import annotations

import keras


def make_dense(
    input_dim: int, units: int, *, activation: str, seed: int, name: str
) -> keras.layers.Dense:
    """Makes a built dense layer in float32, its kernel drawn as Glorot and Bengio (2010) do.

    Args:
        input_dim: Width of the inputs.
        units: Width of the outputs.
        activation: Name of the non-linearity.
        seed: Seed of the initial weights.
        name: Name of the layer.
    """
    dense = keras.layers.Dense(
        units,
        activation=activation,
        kernel_initializer=keras.initializers.GlorotUniform(seed=seed),
        name=name,
        dtype="float32",
    )
    dense.build((None, input_dim))
    return dense

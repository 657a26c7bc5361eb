"""What really happens in steps on a GPU, counted in a profile."""

import encoders
import numpy as np
import pytest
import tensorflow as tf

from tests.training.test_compiled import make_model, make_stream, train

pytestmark = pytest.mark.skipif(
    not tf.config.list_physical_devices("GPU"), reason="this machine has no GPU"
)
NUM_STEPS = 400


@pytest.mark.parametrize("name", ["charagram", "dan", "char_cnn"])
def test_a_step_neither_waits_nor_copies(name, tmp_path):
    """One program runs many steps; loss and sizes travel once for each program."""
    stream = make_stream(num_pairs=NUM_STEPS * 4)
    model = make_model(name, l2=0.1, clip_norm=1.0, negatives="mix")
    train(model, stream, NUM_STEPS)
    tf.profiler.experimental.start(str(tmp_path))
    train(model, stream, NUM_STEPS)
    np.asarray(model.trainable_variables[0][:1])
    tf.profiler.experimental.stop()
    facts = encoders.facts_of_profile(tmp_path, NUM_STEPS)
    assert facts["kernels"] > 5
    assert facts["launches"] <= 0.1
    assert facts["to_host"] <= 0.2 and facts["from_host"] <= 0.2

"""How an id and its weight share an int32."""

from __future__ import annotations

import numpy as np

#: Bits of an id; the weight is in the bits above.
WEIGHT_SHIFT = np.int32(24)
#: Larger tables cannot have weights of words.
MAX_WEIGHTED_ROWS = 1 << int(WEIGHT_SHIFT)
#: A weight is a number of these steps, at least one.
STEPS_PER_WEIGHT = 32

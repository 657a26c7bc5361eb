"""Facts about a finished run, whatever it trained."""

from __future__ import annotations

import resource
import sys
import time
from typing import Any

from tf_charagram.training.loop import TrainingLoop


def loop_metrics(loop: TrainingLoop, start: float) -> dict[str, Any]:
    """Returns steps, speed, time and memory.

    Args:
        loop: The finished loop.
        start: When the run began, by `time.perf_counter()`.
    """
    last = loop.folder.read_history()[-1]
    return {
        "steps": loop.step,
        "updates": int(loop.model.optimizer.iterations.numpy()),
        f"{loop.stream.unit}_per_second": round(last["examples"] / max(last["seconds"], 1e-9), 1),
        "training_seconds": last["seconds"],
        "seconds": round(time.perf_counter() - start, 2),
        "peak_memory_mb": peak_memory_mb(),
    }


def peak_memory_mb() -> float:
    """Returns the largest resident size of this process so far, in MB (10^6 bytes)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak * (1 if sys.platform == "darwin" else 1024) / 1e6, 1)

"""What a machine is, so that numbers of two are not taken for those of one."""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import version
from pathlib import Path

_PACKAGES = ("tensorflow", "keras", "numpy", "tf-charagram")


def _read(path: str) -> str:
    file = Path(path)
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def describe() -> dict[str, str]:
    """Returns cores, processor, memory, system and versions."""
    model = re.search(r"model name\s*: (.+)", _read("/proc/cpuinfo"))
    memory = re.search(r"MemTotal:\s*(\d+) kB", _read("/proc/meminfo"))
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "cores": str(usable),
        "processor": model[1] if model else platform.processor() or platform.machine(),
        "memory": f"{int(memory[1]) / 2**20:.0f} GiB" if memory else "unknown",
        "system": platform.system(),
        "python": platform.python_version(),
        **{name: version(name) for name in _PACKAGES},
    }


def load() -> float | None:
    """Returns the load average of the last minute, if known."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None

"""What a process takes until it has embedded a line: TensorFlow's import, and what comes on top.

    python benchmarks/startup.py [--model english] [--cold]

Every step runs in processes of its own, in turn with one that only imports TensorFlow, and with it
Keras. What is printed are medians: of seconds and processor seconds, and of how much more they are
than those of the import in the same round. --cold drops the page cache before each process, which
Linux lets root do.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import common
import numpy as np

_DROP = Path("/proc/sys/vm/drop_caches")
_BASE = "import tensorflow"
_LOAD = "from tf_charagram import TextEmbedder as T; model = T.load({model!r})"
#: What is run, by its name.
STEPS = {
    _BASE: ("-c", "import tensorflow"),
    "a first operation": ("-c", "import tensorflow as tf; tf.constant(1) + 1"),
    "import tf_charagram": ("-c", "import tensorflow, tf_charagram"),
    "TextEmbedder": ("-c", "import tensorflow; from tf_charagram import TextEmbedder"),
    "load": ("-c", _LOAD),
    "load, encode": ("-c", _LOAD + "; model.encode(['a line'])"),
    "charagram embed": ("-m", "tf_charagram.cli", "embed", "{model}"),
    "without TensorFlow": ("-m", "tf_charagram.cli", "embed", "--help"),
}


def run(arguments: list[str], *, is_cold: bool) -> tuple[float, float]:
    """Runs Python on a line of standard input; returns seconds, and processor seconds."""
    if is_cold:
        os.sync()
        _DROP.write_text("3\n", encoding="ascii")
    with tempfile.TemporaryFile() as line:
        line.write(b"a line\n")
        line.seek(0)
        start = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, *arguments], stdin=line,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
    if status:
        raise SystemExit(f"{' '.join(arguments)} failed: run it by itself")
    return seconds, usage.ru_utime + usage.ru_stime


def measure(options: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Returns the medians of each step."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in STEPS}
    for _ in range(options.rounds):
        for name, arguments in STEPS.items():
            filled = [argument.format(model=options.model) for argument in arguments]
            times[name].append(run(filled, is_cold=options.cold))
    base, result = np.array(times[_BASE]), {}
    for name, pairs in times.items():
        medians = [*np.median(pairs, axis=0), *np.median(np.array(pairs) - base, axis=0)]
        names = ("seconds", "processor_s", "more_seconds", "more_processor_s")
        result[name] = {key: round(value, 3) for key, value in zip(names, medians, strict=True)}
    return result


def main() -> None:
    """Runs the benchmark."""
    parser = common.make_parser(__doc__)
    parser.add_argument("--model", default="english")
    parser.add_argument("--cold", action="store_true", help="drop the page cache before each")
    options = parser.parse_args()
    result = measure(options)
    print(f"{'':20} {'seconds':>9} {'processor':>9} {'more':>9} {'processor':>9}")
    for name, row in result.items():
        print(f"{name:20}" + "".join(f" {value:9.3f}" for value in row.values()))
    common.finish("startup", {"model": options.model, "is_cold": options.cold, **result})


if __name__ == "__main__":
    main()

"""Measures a SavedModel in a process of its own, which it may end."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from tf_charagram.export.check import probe
from tf_charagram.files.writing import temporary_folder

_TIMEOUT_S = 1800


def measure_in_process(runtime: str, request: dict[str, Any]) -> dict[str, Any]:
    """Returns what `probe.measure` does there, or `{"error"}` if the process does not end well.

    Args:
        runtime: `"tensorflow"` or `"c_library"`.
        request: As `probe.measure` takes it, and `folder`, that of the SavedModel, and `libraries`,
            Python packages that bring operations it needs.
    """
    with temporary_folder() as folder:
        asked, answered = folder / "request.json", folder / "answer.json"
        asked.write_text(json.dumps(request), encoding="utf-8")
        # `-P`: the folder of the program must not be imported from.
        command = [sys.executable, "-P", probe.__file__, runtime, str(asked), str(answered)]
        try:
            ended = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                errors="replace", timeout=_TIMEOUT_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return {"error": f"No answer within {_TIMEOUT_S} s."}
        if ended.returncode or not answered.is_file():
            lines = ended.stderr.strip().splitlines() or ["no message"]
            return {"error": f"The process ended with status {ended.returncode}: {lines[-1]}"}
        answer: dict[str, Any] = json.loads(answered.read_text(encoding="utf-8"))
        return answer

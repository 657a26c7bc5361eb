"""What a campaign prints, logs and keeps."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from tests.campaigns.fuzz.watch import Findings

_WIDTH = 26


def line(findings: Findings) -> str:
    """Returns the row of a target in the table."""
    counts = dict(findings.counts)
    results = counts.pop("result", 0)
    errors = ", ".join(f"{number:,} {name}" for name, number in sorted(counts.items()))
    return (
        f"{findings.target:{_WIDTH}}{sum(findings.counts.values()):>11,}"
        f"{findings.num_bytes:>15,}{results:>11,}{findings.worst_s:>8.2f}"
        f"{findings.peak_bytes / 1e6:>9,.0f}{findings.seconds:>8,.0f}  {errors}"
    )


def header() -> str:
    """Returns what stands above the table."""
    return (
        f"{'target':{_WIDTH}}{'cases':>11}{'bytes':>15}{'results':>11}{'worst s':>8}{'peak MB':>9}"
        f"{'seconds':>8}  errors"
    )


def total(all_findings: Sequence[Findings]) -> str:
    """Returns the last row, the sum."""
    whole = Findings("all")
    for findings in all_findings:
        whole.counts.update(findings.counts)
        whole.num_bytes += findings.num_bytes
        whole.worst_s = max(whole.worst_s, findings.worst_s)
        whole.peak_bytes = max(whole.peak_bytes, findings.peak_bytes)
        whole.seconds += findings.seconds
    return line(whole)


def save_problems(findings: Findings, folder: Path) -> list[str]:
    """Writes each case that is wrong into a file; returns a line for each."""
    lines = []
    for problem, case in findings.problems:
        path = folder / findings.target / hashlib.sha256(case).hexdigest()[:12]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(case)
        lines.append(f"  {path}: {problem}")
    return lines


def log(findings: Findings, path: Path) -> None:
    """Adds a line of JSON to the log."""
    record = {
        "target": findings.target,
        "cases": sum(findings.counts.values()),
        "bytes": findings.num_bytes,
        "outcomes": findings.counts,
        "worst_s": round(findings.worst_s, 3),
        "peak_mb": round(findings.peak_bytes / 1e6),
        "seconds": round(findings.seconds, 1),
        "problems": [problem for problem, _ in findings.problems],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")

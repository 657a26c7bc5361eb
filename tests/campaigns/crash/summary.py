"""What came of all rounds, as a table."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from tests.campaigns.crash.deaths import WAYS
from tests.campaigns.crash.rounds import RIVAL

Record = dict[str, Any]


def read_records(path: Path) -> list[Record]:
    """Returns the records of a log, if there is one; a last line that was cut short is left out."""
    if not path.exists():
        return []
    records = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    return records


def summary(records: list[Record]) -> str:
    """Returns a table of scenarios and deaths, and totals below it, as Markdown.

    A death counts if the process had not come to its end before, and for a second process in a
    folder if it was refused.
    """
    names = sorted({record["scenario"] for record in records})
    ways = [*WAYS, RIVAL]
    died: Counter[tuple[str, str]] = Counter()
    for record in records:
        for death in record["deaths"]:
            died[record["scenario"], death["way"]] += bool(death["died"])
    results = Counter((record["scenario"], record["result"]) for record in records)
    rows = [["scenario", "rounds", *ways, "lost", "different"]]
    for name in names:
        rounds = sum(record["scenario"] == name for record in records)
        rows.append([name, rounds, *(died[name, way] for way in ways),
                     results[name, "lost"] + results[name, "broken"],
                     results[name, "different"]])  # fmt: skip
    rows.append(["all", *map(sum, zip(*(row[1:] for row in rows[1:]), strict=True))])
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    lines.insert(1, "|---|" + "---:|" * (len(rows[0]) - 1))
    return "\n".join(lines)

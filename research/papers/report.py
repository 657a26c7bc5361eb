"""The page of all saved results, `research/papers.md`."""

from __future__ import annotations

from pathlib import Path

from research.analysis.table import markdown
from research.papers.catalog import ENTRIES, PAPERS
from research.papers.making import read_result, result_file
from research.papers.result import VERDICTS

_INTRODUCTION = (
    "Every table and figure of three papers, made with the data and the time at hand: our number, "
    "and the paper's in parentheses; the paper's alone if a run was not trained. "
    "`python -m research papers --list` lists them; `python -m research papers NAME --data FOLDER` "
    "makes one again."
)
#: Maximum number of runs that a note names, after the first.
_MAX_RUNS = 7


def page(results: Path) -> str:
    """Returns the page as Markdown.

    Args:
        results: Folder of the results.

    Raises:
        RunError: A result is damaged.
    """
    parts = ["# The papers' tables and figures", _INTRODUCTION]
    for paper, title in PAPERS.items():
        parts.append(f"## {title}")
        for entry in (entry for entry in ENTRIES.values() if entry.name.startswith(f"{paper}/")):
            parts.append(f"### {entry.name}: {entry.shows}")
            if entry.quotes_data:
                parts.append("It quotes evaluation sets, so that only its command shows it.")
                continue
            path = result_file(results, entry.name)
            if not path.is_file():
                parts.append("Not made yet.")
                continue
            result = read_result(path)
            table = result.beside
            parts.append(f"{table.title}.")
            parts.append(markdown(table, result.is_numeric).rstrip())
            verdicts = [f"{VERDICTS[holds]}: {claim}." for claim, holds in result.claims.items()]
            if notes := [*verdicts, *table.notes, *result.differences]:
                parts.append("\n".join(f"* {_plain(note)}" for note in notes))
    return "\n\n".join(parts) + "\n"


def _plain(sentence: str) -> str:
    first, *others = sentence.split(", ")
    if len(others) > _MAX_RUNS and ": " in others[-1]:  # a note on the epochs of many runs
        sentence = f"{first} and {len(others)} others: {others[-1].rpartition(': ')[2]}"
    return " ".join(sentence.split()).replace("<", "&lt;")

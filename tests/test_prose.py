"""Phrases that native engineers do not write; `CONTRIBUTING.md` says what they do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
#: Phrase to avoid -> a better one.
PATTERNS = {
    r"(Returns|Says|Shows|Gives|Has|Tells) (what|which|how|those) ": "a noun after the verb",
    r"\bwhat (is|are|was|were|it|they|a|an|the|one|no|there)\b": "a noun",
    r"\b(is|are|has|have|with|of) none\b": "`is not a ...`, `without ...`",
    r"\b_?(MOST|LEAST|LARGEST|FEWEST|LONGEST)_": "MAX_, MIN_ or NUM_",
    r"\banew\b|\bnobody\b|[Ww]hoever\b|\bby lot\b": "again, no process, anyone who, at random",
}
FOLDERS = (
    "tf_charagram",
    "search",
    "tuning",
    "export",
    "benchmarks",
    "recipes",
    "docs",
    "tests",
    "research",
)
#: Lines that may match in all: some sentences are right as they are.
ALLOWED = 15


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="not a checkout")
def test_phrases():
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    for folder in FOLDERS:
        files += (ROOT / folder).rglob("*.py")
        files += (ROOT / folder).rglob("*.md") if folder != "research" else ()  # Lab notes.
    files.remove(Path(__file__))
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()} -> {better}"
        for path in sorted(files)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for pattern, better in PATTERNS.items()
        if re.search(pattern, line)
    ]
    assert len(found) <= ALLOWED, "\n".join(found)

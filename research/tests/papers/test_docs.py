"""`docs/papers.md` is what the saved results give."""

from __future__ import annotations

from pathlib import Path

import pytest

from research.papers.catalog import ENTRIES
from research.papers.report import sections, to_markdown

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.skipif(not (DOCS / "papers").is_dir(), reason="not a checkout")
def test_the_page_is_made_from_the_results():
    pages = sections(DOCS / "papers", with_pictures=False)
    text = (DOCS / "papers.md").read_text(encoding="utf-8")
    assert text == to_markdown(pages), "charagram papers report --runs docs/papers"


@pytest.mark.skipif(not (DOCS / "papers").is_dir(), reason="not a checkout")
def test_no_text_of_an_evaluation_set_is_kept():
    quoting = [name.replace("/", "-") for name, entry in ENTRIES.items() if entry.quotes_data]
    kept = {path.stem for path in (DOCS / "papers" / "results").iterdir()}
    assert quoting and not kept & set(quoting)

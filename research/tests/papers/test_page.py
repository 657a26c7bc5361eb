"""`research/papers.md` is made from the saved results."""

from __future__ import annotations

import json
from pathlib import Path

from research.__main__ import main
from research.analysis.table import Table
from research.papers.catalog import ENTRIES

RESEARCH = Path(__file__).parents[2]


def test_the_page_is_made_from_the_results(tmp_path):
    assert main(["papers", "--page", str(tmp_path / "papers.md")]) == 0
    assert (tmp_path / "papers.md").read_bytes() == (RESEARCH / "papers.md").read_bytes()


def test_no_text_of_an_evaluation_set_is_kept():
    quoting = [name.replace("/", "-") for name, entry in ENTRIES.items() if entry.quotes_data]
    kept = {path.stem for path in (RESEARCH / "results").iterdir()}
    assert quoting and not kept & set(quoting)


def test_unmade_and_damaged_results(tmp_path, capsys):
    table = Table("T", ("set", "m"), (("a", 1.0),)).to_dict()
    rest = {"paper": None, "claims": {}, "differences": []}
    path = tmp_path / "charagram-table-1.json"
    path.write_text(json.dumps({"ours": table, **rest}))
    flags = ["papers", "--page", str(tmp_path / "page.md"), "--results", str(tmp_path)]
    assert main(flags) == 0
    text = (tmp_path / "page.md").read_text()
    assert "| a | 1.0 |" in text and "Not made yet." in text
    path.write_text("{")
    assert main(flags) == 1
    assert f"{path} is damaged" in capsys.readouterr().err

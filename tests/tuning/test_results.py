"""The tables of a search."""

from __future__ import annotations

from tf_charagram.tuning.results import Result, write_tables


def test_bars_in_names_and_reasons_do_not_end_a_cell(search, folder):
    results = [
        Result("0", "completed", search.combination(0), 31.5, {"left|right": 31.5}, 1.0, 12.4),
        Result("1", "failed", search.combination(1), reason="a|b\nis not a path"),
    ]
    write_tables(search, folder, results)
    header, rule, *rows = (folder.path / "results.md").read_text(encoding="utf-8").splitlines()
    num_cells = rule.count("|")
    assert "score.left\\|right" in header and "a\\|b is not a path" in rows[1]
    for line in (header, *rows):
        assert line.replace("\\|", "").count("|") == num_cells

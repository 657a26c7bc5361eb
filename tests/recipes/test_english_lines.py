"""The training lines and the dictionary of `english`."""

from __future__ import annotations

import sys

from recipes.english_lines import main


def test_lines_and_words(tmp_path, monkeypatch):
    (tmp_path / "texts.txt").write_text(
        "The road.\nthe roda, the road\nroad roda roda x2 recieve recieve recieve\n"
        "caf\u00e9 caf\u00e9 caf\u00e9 \u03c3s \u03c3s \u03c3s\n",
        encoding="utf-8",
    )
    (tmp_path / "misspelled.txt").write_text("recieve\n")
    (tmp_path / "pairs.tsv").write_text("a street\ta road\n")
    (tmp_path / "misspellings.tsv").write_text("roda\troad\nthe\tthen\nthen\tthe\n")
    names = {name: str(tmp_path / name) for name in ("lines.txt", "words.tsv")}
    monkeypatch.setattr(sys, "argv", [
        "english_lines.py", names["lines.txt"], "--texts", str(tmp_path / "texts.txt"),
        "--pairs", str(tmp_path / "pairs.tsv"), "--words", names["words.tsv"],
        "--misspellings", str(tmp_path / "misspellings.tsv"),
        "--misspelled", str(tmp_path / "misspelled.txt"),
    ])  # fmt: skip
    main()
    lines = (tmp_path / "lines.txt").read_text(encoding="utf-8").splitlines()
    texts = [
        "The road.",
        "the roda, the road",
        "road roda roda x2 recieve recieve recieve",
        "caf\u00e9 caf\u00e9 caf\u00e9 \u03c3s \u03c3s \u03c3s",
        "a street",
        "a road",
    ]
    assert sorted(lines) == sorted([*texts, "the", "road", "roda", "recieve", "caf"])
    # "roda" is a wrong form alone, "recieve" is listed, "x2" has a digit, and sigma is not Latin.
    words = (tmp_path / "words.tsv").read_text(encoding="utf-8")
    assert words == "caf\u00e9\t3\nroad\t3\nthe\t3\n"

"""What the commands of the campaign read: small files, made by a seed."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np

from tests.texts import words, write_pairs, write_scored

_DIM = 8
_NUM_LINES = 1500


def write_inputs(folder: Path) -> None:
    """Writes pairs, sets to score on, sentences, tagged sentences, and lines with vectors."""
    draw = random.Random(0)
    write_pairs(folder / "pairs.tsv", 1500)
    write_scored(folder / "scored.tsv", 40)
    nouns = words(60, 1)
    sentences = [
        (f"the {noun} {verb} the {other}", f"a {noun} {same} the {other}s")
        for noun in nouns
        for verb, same in (("sees", "watches"), ("leaves", "quits"))
        for other in draw.sample(nouns, 6)
    ]
    _write(folder / "sentences.tsv", (f"{first}\t{second}" for first, second in sentences))
    _write(
        folder / "graded.tsv",
        (
            f"{first}\t{draw.choice(sentences)[1]}\t{5 * draw.random():.2f}"
            for first, _ in sentences[:60]
        ),
    )
    _write(
        folder / "tagged.tsv",
        (
            f"the\tDT\n{noun}\tNN\n{draw.choice(['runs', 'sees', 'slept'])}\tVB\n"
            for noun in nouns * 3
        ),
    )
    lines = [" ".join(draw.choices(nouns, k=draw.randint(1, 6))) for _ in range(_NUM_LINES)]
    _write(folder / "lines.txt", lines)
    np.save(folder / "vectors.npy", vectors_of(lines))


def _write(path: Path, lines: Any) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def vectors_of(texts: list[str]) -> np.ndarray:
    """Returns vectors that follow from the letters of texts."""
    counts = [[text.count(letter) for letter in "abcdefghijklmnoprstuvwxyz"] for text in texts]
    mix = np.random.default_rng(0).normal(size=(25, _DIM))
    return (np.asarray(counts, np.float32).reshape(-1, 25) @ mix).astype(np.float32)

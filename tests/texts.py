"""Texts that a model must take without complaint, and small sets of pairs to train on."""

from __future__ import annotations

import random
from pathlib import Path

NASTY: dict[str, str | bytes] = {
    "empty": "",
    "one_char": "a",
    "spaces": " \t ",
    "nul": "a\0b\0",
    "nul_alone": b"\0",
    "broken": b"caf\xe9 \xff\xfe\xc3",
    "cut_short": "caf\N{LATIN SMALL LETTER E WITH ACUTE}".encode()[:-1],
    "overlong": b"\xc0\xaf\xed\xa0\x80\xf5\x80\x80\x80",
    "lone_surrogate": "a\ud800b\udfff",
    "emoji": "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL} \N{THUMBS UP SIGN}\U0001f3fd",
    "right_to_left": "\u05e9\u05dc\u05d5\u05dd \u202e\u0645\u0631\u062d\u0628\u0627",
    "cjk": "\u4f60\u597d\u3000\u4e16\u754c",
    "combining": "e" + "\u0301" * 50,
    "crlf": "two words\r\n",
    "lines": "a\nb\r\nc\u2028d\u0085e",
    "bom": "\ufeffcat",
    "not_a_character": "\uffff\U0010ffff",
    "markup": "%s {0} [bold] \\N ${HOME}",
    "long": "cat dog " * 131_072,
    "long_word": "x" * 50_000,
    "long_broken": b"\xff" * 50_000,
}


def words(number: int, seed: int = 0) -> list[str]:
    """Returns distinct words that can be spoken."""
    draw = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < number:
        syllables = (draw.choice("bcdfghklmnprst") + draw.choice("aeiou") for _ in range(3))
        found["".join(syllables)] = None
    return list(found)


def write_pairs(path: Path, number: int = 60, seed: int = 0) -> Path:
    """Writes words with their inflected forms, two columns."""
    lines = (
        f"{word}\t{word}{ending}\n"
        for word, ending in zip(words(number, seed), ["s", "ed", "ing"] * number, strict=False)
    )
    path.write_text("text1\ttext2\n" + "".join(lines), encoding="utf-8")
    return path


def write_scored(path: Path, number: int = 24, seed: int = 0) -> Path:
    """Writes a word similarity set: inflected forms score high, strangers low."""
    chosen = words(2 * number, seed)
    lines = [
        f"{chosen[i]}\t{chosen[i] + 's' if i % 2 else chosen[-1 - i]}\t{9 * (i % 2) + i / 50}\n"
        for i in range(number)
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return path

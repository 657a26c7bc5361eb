r"""Collects the lines that `english` learns from its teacher, and the words that it knows.

    python recipes/english_lines.py lines.txt --texts texts/*.txt.gz --pairs pairs/*.tsv.gz \
        --words words.tsv --misspellings misspellings.tsv --misspelled misspelled.txt

Distinct lines of the texts, both sides of the pairs, and the 120,000 most frequent words of the
texts, in random order, cut after 400 characters; at most 150,000 lines of each file of texts. And
the words of Latin letters that the texts have three times or more, with their counts, most frequent
first, without those that the list of misspellings has as wrong forms alone, and those of a list
that a person looked through.
"""

from __future__ import annotations

import argparse
import random
import re
import unicodedata
from collections import Counter
from pathlib import Path

from tf_charagram.data._tables.lines import read_lines
from tf_charagram.data.readers.misspellings import read_misspellings
from tf_charagram.data.readers.pairs import read_pairs
from tf_charagram.text._algorithm.word_boundaries import words_of

_WORD = re.compile(r"[a-z][a-z'-]+")
_NUM_WORDS = 120_000
_MAX_LINES = 150_000
_LONGEST = 400
_FEWEST = 3


def main() -> None:
    """Writes the lines."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", help="file to write")
    parser.add_argument("--texts", nargs="+", required=True, help="files of texts, one per line")
    parser.add_argument("--pairs", nargs="+", default=[], help="files of paraphrase pairs")
    parser.add_argument("--words", required=True, help="file of words and counts to write")
    parser.add_argument("--misspellings", required=True, help="wrong and right forms of words")
    parser.add_argument("--misspelled", required=True, help="words that are no words, one a line")
    parser.add_argument("--number", type=int, help="number of lines [all]")
    parser.add_argument("--seed", type=int, default=0, help="seed of the order")
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    words: Counter[str] = Counter()
    known: Counter[str] = Counter()
    kept: dict[str, None] = {}
    for path in arguments.texts:
        lines = [line for _, line in read_lines(path) if line.strip()]
        for line in lines:
            words.update(_WORD.findall(line.lower()))
        known.update(filter(_is_latin, words_of(lines)))
        if len(lines) > _MAX_LINES:
            lines = draw.sample(lines, _MAX_LINES)
        kept.update(dict.fromkeys(line[:_LONGEST] for line in lines))
    for path in arguments.pairs:
        for pair in read_pairs(path, header=False, on_bad_line="skip"):
            kept.update(dict.fromkeys(text[:_LONGEST] for text in pair if text.strip()))
    kept.update(dict.fromkeys(word for word, _ in words.most_common(_NUM_WORDS)))
    lines = list(kept)
    draw.shuffle(lines)
    text = "".join(f"{line}\n" for line in lines[: arguments.number])
    Path(arguments.out).write_text(text, encoding="utf-8")
    misspellings = [*read_misspellings(arguments.misspellings)]
    wrong = {misspelling.wrong.lower() for misspelling in misspellings}
    wrong -= {right.lower() for misspelling in misspellings for right in misspelling.right}
    wrong.update(word for _, word in read_lines(arguments.misspelled))
    listed = sorted((-count, word) for word, count in known.items() if word not in wrong)
    text = "".join(f"{word}\t{-count}\n" for count, word in listed if -count >= _FEWEST)
    Path(arguments.words).write_text(text, encoding="utf-8")


def _is_latin(word: str) -> bool:
    """Returns whether a word has no letters of other scripts, as the symbols of a formula do."""
    names = (unicodedata.name(char, "") for char in word if not char.isascii())
    return all(name.startswith(("LATIN ", "MODIFIER ")) for name in names)


if __name__ == "__main__":
    main()

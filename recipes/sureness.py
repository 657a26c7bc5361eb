"""Fits how sure a model is of the readings of unknown words, for `ship.py --sureness`.

    python recipes/sureness.py english sureness.txt --misspellings misspellings.tsv \
        --headwords glosses.tsv.gz ... --terms software.txt ... --texts texts/*.gz

A logistic regression tells words that are wrong, and are read as the words meant, from others.
Wrong words are known misspellings, and words of texts with a typo, another first letter, without
vowels, with letters that look alike, or joined. Right words are technical terms and headwords
outside the dictionary, acronyms of the texts, and rare words of the dictionary, a third at a time,
read as the words of the other two thirds.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from string import ascii_lowercase
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tf_charagram._files.writing import whole_file
from tf_charagram.data._tables.lines import read_lines
from tf_charagram.data.readers.misspellings import read_misspellings
from tf_charagram.data.typos import KINDS, add_typos
from tf_charagram.models._storage.stored_model import read_dictionary
from tf_charagram.text._algorithm import arrays
from tf_charagram.text._algorithm.word_boundaries import words_of
from tf_charagram.text._spelling.candidates import CandidateTable
from tf_charagram.text._spelling.letters import DIGITS, MAX_LETTERS, MIN_LETTERS, spelled
from tf_charagram.text._spelling.patterns import Patterns
from tf_charagram.text._spelling.sureness import (
    NUM_ERRORS,
    NUM_WEIGHTS,
    UNITS,
    letter_numbers,
    log_triples,
    triples_of,
)
from tf_charagram.text._spelling.word_filter import joined_codes, letter_values

_NUM_FOLDS = 3
_NUM_WORDS = 6_000
# More frequent words of a dictionary are not like the words that it lacks.
_MAX_LOG_COUNT = 9.0
# Sums of the weights of the examples of each source.
_SHARES = {
    "hidden": 0.3,
    "headwords": 0.3,
    "acronyms": 0.12,
    "terms": 0.12,
    "misspellings": 0.4,
    "typos": 0.4,
    "first letters": 0.04,
    "ocr": 0.05,
    "vowels": 0.1,
    "joined": 0.08,
}
_RIGHT = ("hidden", "headwords", "acronyms", "terms")
# A word in capitals at least twice, and in this share of its occurrences, is an acronym.
_CAPITALS_SHARE = 0.7
_NUM_ASCII = 128
_RIDGE = 1e-4
_NUM_STEPS = 30
_LOOK_ALIKES = str.maketrans(DIGITS)
_DIGITS = "".join(DIGITS)
_READABLE = re.compile(
    f"(?![{_DIGITS}]{{2}})[a-z{_DIGITS}]{{{MIN_LETTERS},{MAX_LETTERS}}}(?<![{_DIGITS}])"
)
_PHRASE = re.compile(r"(?<!\S)[a-z]+ [a-z]+(?![^\s,.])")
_WORD = re.compile(r"(?<!\S)[a-z]{4,16}(?![^\s,.])")
_ANY_WORD = re.compile("[A-Za-z]{4,6}")


class _Examples(NamedTuple):
    """Words that are read as others.

    Attributes:
        features: `(num_words, NUM_WEIGHTS)`.
        is_meant: Whether each is wrong, and read as the word meant, bool `(num_words,)`.
        weights: float `(num_words,)`.
    """

    features: NDArray[np.float64]
    is_meant: NDArray[np.bool_]
    weights: NDArray[np.float64]


class _Readings:
    """Reads words as those of a part of a dictionary."""

    def __init__(self, words: Sequence[str], log_counts: NDArray[np.float32]) -> None:
        codes, splits, kept = spelled(list(words), np.arange(_NUM_ASCII))
        self.words = [words[index] for index in kept.tolist()]
        self._patterns = Patterns(letter_values(codes), splits, log_counts[kept])
        self._candidates = CandidateTable(self._patterns, arrays)
        self._log_triples = log_triples(letter_numbers(codes), splits)

    def of(self, words: Sequence[str]) -> tuple[list[str], NDArray[np.float64]]:
        """Returns the reading of each word, empty for none, and its features."""
        codes = np.zeros((len(words), MAX_LETTERS + 1), np.uint32)
        for row, word in enumerate(words):
            codes[row, : len(word)] = joined_codes([word.translate(_LOOK_ALIKES)])
        values = np.where(codes > 0, letter_values(codes), 0)
        has_digits = np.array([not word.isalpha() for word in words], bool)
        rows, errors = self._candidates.readings(values, has_digits)
        lengths = np.count_nonzero(codes, axis=1)
        triples, is_counted = triples_of(arrays, letter_numbers(codes), lengths)
        letters = np.where(is_counted, self._log_triples[triples], 0).sum(axis=1)
        shares = self._patterns.log_probabilities[rows].sum(axis=1)
        features = np.zeros((len(words), NUM_WEIGHTS))
        features[np.arange(len(words)), errors] = 1
        features[:, NUM_ERRORS:] = np.stack([shares, letters, 1 / lengths], axis=1)
        readings = []
        for parts in rows.tolist():
            read = [self.words[row] for row in parts if row < len(self.words)]
            readings.append(" ".join(read))
        return readings, features


def _pairs(
    texts: Sequence[str], pattern: re.Pattern[str], change: Callable[[str], str]
) -> Iterator[tuple[str, str]]:
    """Yields words or phrases of texts with an error, each with the right form."""
    for text in texts:
        for right in pattern.findall(text.lower()):
            yield change(right), right


def _acronyms(texts: Iterable[str]) -> list[str]:
    """Returns words of four to six letters that texts with small letters write in capitals."""
    counts: Counter[str] = Counter()
    capital_counts: Counter[str] = Counter()
    for text in texts:
        if text != text.upper():
            words = _ANY_WORD.findall(text)
            counts.update(word.lower() for word in words)
            capital_counts.update(word.lower() for word in words if word.isupper())
    return [
        word
        for word, count in capital_counts.items()
        if count > 1 and count >= _CAPITALS_SHARE * counts[word]
    ]


def _other_first_letter(word: str, random: np.random.Generator) -> str:
    others = ascii_lowercase.replace(word[0], "")
    return others[int(random.integers(len(others)))] + word[1:]


def _usable(
    readings: _Readings, source: str, pairs: Sequence[tuple[str, str]], known: set[str]
) -> list[tuple[str, str]]:
    """Returns the first pairs whose form is unknown, and whose meaning is known if it is wrong."""
    visible = {*readings.words}
    # A hidden word is unknown, but a typo that makes a word of another one is not.
    excluded = visible if source in _RIGHT else known
    usable = []
    for word, meant in pairs:
        is_usable = source in _RIGHT or all(part in visible for part in meant.split())
        if is_usable and word not in excluded and _READABLE.fullmatch(word):
            usable.append((word, meant))
    return usable[:_NUM_WORDS]


def _examples(readings: _Readings, pairs: Sequence[tuple[str, str]], weight: float) -> _Examples:
    """Reads pairs of a form and the form meant, whose weights sum to `weight`."""
    read, features = readings.of([word for word, _ in pairs])
    is_meant = [
        word != meant == reading for (word, meant), reading in zip(pairs, read, strict=True)
    ]
    is_read = np.array([reading != "" for reading in read])
    weights = np.full(len(pairs), weight / len(pairs))
    return _Examples(features[is_read], np.array(is_meant)[is_read], weights[is_read])


def _sources(
    arguments: argparse.Namespace, hidden: list[str], seed: int
) -> dict[str, list[tuple[str, str]]]:
    """Returns pairs of a form and the form meant, which is the same for right words."""
    lines = [line for path in arguments.texts for _, line in read_lines(path)]
    shuffle = random.Random(seed).shuffle
    acronyms = _acronyms(lines)
    shuffle(lines)
    lines = lines[: 4 * _NUM_WORDS]
    generator = np.random.default_rng(seed)
    changes = {name: partial(KINDS[name], random=generator) for name in ("ocr", "vowels", "joined")}
    changes["first letters"] = partial(_other_first_letter, random=generator)
    sources = {
        name: list(_pairs(lines, _PHRASE if name == "joined" else _WORD, change))
        for name, change in changes.items()
    }
    sources["typos"] = list(_pairs(lines, _WORD, partial(add_typos, num_edits=1, random=generator)))
    misspellings = read_misspellings(arguments.misspellings)
    sources["misspellings"] = [(item.wrong.lower(), item.right[0].lower()) for item in misspellings]
    entries = {line.split("\t")[0] for path in arguments.headwords for _, line in read_lines(path)}
    wrong = {form for form, _ in sources["misspellings"]}
    sources["headwords"] = [(word, word) for word in sorted(entries - wrong)]
    sources["hidden"] = [(word, word) for word in hidden if word not in wrong]
    terms = {*words_of(line for path in arguments.terms for _, line in read_lines(path))}
    sources["terms"] = [(word, word) for word in sorted(terms - wrong)]
    sources["acronyms"] = [(word, word) for word in acronyms if word not in wrong]
    for pairs in sources.values():
        shuffle(pairs)
    return sources


def fitted(
    features: NDArray[np.float64], is_meant: NDArray[np.bool_], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Returns the weights of a logistic regression, by Newton's method.

    Args:
        features: `(num_words, num_features)`.
        is_meant: The outcomes, `(num_words,)`.
        weights: The weights of the words, `(num_words,)`.
    """
    scales = np.sqrt((features**2).mean(axis=0)) + 1e-9
    scaled = features / scales
    ridge = _RIDGE * weights.sum() * np.eye(features.shape[1])
    fit = np.zeros(features.shape[1])
    for _ in range(_NUM_STEPS):
        probabilities = 1 / (1 + np.exp(-scaled @ fit))
        slope = scaled.T @ (weights * (is_meant - probabilities)) - ridge @ fit
        curvature = (scaled.T * (weights * probabilities * (1 - probabilities))) @ scaled + ridge
        fit += np.linalg.solve(curvature, slope)
    return fit / scales


def main() -> None:
    """Writes the weights, in thousandths."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", help="a model with a dictionary")
    parser.add_argument("out", help="file to write, one weight per line")
    parser.add_argument("--misspellings", required=True, help="wrong and right forms of words")
    parser.add_argument("--headwords", nargs="+", required=True, help="files; first column")
    parser.add_argument("--terms", nargs="+", default=[], help="files of technical terms")
    parser.add_argument("--texts", nargs="+", required=True, help="files, one text per line")
    arguments = parser.parse_args()
    dictionary = read_dictionary(arguments.model)
    if dictionary is None:
        raise SystemExit("The model has no dictionary.")
    words = np.array(dictionary.words)
    known = {*dictionary.words}
    folds = np.random.default_rng(0).integers(_NUM_FOLDS, size=len(words))
    examples = []
    for fold in range(_NUM_FOLDS):
        is_hidden = folds == fold
        readings = _Readings(words[~is_hidden].tolist(), dictionary.log_counts[~is_hidden])
        is_rare = is_hidden & (dictionary.log_counts < _MAX_LOG_COUNT)
        for source, pairs in _sources(arguments, words[is_rare].tolist(), fold).items():
            usable = _usable(readings, source, pairs, known)
            if usable:
                examples.append(_examples(readings, usable, _SHARES[source]))
    columns = [np.concatenate(parts) for parts in zip(*examples, strict=True)]
    weights = np.rint(UNITS * fitted(*columns)).astype(int)
    with whole_file(arguments.out, "w") as file:
        file.writelines(f"{weight}\n" for weight in weights.tolist())


if __name__ == "__main__":
    main()

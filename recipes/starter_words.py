"""Grows the word pairs of the starter set from hand-written tables.

    python -m recipes.starter_words

The tables in `word_tables/` hold synonym groups, irregular forms, spelling variants and common
misspellings. About a tenth of the groups is held out: no pair has a word of those, nor a word of
the graded set in `tf_charagram/data/starter/graded.tsv`. The pairs are written beside that file,
most confident first.
"""

from __future__ import annotations

import functools
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path

from scipy.cluster.hierarchy import DisjointSet

from recipes.inflect import Irregular, count_syllables, inflect

Pair = tuple[str, str]

TABLES = Path(__file__).parent / "word_tables"
STARTER = Path(__file__).parents[1] / "tf_charagram" / "data" / "starter"
HELDOUT_SHARE = 0.10
# A held-out component of many groups would take a whole field of words out of training.
_MAX_HELDOUT_COMPONENT = 4
_MIN_MISSPELLED_CHARS = 7
_NOT_FROM_IZE = frozenset({"capsize", "prize", "seize", "size"})

# What people get wrong in long words, tried in this order: (correct, wrong).
_SLIPS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"([bcdfglmnprst])\1(?=[aeiouy])"), r"\1"),
    (re.compile(r"(?<=[^c])ie(?=[cdflv])"), "ei"),
    (re.compile(r"(?<=c)ei"), "ie"),
    (re.compile(r"ible(?=$|s$)"), "able"),
    (re.compile(r"able(?=$|s$)"), "ible"),
    (re.compile(r"ance(?=$|s$)"), "ence"),
    (re.compile(r"ence(?=$|s$)"), "ance"),
    (re.compile(r"ant(?=$|s$|ly$)"), "ent"),
    (re.compile(r"(?<!m)ent(?=$|s$|ly$)"), "ant"),
    (re.compile(r"tely$"), "tly"),
    (re.compile(r"ully$"), "uly"),
    (re.compile(r"or$"), "er"),
    (re.compile(r"^des"), "dis"),
    (re.compile(r"ous(?=$|ly$)"), "us"),
    (re.compile(r"sc(?=[ei])"), "s"),
    (re.compile(r"ph"), "f"),
    (re.compile(r"ight"), "ite"),
)


@dataclass(frozen=True)
class WordGroup:
    """One line of `groups.tsv`: words of one meaning.

    Args:
        pos: `verb`, `noun`, `noun-mass`, `adj`, `adj-abs` or `adv`; the marked ones have no
            plural or no comparative.
        words: The lemmas, at least 2.
    """

    pos: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Tables:
    """The rows of every hand-written table.

    Args:
        groups: The synonym groups.
        irregular: Forms that the rules of inflection do not give.
        spelling: `(American, British)` or `(closed, hyphenated)` spellings.
        misspellings: `(correct, wrong)` spellings.
        graded: Word, word, similarity from 0 to 10.
    """

    groups: tuple[WordGroup, ...]
    irregular: Irregular
    spelling: tuple[Pair, ...]
    misspellings: tuple[Pair, ...]
    graded: tuple[tuple[str, str, float], ...]


def _rows(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line]


@functools.cache
def read_tables() -> Tables:
    """Reads all tables, in file order."""
    return Tables(
        groups=tuple(
            WordGroup(pos, tuple(words.split())) for pos, words in _rows(TABLES / "groups.tsv")
        ),
        irregular={
            (lemma, pos): () if forms == "-" else tuple(forms.split())
            for lemma, pos, forms in _rows(TABLES / "irregular.tsv")
        },
        spelling=tuple((first, second) for first, second in _rows(TABLES / "spelling.tsv")),
        misspellings=tuple(
            (correct, wrong)
            for correct, wrongs in _rows(TABLES / "misspellings.tsv")
            for wrong in wrongs.split()
        ),
        graded=tuple((a, b, float(score)) for a, b, score in _rows(STARTER / "graded.tsv")),
    )


def surface_words(group: WordGroup, irregular: Irregular) -> set[str]:
    """Returns every lemma of a group and every inflected form of it."""
    forms = (inflect(word, group.pos, irregular).values() for word in group.words)
    return {*group.words, *chain.from_iterable(forms)}


def connected_components(word_sets: Sequence[set[str]]) -> list[list[int]]:
    """Joins the indices of sets that share a word, directly or through others."""
    joined = DisjointSet(range(len(word_sets)))
    owner: dict[str, int] = {}
    for index, words in enumerate(word_sets):
        for word in words:
            joined.merge(owner.setdefault(word, index), index)
    return sorted(sorted(component) for component in joined.subsets())


@functools.cache
def split_groups() -> tuple[tuple[WordGroup, ...], tuple[WordGroup, ...]]:
    """Splits the groups so that no word, nor a form of it, is on both sides.

    Groups that share a word stay together. Those with a word of the graded set are held out,
    and then others, in the order of a checksum, up to `HELDOUT_SHARE` of all groups.

    Returns:
        Training groups and held-out groups, each in file order.
    """
    tables = read_tables()
    surfaces = [surface_words(group, tables.irregular) for group in tables.groups]
    graded = {word for first, second, _ in tables.graded for word in (first, second)}
    heldout: set[int] = set()
    candidates: list[list[int]] = []
    for component in connected_components(surfaces):
        if any(surfaces[index] & graded for index in component):
            heldout.update(component)
        elif len(component) <= _MAX_HELDOUT_COMPONENT:
            candidates.append(component)
    candidates.sort(key=lambda c: zlib.crc32(" ".join(tables.groups[c[0]].words).encode()))
    for component in candidates:
        if len(heldout) >= HELDOUT_SHARE * len(tables.groups):
            break
        heldout.update(component)
    train = tuple(g for index, g in enumerate(tables.groups) if index not in heldout)
    return train, tuple(tables.groups[index] for index in sorted(heldout))


def _aligned_forms(first: str, second: str, pos: str, irregular: Irregular) -> Iterator[Pair]:
    """Pairs past with past, plural with plural, and so on."""
    forms = inflect(second, pos, irregular)
    for name, form in inflect(first, pos, irregular).items():
        if name in forms:
            yield form, forms[name]


def _british(word: str, pos: str, variants: dict[str, str]) -> str | None:
    if word in variants:
        return variants[word]
    if pos == "verb" and word not in _NOT_FROM_IZE and re.search(r"(iz|yz)e$", word):
        return word[:-2] + "se"
    return None


def _spelling_pairs(groups: Sequence[WordGroup], spelling: Sequence[Pair]) -> Iterator[Pair]:
    irregular = read_tables().irregular
    yield from spelling
    variants = dict(spelling)
    for group in groups:
        for word in group.words:
            if (variant := _british(word, group.pos, variants)) is not None:
                yield word, variant
                yield from _aligned_forms(word, variant, group.pos, irregular)
            # Travel, traveled, travelled: only British English doubles an unstressed "l".
            if group.pos == "verb" and word.endswith("l") and count_syllables(word) > 1:
                for form in inflect(word, "verb", irregular).values():
                    doubled = re.sub(r"(?<=[^aeiou][aeiou])l(?=(ed|ing)$)", "ll", form)
                    yield form, doubled


def misspell(word: str) -> str | None:
    """Misspells a long word in the most likely way.

    Returns:
        The word with one common spelling mistake; `None` if no rule fits.

    Examples:
        >>> misspell("embarrass"), misspell("retrieve"), misspell("cat")
        ('embarass', 'retreive', None)
    """
    if len(word) >= _MIN_MISSPELLED_CHARS:
        for pattern, wrong in _SLIPS:
            if (slip := pattern.sub(wrong, word, count=1)) != word:
                return slip
    return None


def _misspelling_pairs(groups: Sequence[WordGroup], misspellings: Sequence[Pair]) -> Iterator[Pair]:
    yield from misspellings
    irregular = read_tables().irregular
    known = _known_words()
    for group in groups:
        for word in sorted(surface_words(group, irregular)):
            slip = misspell(word)
            if slip is not None and slip not in known:
                yield word, slip


@functools.cache
def _known_words() -> frozenset[str]:
    """Correct words: a slip that gives one of them would be a wrong pair."""
    tables = read_tables()
    surfaces = (surface_words(group, tables.irregular) for group in tables.groups)
    correct = (word for word, _ in tables.misspellings)
    return frozenset(chain(*surfaces, *tables.spelling, correct))


def grow_pairs(
    groups: Sequence[WordGroup], spelling: Sequence[Pair], misspellings: Sequence[Pair]
) -> Iterator[Pair]:
    """Yields the pairs of some groups, most confident first, repeats included.

    Yields:
        Synonyms, then their inflected forms, then lemma and form, then spelling variants, then
        misspellings.
    """
    irregular = read_tables().irregular
    for group in groups:
        yield from combinations(group.words, 2)
    for group in groups:
        for first, second in combinations(group.words, 2):
            yield from _aligned_forms(first, second, group.pos, irregular)
    for group in groups:
        for word in group.words:
            for form in inflect(word, group.pos, irregular).values():
                yield word, form
    yield from _spelling_pairs(groups, spelling)
    yield from _misspelling_pairs(groups, misspellings)


def distinct(pairs: Iterable[Pair], blocked: frozenset[str] = frozenset()) -> Iterator[Pair]:
    """Drops self pairs, repeats in either order, and pairs with a blocked word."""
    seen: set[Pair] = set()
    for first, second in pairs:
        key = (first, second) if first < second else (second, first)
        if first != second and key not in seen and blocked.isdisjoint(key):
            seen.add(key)
            yield first, second


def heldout_pairs() -> Iterator[Pair]:
    """Yields the pairs of the held-out groups, in the same order of confidence as the others."""
    tables = read_tables()
    _, groups = split_groups()
    words = {word for group in groups for word in group.words}
    spelling = [pair for pair in tables.spelling if not words.isdisjoint(pair)]
    misspellings = [pair for pair in tables.misspellings if not words.isdisjoint(pair)]
    yield from distinct(grow_pairs(groups, spelling, misspellings))


def train_pairs() -> Iterator[Pair]:
    """Yields the training pairs, most confident first."""
    tables = read_tables()
    graded = ((first, second) for first, second, _ in tables.graded)
    blocked = frozenset(chain.from_iterable(chain(graded, heldout_pairs())))
    groups, _ = split_groups()
    yield from distinct(grow_pairs(groups, tables.spelling, tables.misspellings), blocked)


def main() -> None:
    """Writes the pairs."""
    lines = (f"{first}\t{second}\n" for first, second in train_pairs())
    (STARTER / "words.tsv").write_text("".join(lines), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()

"""Words that one table abbreviates: `St.` and `Street`, `Wed` and `Wednesday`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from tf_charagram.search.linkage._columns.kinds import Kind
from tf_charagram.search.linkage._columns.values import abbreviates, sampled

_KINDS = ("name", "text")
# Words that so many values of a table have are looked at. More than this are no information.
_MIN_SHARE = 0.01
_MAX_SHARE = 0.8
# Words of one table that are so much rarer in the other one need a partner there; so many have one.
_RARER = 0.1
_MIN_FOUND = 0.6
# Abbreviations at least, of two tables and of one.
_MIN_WORDS = 2
_MIN_WORDS_ONE_TABLE = 3
# Abbreviations per word: those of `green` and `grey` may be the same, but not most initials.
_MIN_DISTINCT = 0.8


def read_abbreviations(kind: Kind, tables: Sequence[Mapping[str, str]]) -> tuple[Kind, str]:
    """Reads words as they are abbreviated, if most words that one table lacks are so.

    Args:
        kind: Kind of the column.
        tables: Distinct cells of one or two tables, and their values as the kind reads them.

    Returns:
        The kind with its reader, and a note for the user, or an empty text.
    """
    if kind.name not in _KINDS:
        return kind, ""
    left = right = _shares(tables[0].values())
    least = _MIN_WORDS_ONE_TABLE
    if len(tables) == 2:
        others = _shares(tables[1].values())
        left, right = _rarer_in(left, others), _rarer_in(others, left)
        least = _MIN_WORDS
    short_of = _short_forms(left, right)
    if right is not left:
        short_of |= _short_forms(right, left)
    shorts = set(short_of.values())
    known = shorts | short_of.keys()
    is_sound = len(short_of) >= least and len(shorts) >= _MIN_DISTINCT * len(short_of)
    for side in (left, right):
        num_known = sum(share for word, share in side.items() if word in known)
        is_sound &= num_known >= _MIN_FOUND * sum(side.values())
    if not is_sound:
        return kind, ""

    def reader(cells: Sequence[str]) -> Callable[[str], str]:
        read = kind.reader(cells)

        def shortened(cell: str) -> str:
            return " ".join(short_of.get(word, word) for word in read(cell).split())

        return shortened

    examples = ", ".join(f"{short} = {word}" for word, short in sorted(short_of.items())[:3])
    return kind._replace(reader=reader), f"{len(short_of)} abbreviations read ({examples})"


def _shares(forms: Collection[str]) -> dict[str, float]:
    """Returns the share of the values of a table that have each word."""
    sample = sampled(list(forms))
    counts = Counter(word for form in sample for word in set(form.split()) if word.isalpha())
    shares = {}
    for word, count in counts.items():
        if _MIN_SHARE * len(sample) <= count <= max(_MAX_SHARE * len(sample), 1):
            shares[word] = count / len(sample)
    return shares


def _rarer_in(own: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """Returns the words of a table that are much rarer in another one."""
    return {word: share for word, share in own.items() if other.get(word, 0) <= _RARER * share}


def _short_forms(longs: Collection[str], shorts: Collection[str]) -> dict[str, str]:
    """Returns the abbreviation of each word that has a single one, or a single one it starts with.

    Several words share an abbreviation (`gre` is green and grey) only if they have no other one.
    """
    found, unsure = {}, set()
    for word in longs:
        candidates = [short for short in shorts if abbreviates(short, word)]
        starts = sorted(filter(word.startswith, candidates), key=len)
        if len(candidates) > 1:
            unsure.add(word)
            # `t` is Tuesday where `th` is Thursday.
            candidates = starts[-1:]
        if candidates:
            found[word] = candidates[0]
    uses = Counter(found.values())
    return {word: short for word, short in found.items() if uses[short] == 1 or word not in unsure}

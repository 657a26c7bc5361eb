"""Forms of the same name: nicknames, initials, and abbreviations of several words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tf_charagram.search._pairs.flat_arrays import Ids
from tf_charagram.search._pairs.word_lists import WordLists
from tf_charagram.text._algorithm.arrays import positions

_HERE = Path(__file__).parent


def _lines_of(name: str) -> list[str]:
    return (_HERE / name).read_text(encoding="utf-8").splitlines()


# A full name and its short forms on each line. English, which tables of people mostly need.
_FORMS: dict[str, set[str]] = {}
for _line in _lines_of("nicknames.txt"):
    _full, *_short = _line.split()
    for _name in _short:
        _FORMS.setdefault(_name, set()).add(_full)
_KNOWN = {*_FORMS, *(full for forms in _FORMS.values() for full in forms)}
#: Frequent given names of several languages, without accents. Few are surnames or towns.
GIVEN_NAMES = frozenset(_lines_of("given_names.txt")) | _KNOWN
#: Words of colors, without accents.
COLORS = frozenset(
    "black white red blue green grey gray yellow orange purple pink brown beige navy silver "
    "gold schwarz weiss rot blau grun grau gelb braun noir blanc rouge bleu vert gris jaune "
    "negro blanco rojo azul verde amarillo nero bianco rosso turquoise teal cream ivory "
    "khaki olive maroon".split()
)
#: Words of the legal forms of firms, which tell nothing about which firm, as `folded` returns them.
LEGAL_ENDINGS = frozenset(
    "inc incorporated ltd limited llc llp lp plc corp corporation co company pty pvt liability "
    "private public gmbh ag kg kgaa ohg ug se mbh ev as sa sas sarl srl spa snc sapa sl slu sca "
    "scs bv nv vof cv ab hb oy oyj aps asa kk ky sro spol zrt kft bt nyrt doo dd ad ood eood lda "
    "ltda eireli sab ou uab sia jsc ojsc pjsc llo tbk bhd sdn pte fze wll ooo "
    "\u043e\u043e\u043e \u043e\u0430\u043e \u0437\u0430\u043e \u043f\u0430\u043e \u0430\u043e "
    "\u0438\u043f \u0442\u043e\u0432 \u0443\u043f \u682a \u6709 \uc8fc".split()
)
# Legal forms of several words, at the end.
_LEGAL_PHRASES = ("sp z oo", "sp j", "sp k", "a s", "s a", "s p a", "d o o", "sa de cv", "s de rl")
_MAX_LEGAL_WORDS = 3
_LEGAL_LAST = LEGAL_ENDINGS.union(_LEGAL_PHRASES, (form.split()[-1] for form in _LEGAL_PHRASES))
# Those that stand in front of the name.
_LEGAL_STARTS = frozenset(
    "pt uab sia \u043e\u043e\u043e \u043e\u0430\u043e \u0437\u0430\u043e \u043f\u0430\u043e "
    "\u0430\u043e \u0438\u043f \u0442\u043e\u0432 \u682a \u6709 \uc8fc".split()
)
# Chinese, Japanese and Korean forms, without a space next to the name; the longest come first.
_UNSPACED_FORMS = (
    "(\u682a) (\u6709) (\uc8fc) "
    "\u80a1\u4efd\u6709\u9650\u516c\u53f8 \u6709\u9650\u8d23\u4efb\u516c\u53f8 "
    "\u6709\u9650\u516c\u53f8 \u682a\u5f0f\u4f1a\u793e \u6709\u9650\u4f1a\u793e "
    "\u5408\u540c\u4f1a\u793e \u5408\u8cc7\u4f1a\u793e \uc8fc\uc2dd\ud68c\uc0ac "
    "\uc720\ud55c\ud68c\uc0ac"
).split()
_UNSPACED_LETTERS = frozenset("".join(_UNSPACED_FORMS)) - {"(", ")"}
# Articles in front of a title or a name tell nothing, and neither do words for "&".
_ARTICLES = frozenset("the a an der die das le la les el los il".split())
_CONJUNCTIONS = frozenset("and und et".split())
# Spellings of umlauts, in a language that has them, and in one that has not.
_UMLAUTS = {"ae": "a", "oe": "o", "ue": "u"}
# Words whose initial is often left out.
_WITHOUT_INITIAL = frozenset(("of", "the", "and", "for"))
# Two known names may be forms of each other; of an initial and a word, the initial is enough.
_NUM_FORMS = 2
# Letters of the initials of several words.
_MAX_INITIALS = 6


def may_be_aliases(lists: WordLists, pairs: NDArray[np.integer]) -> Ids:
    """Finds the pairs that `are_aliases` should look at; most pairs cannot be.

    Args:
        lists: The words of distinct values.
        pairs: Positions of values, `(num_pairs, 2)`.

    Returns:
        Indices of pairs.
    """
    starts, stops = lists.splits[:-1][pairs], lists.splits[1:][pairs]
    left_counts, right_counts = (stops - starts).T
    may_be = left_counts == right_counts
    same = np.flatnonzero(may_be)
    left, right = (lists.ids[positions(starts[same, side], stops[same, side])] for side in (0, 1))
    different = np.flatnonzero(left != right)
    left, right = left[different], right[different]
    is_used = np.zeros(len(lists.words), bool)
    is_used[left] = is_used[right] = True
    ways = np.zeros(len(lists.words), np.int8)
    ways[is_used] = [_num_ways(lists.words[word]) for word in np.flatnonzero(is_used).tolist()]
    are_words = ways[left] + ways[right] < _NUM_FORMS
    may_be[same.repeat(left_counts[same])[different[are_words]]] = False
    # Initials of several words.
    counts = [left_counts, right_counts]
    for side, (own, others) in enumerate([counts, counts[::-1]]):
        single = np.flatnonzero((own == 1) & (others > 1))
        ids = lists.ids[starts[single, side]].tolist()
        num_letters = np.array([len(lists.words[word]) for word in ids])
        is_short = num_letters <= np.minimum(others[single], _MAX_INITIALS)
        may_be[single[is_short]] = True
    return np.flatnonzero(may_be)


def _num_ways(word: str) -> int:
    """Returns 2 if a word may be a form of any name, 1 if only of a known one, else 0."""
    # Most words end here; a loop over the umlauts would take five times as long.
    if len(word) == 1 or "ae" in word or "oe" in word or "ue" in word:
        return _NUM_FORMS
    return int(word in _KNOWN)


def are_aliases(one: str, other: str) -> bool:
    """Tells whether two different names may be forms of the same name.

    Nicknames, also of two people called the same full name; an initial and a name; the initials of
    all words; umlauts that are written as two letters.

    Args:
        one: Words in lowercase, without accents and marks.
        other: The same.

    Examples:
        >>> are_aliases("bill gates", "william gates"), are_aliases("bill", "walter")
        (True, False)
        >>> are_aliases("ibm", "international business machines")
        True
        >>> are_aliases("j smith", "john smith")
        True
        >>> are_aliases("mueller", "muller")
        True
    """
    words = one.split()
    other_words = other.split()
    if len(words) == len(other_words):
        return all(map(_is_same_word, words, other_words))
    shorter, longer = sorted([words, other_words], key=len)
    if len(shorter) != 1 or len(shorter[0]) < 2:
        return False
    # The article and "of" are often left out of the initials.
    telling = [word for word in longer if word not in _WITHOUT_INITIAL]
    return shorter[0] in (_initials(longer), _initials(telling))


def _initials(words: Sequence[str]) -> str:
    return "".join(word[0] for word in words)


def other_forms(name: str) -> list[str]:
    """Returns forms of a name by which `are_aliases` could be found: full names, and initials.

    Examples:
        >>> other_forms("bill gates"), other_forms("international business machines")
        (['william'], ['ibm'])
    """
    words = name.split()
    forms = sorted({full for word in words for full in _FORMS.get(word, ())})
    if 2 < len(words) <= _MAX_INITIALS:
        forms.append(_initials(words))
    return forms


def _is_same_word(one: str, other: str) -> bool:
    if one == other:
        return True
    shorter, longer = sorted([one, other], key=len)
    if len(shorter) == 1:
        # C++ is not C.
        return longer.startswith(shorter) and longer.isalpha()
    full = _FORMS.get(one, set()) | {one}
    if full & (_FORMS.get(other, set()) | {other}):
        return True
    return _without_umlauts(one) == _without_umlauts(other)


def _without_umlauts(word: str) -> str:
    for letters, letter in _UMLAUTS.items():
        word = word.replace(letters, letter)
    return word


def telling_words(name: str) -> str:
    """Drops the legal form of a firm, articles in front, and "and", unless nothing would be left.

    Examples:
        >>> telling_words("acme trading limited liability company"), telling_words("co")
        ('acme trading', 'co')
        >>> telling_words("the old man and the sea")
        'old man the sea'
    """
    all_words = name.split()
    words = [word for word in all_words if word not in _CONJUNCTIONS] or all_words
    if len(words) > 1 and words[0] in _ARTICLES:
        words.pop(0)
    return joined_without_legal_forms(words, words)


def may_have_legal_form(text: str, first: str, last: str) -> bool:
    """Tells whether a text may have a legal form at an end.

    Args:
        text: A text.
        first: Its first word in lowercase, without accents and marks.
        last: Its last word, likewise.
    """
    if first in _LEGAL_STARTS or last in _LEGAL_LAST:
        return True
    return not (text.isascii() or _UNSPACED_LETTERS.isdisjoint(text))


def joined_without_legal_forms(words: Sequence[str], compared: Sequence[str]) -> str:
    """Joins words by spaces without legal forms at both ends, unless nothing would be left.

    Args:
        words: Words.
        compared: The same words in lowercase, without accents and marks.
    """
    first, last = 0, len(words)
    while last - first > 1 and compared[first] in _LEGAL_STARTS:
        first += 1
    while num_legal := _num_legal(compared[first:last]):
        last -= num_legal
    joined = " ".join(words[first:last])
    return joined if joined.isascii() else _without_unspaced_forms(joined)


def _num_legal(words: Sequence[str]) -> int:
    """Returns the number of words at the end that are a legal form, and not all words."""
    # A/S may be a single word.
    for number in range(min(_MAX_LEGAL_WORDS, len(words) - 1), 0, -1):
        if " ".join(words[-number:]) in _LEGAL_PHRASES:
            return number
    return int(len(words) > 1 and words[-1] in LEGAL_ENDINGS)


def _without_unspaced_forms(name: str) -> str:
    for form in _UNSPACED_FORMS:
        rest = name.removesuffix(form).removeprefix(form).strip()
        if rest:
            name = rest
    return name

"""One form of texts, character by character."""

import unicodedata

from tests.reference.text import lower_char
from tf_charagram.text._algorithm.forms import INVISIBLE, PLAIN


def is_mark(char: str) -> bool:
    """Whether a character belongs to the one before; Korean vowels and finals compose, too."""
    return unicodedata.category(char).startswith("M") or "\u1160" <= char <= "\u11ff"


def is_optional(letter: str, mark: str) -> bool:
    """Whether readers do without a mark: points of Arabic, Hebrew and Syriac; Greek accents."""
    combining_class = unicodedata.combining(mark)
    scripts = ("ARABIC", "HEBREW", "SYRIAC", "SAMARITAN", "MANDAIC")
    has_side = combining_class >= 200 and unicodedata.name(mark, "").startswith(scripts)
    return 10 <= combining_class <= 36 or has_side or "\u0370" <= letter < "\u0400"


def fold(text: str, alphabet: set[str]) -> str:
    r"""Brings a text to one form.

    Args:
        text: The text.
        alphabet: Lowercase characters without the space.

    Examples:
        >>> fold("\uff23afe\u0301", set("cafe")), fold("\uff23afe\u0301", set("caf\u00e9"))
        ('Cafe', 'Café')
    """

    def known(char: str) -> bool:
        return lower_char(char) in alphabet

    apart: list[str] = []
    for char in text:
        if ord(char) in INVISIBLE:
            continue
        if known(char) and unicodedata.normalize("NFKC", char) == char:
            apart.append(char)
            continue
        for part in "'" if char == "\u00b4" else unicodedata.normalize("NFKD", char):
            if known(part):
                apart.append(part)
            elif ord(part) not in INVISIBLE and part != "\u0640":
                apart += "\u03c3" if part == "\u03c2" else PLAIN.get(part, part)
    folded: list[str] = []
    while apart:
        count = 1
        while count < len(apart) and is_mark(apart[count]):
            count += 1
        if is_mark(apart[0]):  # At the start of the text.
            folded += [mark for mark in apart[:count] if known(mark) or not is_optional("", mark)]
            del apart[:count]
            continue
        composed, used = apart[0], 1
        for stop in range(2, min(count, 4) + 1):
            one = unicodedata.normalize("NFC", "".join(apart[:stop]))
            if len(one) == 1 and known(one):
                composed, used = one, stop
        rest = apart[used:count]
        if known(composed):
            rest = [mark for mark in rest if known(mark) or "\u1160" <= mark <= "\u11ff"]
        rest = [mark for mark in rest if known(mark) or not is_optional(composed, mark)]
        folded += [composed, *rest]
        del apart[:count]
    return "".join(folded)

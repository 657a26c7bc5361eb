"""Spelling correction by trying every word of the dictionary (the noisy channel model)."""

import math
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping

SHORTEST, LONGEST = 4, 16
LOG_ODDS = {"wrong": 0.0, "missing": 5.1, "added": -0.2, "doubled": 3.3, "swapped": 5.0}
FIRST_LETTER = -2.0
VARIANT = 0.0
LOOK_ALIKE = {"rn": "m", "m": "rn", "cl": "d", "d": "cl", "vv": "w", "w": "vv"}
SCRIPTS_WITHOUT_SPACES = (
    "CJK|IDEOGRAPHIC|HIRAGANA|KATAKANA|HALFWIDTH KATAKANA|THAI|LAO|KHMER|MYANMAR"
)


def errors(typed: str, meant: str) -> Iterator[tuple[str, int]]:
    """Yields each single error that makes one word of another: its kind and its place in `typed`.

    Example:
        >>> [*errors("teh", "the")], [*errors("thee", "the")]
        ([('swapped', 1)], [('added', 2), ('doubled', 3)])
    """
    for place in range(len(typed) + 1):
        before, letter, after = typed[:place], typed[place : place + 1], typed[place + 1 :]
        if len(meant) == len(typed) + 1 and meant[:place] + meant[place + 1 :] == typed:
            yield "missing", place
        if not letter:
            continue
        if meant == before + after:
            yield "doubled" if before.endswith(letter) else "added", place
        if len(meant) == len(typed) and meant[:place] == before and meant[place + 1 :] == after:
            yield "wrong", place
        if after and meant == before + after[0] + letter + after[1:]:
            yield "swapped", place


def variants(word: str) -> set[str]:
    """Returns the word without its vowels, and with one letter as two that look alike."""
    skeleton = word[0] + re.sub("[aeiou]", "", word[1:])
    found = {skeleton} if len(skeleton) >= SHORTEST else set()
    for letters, others in LOOK_ALIKE.items():
        for match in re.finditer(f"(?={letters})", word):
            place = match.start()
            found.add(word[:place] + others + word[place + len(letters) :])
    return found


def score(typed: str, meant: str, count: int) -> float:
    """Returns the binary logarithm of how probable a word is, up to a constant; -inf if never.

    The logarithm of its count is rounded to quarters.
    """
    ways = [
        LOG_ODDS[kind] + (FIRST_LETTER if place == 0 else 0) for kind, place in errors(typed, meant)
    ]
    if typed in variants(meant):
        ways.append(VARIANT)
    return round(4 * math.log2(count)) / 4 + max(ways, default=-math.inf)


def corrections(word: str, counts: Mapping[str, int], right: Collection[str] = ()) -> set[str]:
    """Returns the correction of a word; several words if they are equally probable."""
    if word in counts or word in right or not (word.isalpha() and SHORTEST <= len(word) <= LONGEST):
        return {word}
    if any(re.match(SCRIPTS_WITHOUT_SPACES, unicodedata.name(char, "")) for char in word):
        return {word}
    scores = {known: score(word, known, count) for known, count in counts.items()}
    best = max(scores.values(), default=-math.inf)
    return {word} if best == -math.inf else {w for w, value in scores.items() if value == best}


def is_reading(
    text: str,
    read: str,
    counts: Mapping[str, int],
    alphabet: Collection[str],
    right: Collection[str] = (),
) -> bool:
    """Returns whether a normalized text may be read as another one.

    Args:
        text: The text.
        read: What it is read as.
        counts: How often each known word occurs.
        alphabet: The characters that can be told apart; a word with another one stays as it is.
        right: Further words that stay as they are.
    """
    pattern, word = "", ""
    for char in f"{text}\n":
        is_in_word = char.isalnum() or unicodedata.category(char)[0] == "M"
        if char not in alphabet and char not in " \n":
            char = "\0"
        if is_in_word:
            word += char
            continue
        choices = corrections(word, counts, right) if word else {""}
        pattern += f"(?:{'|'.join(map(re.escape, sorted(choices)))}){re.escape(char)}"
        word = ""
    return re.fullmatch(pattern.replace("\0", "."), f"{read}\n", re.S) is not None

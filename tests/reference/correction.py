"""Spelling correction by trying every word of the dictionary (the noisy channel model)."""

import math
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations_with_replacement

from tests.reference.text import lower_char

SHORTEST, LONGEST = 4, 16
LOG_ODDS = {"wrong": 0.0, "missing": 5.1, "added": -0.2, "doubled": 3.3, "swapped": 5.0}
FIRST_LETTER = -2.0
VARIANT, JOINED = 0.0, 3.0
UNKNOWN_WORD, UNKNOWN_LETTER = -7.5, -2.25
VOWELS = "aeiou"
END = " "
DIGITS = {"0": "o", "1": "l", "3": "e", "4": "a", "5": "s", "7": "t"}
LOOK_ALIKE = {"rn": "m", "m": "rn", "cl": "d", "d": "cl", "vv": "w", "w": "vv"}
SIGNS = "@/\\_."
SCRIPTS_WITHOUT_SPACES = (
    "CJK|IDEOGRAPHIC|HIRAGANA|KATAKANA|HALFWIDTH KATAKANA|THAI|LAO|KHMER|MYANMAR"
)


def errors(typed: str, meant: str) -> Iterator[tuple[str, int]]:
    """Yields each single error that makes one word of another: its kind and its place in `typed`.

    Examples:
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


def skeletons(word: str) -> set[str]:
    """Returns the word without the vowels after its first letter, if enough of it is left."""
    skeleton = word[0] + re.sub(f"[{VOWELS}]", "", word[1:])
    return {skeleton} if SHORTEST <= len(skeleton) < len(word) else set()


def look_alikes(word: str) -> set[str]:
    """Returns the word with one letter as two that look alike, or two as one."""
    return {
        word[: match.start()] + others + word[match.start() + len(letters) :]
        for letters, others in LOOK_ALIKE.items()
        for match in re.finditer(f"(?={letters})", word)
    }


def reads(typed: str, meant: str) -> bool:
    """Returns whether a word with digits is another one; an i and an l both look like a 1."""
    with_l = {**DIGITS, "i": "l"}
    return typed.translate(str.maketrans(with_l)) == meant.replace("i", "l")


def log_probabilities(counts: Mapping[str, int]) -> dict[str, float]:
    """Returns the binary logarithms of the shares of words, their counts' rounded to quarters."""
    logs = {
        word: round(4 * math.log2(count)) / 4
        for word, count in counts.items()
        if len(word) <= LONGEST + 1 and (len(word) > 1 or word in VOWELS)
    }
    total = math.log2(sum(2**log for log in logs.values())) if logs else 0.0
    return {word: log - total for word, log in logs.items()}


def weight(typed: str, meant: str) -> float:
    """Returns the binary logarithm of how probable errors are, up to a constant; -inf if none."""
    spelled = typed.translate(str.maketrans(DIGITS))
    if typed != spelled:
        return VARIANT if reads(typed, meant) or spelled in look_alikes(meant) else -math.inf
    ways = [
        LOG_ODDS[kind] + (FIRST_LETTER if place == 0 else 0) for kind, place in errors(typed, meant)
    ]
    if typed in skeletons(meant) | look_alikes(meant):
        ways.append(VARIANT)
    return max(ways, default=-math.inf)


def joined(word: str, words: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """Yields the ways to read a word as two or three of `log_probabilities`, with their scores."""
    for first, last in combinations_with_replacement(range(1, len(word)), 2):
        parts = [part for part in (word[:first], word[first:last], word[last:]) if part]
        score = sum(words.get(part, -math.inf) for part in parts)
        if score > UNKNOWN_WORD + UNKNOWN_LETTER * len(word):
            yield " ".join(parts), score + JOINED


def corrections(word: str, counts: Mapping[str, int], right: Collection[str] = ()) -> set[str]:
    """Returns the reading of a word; several if they are equally probable."""
    spelled = word.translate(str.maketrans(DIGITS))
    num_digits = sum(char in DIGITS for char in word)
    if word in counts or spelled in right or not SHORTEST <= len(word) <= LONGEST:
        return {word}
    if not spelled.isalpha() or 2 * num_digits > len(word) or {*word[:2]} <= {*DIGITS}:
        return {word}
    if word[-1] in DIGITS:
        return {word}
    if any(re.match(SCRIPTS_WITHOUT_SPACES, unicodedata.name(char, "")) for char in word):
        return {word}
    words = log_probabilities(counts)
    scores = {known: score + weight(word, known) for known, score in words.items()}
    if not num_digits:
        scores.update(joined(word, words))
    best = max(scores.values(), default=-math.inf)
    if best == -math.inf:
        return {word}
    return {reading for reading, score in scores.items() if score > best - 1e-4}


def is_in_word(char: str) -> bool:
    """Returns whether a character is a letter, a digit or a mark."""
    return char.isalnum() or unicodedata.category(char)[0] == "M"


def is_prose(text: str, start: int, end: int) -> bool:
    """Returns whether a word of a text is neither part of code nor in capitals in a mixed text."""
    has_capitals = re.search("[A-Z]", text[start + 1 : end]) and re.search("[a-z]", text)
    before, after = text[max(start - 1, 0) : start], text[end : end + 2]
    is_joined = len(after) == 2 and after[0] in SIGNS and is_in_word(after[1])
    return not (has_capitals or is_joined or (before and before in SIGNS))


def is_reading(
    text: str,
    read: str,
    counts: Mapping[str, int],
    alphabet: Collection[str],
    right: Collection[str] = (),
) -> bool:
    """Returns whether a text may be read as another one.

    Args:
        text: The text, normalized but for its capitals.
        read: What it is read as.
        counts: How often each known word occurs.
        alphabet: The characters that can be told apart; a word with another one stays as it is.
        right: Further words that stay as they are.
    """
    pattern, word = "", ""
    for place, written in enumerate(f"{text}\n"):
        char = lower_char(written)
        if char not in alphabet and char not in " \n":
            char = "\0"
        if is_in_word(written):
            word += char
            continue
        choices = {word}
        if word and is_prose(text, place - len(word), place):
            choices = corrections(word, counts, right)
        pattern += f"(?:{'|'.join(map(re.escape, sorted(choices)))}){re.escape(char)}"
        word = ""
    return re.fullmatch(pattern.replace("\0", "."), f"{read}\n", re.S) is not None


def log_triples(words: Collection[str]) -> dict[str, float]:
    """Returns log2 of the probability of the last letter of three after the two before it."""
    letters = "".join(chr(ord("a") + place) for place in range(26)) + END
    triples = {
        first + second + third: 0.0 for first in letters for second in letters for third in letters
    }
    for word in words:
        padded = END * 2 + as_letters(word) + END
        for place in range(2, len(padded)):
            triples[padded[place - 2 : place + 1]] += 1
    letter_counts = {
        third: 1 + sum(triples[first + second + third] for first in letters for second in letters)
        for third in letters
    }
    total = sum(letter_counts.values())
    share_of = {letter: count / total for letter, count in letter_counts.items()}
    logs = {}
    for second in letters:
        pairs = {
            third: sum(triples[first + second + third] for first in letters) + 5 * share_of[third]
            for third in letters
        }
        num_pairs = sum(pairs.values())
        for first in letters:
            counts = {
                third: triples[first + second + third] + 3 * pairs[third] / num_pairs
                for third in letters
            }
            num_triples = sum(counts.values())
            for third, count in counts.items():
                logs[first + second + third] = math.log2(count / num_triples)
    return logs


def as_letters(word: str) -> str:
    """Returns the word with letters for digits, and all but a to z as the end of a word."""
    return re.sub("[^a-z]", END, word.translate(str.maketrans(DIGITS)))


def share(
    weights: Sequence[int],
    word: str,
    read: str,
    words: Mapping[str, float],
    logs: Mapping[str, float],
) -> set[float]:
    """Returns the share of a reading in the vector of a word; several if errors are as probable.

    Args:
        weights: 19 thousandths of errors; of the words read, the letters written, and one by their
            number.
        word: The word as written.
        read: The word, or the words, that it is read as.
        words: `log_probabilities`.
        logs: `log_triples`.
    """
    of_words, of_letters, of_length = weights[-3:]
    evidence = round(of_length / len(word))
    padded = END * 2 + as_letters(word) + END
    for place in range(2, len(padded)):
        evidence += round(of_letters * logs[padded[place - 2 : place + 1]])
    for part in read.split():
        evidence += round(of_words * words[part])
    shares = set()
    for error in error_numbers(word, read):
        step = min(max((evidence + weights[error]) // 32, -256), 255)
        shares.add(0.65 / (1 + math.exp(-(step + 0.5) * 0.032)))
    return shares


def error_numbers(word: str, read: str) -> set[int]:
    """Returns the numbers of the most probable errors that make a word of another."""
    if " " in read:
        return {18}
    if not word.isalpha() and reads(word, read):
        return {16}
    ways = [
        (LOG_ODDS[kind] + (FIRST_LETTER if place == 0 else 0), kind, place)
        for kind, place in errors(word, read)
        if word.isalpha()
    ]
    numbers = {}
    for odds, kind, place in ways:
        part = 0 if place == 0 else 2 if place >= len(word) - 1 else 1
        number = 3 * ["wrong", "missing", "added", "swapped", "doubled"].index(kind) + part
        numbers[number] = max(odds, numbers.get(number, -math.inf))
    if word in skeletons(read):
        numbers[15] = VARIANT
    if word.translate(str.maketrans(DIGITS)) in look_alikes(read):
        numbers[17] = VARIANT
    best = max(numbers.values())
    return {number for number, odds in numbers.items() if odds == best}

"""Regular English inflection, with a table for the words that do not follow the rules."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Verbs of several syllables that double the last consonant because the last syllable is
# stressed (or by custom). Spelling alone does not show where the stress lies.
_DOUBLING = frozenset(
    """abet abhor acquit admit allot annul befit beget begin bootleg commit compel concur
    confer control defer deter dispel emit enrol entrap equip excel expel extol forget
    fulfil handicap hobnob incur infer inter kidnap nonplus occur offset omit outbid outfit
    outstrip outwit overrun patrol permit prefer propel rebel rebut recap recur refer regret
    remit repel rerun sidestep submit transfer transmit unplug unwrap upset worship""".split()
)
# Final "c" is /k/ in these verbs, so it gets a "k" before a vowel: panicked.
_HARD_C = re.compile(r"[aeiou]c$")
_SIBILANT = re.compile(r"(s|x|z|ch|sh)$")
_CONSONANT_Y = re.compile(r"[^aeiou]y$")
_SHORT_FINAL = re.compile(r"^(?:.*[^aeiou])?(?:qu)?[aeiouy][^aeiouwxyh]$")
_SILENT_E = re.compile(r"[^eoy]e$")
# "-man" is the noun "man" unless the word is in the irregular table (human, shaman).
_MAN = re.compile(r".man$")

Irregular = Mapping[tuple[str, str], tuple[str, ...]]


def count_syllables(word: str) -> int:
    """Estimates the syllables of a word from its groups of vowels.

    Args:
        word: A lower-case English word.

    Returns:
        The number of vowel groups, without a silent final or inner `e`; at least 1.

    Examples:
        >>> count_syllables("lively"), count_syllables("simple"), count_syllables("strange")
        (2, 2, 1)
    """
    stem = re.sub(r"e(?=ly$|ty$|ful$)", "", word)
    if not re.search(r"[^aeiouy]le$", stem):
        stem = re.sub(r"(?<=[^aeiouy])e$", "", stem) or stem
    return max(1, len(re.findall(r"[aeiouy]+", stem.replace("qu", "q"))))


def _doubles(word: str) -> bool:
    """Returns whether the last consonant is doubled before a suffix that starts with a vowel."""
    if word in _DOUBLING:
        return True
    return count_syllables(word) == 1 and _SHORT_FINAL.match(word) is not None


def add_s(word: str) -> str:
    """Adds the regular `-s` of plural nouns and of the third person.

    Args:
        word: A lower-case English noun or verb.

    Returns:
        The word with `-s`, `-es` or `-ies`.

    Examples:
        >>> add_s("city"), add_s("box"), add_s("day")
        ('cities', 'boxes', 'days')
    """
    if _CONSONANT_Y.search(word):
        return word[:-1] + "ies"
    if word.endswith("z") and _doubles(word):
        return word + "zes"
    return word + ("es" if _SIBILANT.search(word) else "s")


def _add_vowel_suffix(word: str, suffix: str) -> str:
    """Adds `-ed`, `-er` or `-est`: drops a final `e`, turns `y` to `i`, doubles a consonant."""
    if word.endswith("e"):
        return word + suffix[1:]
    if _CONSONANT_Y.search(word):
        return word[:-1] + "i" + suffix
    if _doubles(word):
        return word + word[-1] + suffix
    return word + suffix


def _add_ing(word: str) -> str:
    if word.endswith("ie"):
        return word[:-2] + "ying"
    # Without its "e", "singe" would become "singing".
    if _SILENT_E.search(word) and word not in {"singe", "tinge", "binge"}:
        return word[:-1] + "ing"
    if _HARD_C.search(word):
        return word + "king"
    return word + word[-1] + "ing" if _doubles(word) else word + "ing"


def _verb(word: str, irregular: Irregular) -> dict[str, str]:
    regular = word + "ked" if _HARD_C.search(word) else _add_vowel_suffix(word, "ed")
    past, participle = irregular.get((word, "verb"), (regular, regular))
    third = word + "es" if re.search(r"[^aeiou]o$", word) else add_s(word)
    return {"third": third, "past": past, "participle": participle, "gerund": _add_ing(word)}


def _noun(word: str, irregular: Irregular) -> dict[str, str]:
    if (forms := irregular.get((word, "noun"))) is not None:
        return {"plural": forms[0]} if forms and forms[0] != word else {}
    return {"plural": word[:-2] + "en" if _MAN.search(word) else add_s(word)}


def _adjective(word: str, irregular: Irregular) -> dict[str, str]:
    if (forms := irregular.get((word, "adj"))) is not None:
        return {"comparative": forms[0], "superlative": forms[1]} if forms else {}
    syllables = count_syllables(word.removeprefix("un"))
    short = syllables == 1 and not word.endswith("ed")
    if not short and not (syllables == 2 and re.search(r"([^aeiou]y|[^aeiou]le|ow)$", word)):
        return {}
    return {
        "comparative": _add_vowel_suffix(word, "er"),
        "superlative": _add_vowel_suffix(word, "est"),
    }


def inflect(word: str, pos: str, irregular: Irregular) -> dict[str, str]:
    """Returns the inflected forms of a lemma.

    Args:
        word: The lemma, lower case.
        pos: `verb`, `noun` or `adj`; any other part of speech (`adv`, `noun-mass`, `adj-abs`)
            has no inflected forms.
        irregular: `(lemma, pos)` to its forms: past and participle, or plural, or comparative
            and superlative. An empty tuple says that the word has no forms.

    Returns:
        Form by name: `third`, `past`, `participle` and `gerund` of a verb, `plural` of a noun,
        `comparative` and `superlative` of a short adjective.

    Examples:
        >>> inflect("stop", "verb", {})["past"], inflect("happy", "adj", {})["comparative"]
        ('stopped', 'happier')
    """
    if pos == "verb":
        return _verb(word, irregular)
    if pos == "noun":
        return _noun(word, irregular)
    if pos == "adj":
        return _adjective(word, irregular)
    return {}

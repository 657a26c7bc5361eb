"""Tells the columns that identify a thing from the columns that change while it stays the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tf_charagram.search.linkage._columns.dates import date_of
from tf_charagram.search.linkage._columns.names import COLORS, GIVEN_NAMES
from tf_charagram.search.linkage._columns.values import are_mostly, code_of, folded, sampled

# Words of headers, in lowercase and without accents.
_IDENTIFYING = frozenset(
    "given first forename firstname givenname vorname prenom voornaam fornamn imie isbn issn ean "
    "upc gtin sku asin serial vin imei ssn passport doi color colour farbe couleur size groesse "
    "grosse taille model variant flavor flavour".split()
)
# Days and years of birth, and of nothing else.
_BIRTH = frozenset(
    "born birth dob birthdate birthday birthyear yob geburtsdatum geboren geburtstag geburtsjahr "
    "jahrgang naissance nacimiento nascita".split()
)
# Numbers of things, unless they repeat as much as those of shirts and rooms do.
_NUMBERING = frozenset("number id ref reference invoice order".split())
_MIN_DISTINCT_NUMBERS = 0.2
# Names of things identify, even if most rows of a table are duplicates. Job titles do not.
_NAMING = frozenset(
    "title titel titre titulo titolo name nom nombre nome firm company organization organisation "
    "institution assignee owner supplier vendor customer client artist band author song album "
    "product article firma unternehmen kunde lieferant entreprise societe empresa".split()
)
# Amounts, which change, and are no codes even if all have the same number of digits.
_AMOUNTS = frozenset(
    "price amount cost total sum preis donation fee rent salary wage income balance budget revenue "
    "population views votes mileage odometer".split()
)
_CHANGING = _AMOUNTS | frozenset(
    "last surname family lastname familyname nachname phone tel telephone telefon mobile "
    "cell fax mail email addr address adresse anschrift street strasse rue calle via city "
    "town suburb place ort stadt ville zip zipcode postcode postal plz state county country "
    "region land age rating score stock year jahr annee venue journal "
    "genre category style status url website web link lat latitude lng lon longitude description "
    "notes note comment comments remarks guardian parent mother father spouse husband wife contact "
    "doctor physician teacher agent plate".split()
)
# Firms that own a patent identify it, and people who own a car change.
_OWNERS = frozenset("owner holder keeper driver".split())
_SIZE = re.compile(
    r"(\d*x*[sml]|small|medium|large|\d+([.,]\d+)?\s*"
    r"(ml|cl|l|fl oz|oz|mg|g|kg|lbs?|cm|mm|m|in|inch|ft|gb|tb|mb|v|w|pcs|pack))",
    re.IGNORECASE,
)
_PHONE = re.compile(r"[+(]?\d[\d\s()+./x-]{5,}\d")
# An account in a bank, which spouses share and people change.
_IBAN = re.compile(r"[A-Za-z]{2}\d\d ?(?:[A-Za-z\d]{4} ?){2,7}[A-Za-z\d]{0,4}")
# Dates of birth are spread over so many years.
_MIN_YEARS = 15
# Distinct values among all: names of things are nearly unique, towns and kinds are not.
_MIN_DISTINCT = 0.5
_MIN_DISTINCT_NAMES = 0.05
_MAX_KINDS = 10
# Given names are known to be so; of all others, such as surnames, few are.
_MIN_KNOWN = 0.25
_MIN_SHARE = 0.6
# Shorter numbers are postcodes, years and counts as often as they are numbers of things.
_MIN_CODE = 6
# Kinds of which other values are no other spellings.
_MEASURES = ("code", "date", "number", "time")
_HEADER_WORDS = re.compile(r"[^\W\d_]+")
_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def identifies(name: str, kind: str, cells: Sequence[str]) -> bool:
    """Tells whether two rows with different values of a column are hardly ever the same thing.

    Given names, dates of birth, titles, codes, colors and sizes identify; surnames, addresses,
    towns, telephones, e-mail, owners, prices, years and kinds change, or are shared by many things.

    Args:
        name: Header of the column, which decides if it names the kind of value.
        kind: Name of the kind of the column.
        cells: Cells that are not missing, with repetitions.
    """
    words = _words_of(name)
    if words & _BIRTH and kind in _MEASURES:
        return True
    if words & _CHANGING or kind in ("list", "time"):
        return False
    if words & (_IDENTIFYING | _BIRTH):
        return True
    if words & _OWNERS and kind == "name":
        return False
    sample = sampled(cells)
    if not sample:
        return False
    distinct = list(dict.fromkeys(sample))
    if words & _NUMBERING and len(distinct) >= _MIN_DISTINCT_NUMBERS * len(sample):
        return True
    if _is_mostly(_SIZE.fullmatch, distinct):
        return True
    if kind == "date":
        return _has_dates_of_birth(sample)
    if kind == "number":
        return False
    is_naming = words & _NAMING and have_several_words(distinct)
    min_distinct = _MIN_DISTINCT_NAMES if is_naming else _MIN_DISTINCT
    is_distinct = len(distinct) >= min_distinct * len(sample)
    if kind == "code":
        return is_distinct and _is_mostly(_is_code_of_thing, distinct)
    if kind == "name":
        return _are_identifying_names(distinct, is_distinct) and not _are_few(distinct, sample)
    return is_distinct and not _is_mostly(_is_address, distinct)


def is_amount(name: str) -> bool:
    """Tells whether a header names an amount, such as a price."""
    return not _AMOUNTS.isdisjoint(_words_of(name))


def are_keys(kind: str, cells: Sequence[str]) -> bool:
    """Tells codes, dates of birth and given names among the columns that identify.

    Things that have such a column are told by it, and not by other dates and numbers.
    """
    distinct = list(dict.fromkeys(filter(None, cells)))
    return kind in ("code", "date") or (kind == "name" and not have_several_words(distinct))


def may_tell_variants(name: str, kind: str, cells: Sequence[str]) -> bool:
    """Tells whether things that are alike in all else may differ in a column.

    Dates, times, numbers and codes may tell a concert from the same a week later; prices, years
    and telephones are known to change.

    Args:
        name: Header of the column.
        kind: Name of the kind of the column.
        cells: Cells that are not missing, with repetitions.
    """
    words = _words_of(name)
    if kind not in _MEASURES or words & _CHANGING:
        return False
    return kind != "code" or not _is_mostly(_is_contact, list(dict.fromkeys(cells)))


def _words_of(name: str) -> set[str]:
    """Returns the words of a header."""
    words = _HEADER_WORDS.findall(_INNER_CAPITAL.sub(" ", name))
    return set(map(folded, words))


def _is_contact(value: str) -> bool:
    """Tells e-mail addresses, telephones and accounts."""
    is_number = _PHONE.fullmatch(value) or _IBAN.fullmatch(value)
    return "@" in value or is_number is not None


def _is_mostly(
    test: Callable[[str], object], values: Sequence[str], share: float = _MIN_SHARE
) -> bool:
    return are_mostly(test, sampled(values), share)


def have_several_words(values: Sequence[str]) -> bool:
    """Tells full names, titles and firms from given names and colors."""
    return _is_mostly(lambda value: " " in folded(value), values)


def are_full_names(values: Sequence[str]) -> bool:
    """Tells given names and surnames of people, in any order, from towns and firms."""
    return have_several_words(values) and _is_mostly(_has_given_name, values, _MIN_KNOWN)


def _has_given_name(value: str) -> bool:
    return not GIVEN_NAMES.isdisjoint(folded(value).split())


def _has_dates_of_birth(cells: Sequence[str]) -> bool:
    years = sorted(int(day[:4]) for day in map(date_of, cells) if day)
    if not years:
        return False
    # Without the first and the last twentieth.
    num_left_out = len(years) // 20
    return years[-1 - num_left_out] - years[num_left_out] >= _MIN_YEARS


def _are_identifying_names(distinct: Sequence[str], is_distinct: bool) -> bool:
    """Tells given names, full names and colors from surnames and towns."""
    if have_several_words(distinct):
        return is_distinct
    if _is_mostly(lambda value: folded(value) in COLORS, distinct):
        return True
    return _is_mostly(lambda value: folded(value) in GIVEN_NAMES, distinct, _MIN_KNOWN)


def _are_few(distinct: Sequence[str], sample: Sequence[str]) -> bool:
    """Tells the kinds of a column, such as shops with given names, from given names."""
    return len(distinct) < min(_MAX_KINDS, _MIN_DISTINCT_NAMES * len(sample))


def _is_code_of_thing(value: str) -> bool:
    """Tells codes from addresses of e-mail, telephones, accounts and postcodes."""
    return len(code_of(value)) >= _MIN_CODE and not _is_contact(value)


def _is_address(value: str) -> bool:
    """Tells a street and a number: a short text with a number at its start or end."""
    words = value.split()
    return len(words) <= 8 and (words[0][0].isdigit() or words[-1][0].isdigit())

"""The Paraphrase Database (PPDB): official format of versions 1.0 and 2.0."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tf_charagram.errors import ConfigError, DataError, unknown_name

SEPARATOR = " ||| "
ENTAILMENT_TYPES = (
    "Equivalence",
    "ForwardEntailment",
    "ReverseEntailment",
    "Exclusion",
    "OtherRelated",
    "Independent",
)
SCORE = "PPDB2.0Score"
_SCORE_VALUE = re.compile(rf"(?:^|\s){re.escape(SCORE)}=(\S+)")


@dataclass(frozen=True, slots=True)
class PpdbEntry:
    """One line of a PPDB file.

    Attributes:
        phrase: The text.
        paraphrase: Its paraphrase.
        features: The features as written.
        entailment: Entailment type; `None` in version 1.0.

    Reference: Ganitkevitch et al. 2013 (1.0), Pavlick et al. 2015 (2.0).
    """

    phrase: str
    paraphrase: str
    features: str
    entailment: str | None = None

    @property
    def score(self) -> float | None:
        """`PPDB2.0Score`; NaN for `NA`, `None` in version 1.0.

        Raises:
            ValueError: The score is not a number.
        """
        match = _SCORE_VALUE.search(self.features)
        if not match:
            return None
        value = match[1]
        try:
            return math.nan if value == "NA" else float(value)
        except ValueError:
            raise ValueError(f"expected a number for feature {SCORE}, found '{value}'") from None


def parse_ppdb_line(text: str) -> PpdbEntry:
    """Parses `LHS ||| phrase ||| paraphrase ||| features ||| alignment [||| entailment]`.

    Args:
        text: One line without its line end.

    Raises:
        ValueError: The line has neither 5 fields (1.0) nor 6 (2.0).

    Example:
        >>> parse_ppdb_line("[NN] ||| car ||| auto ||| Abstract=0 ||| 0-0").paraphrase
        'auto'
    """
    fields = text.split(SEPARATOR)
    if len(fields) not in (5, 6):
        raise ValueError(f"expected 5 or 6 fields separated by '|||', found {len(fields)}")
    _, phrase, paraphrase, features, _, *entailment = fields
    return PpdbEntry(phrase, paraphrase, features, *entailment)


@dataclass(frozen=True)
class PpdbFilter:
    """Selects entries of a PPDB 2.0 file.

    Args:
        min_score: Smallest `PPDB2.0Score` to keep, or `None` for all.
        entailment: Entailment type or types to keep, or `None` for all.

    Raises:
        ConfigError: `min_score` is not finite, or a type does not exist.
    """

    min_score: float | None = None
    entailment: str | Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.min_score is not None and not math.isfinite(self.min_score):
            raise ConfigError(
                f"`min_score` must be a finite number. Received: min_score={self.min_score}"
            )
        for name in self._types or ():
            if name not in ENTAILMENT_TYPES:
                raise ConfigError(unknown_name("entailment type", name, ENTAILMENT_TYPES))

    @property
    def _types(self) -> Sequence[str] | None:
        return (self.entailment,) if isinstance(self.entailment, str) else self.entailment

    def check_file(self, path: str | Path, first: PpdbEntry | None) -> None:
        """Checks that a file has the fields that the filter needs.

        Args:
            path: The file.
            first: Its first entry, or `None` for a file that is not PPDB.

        Raises:
            DataError: The file has no scores or entailment types, but the filter needs them.
        """
        kind = "a PPDB 1.0 file" if first else "a tab-separated file, not PPDB 2.0"
        remedy = "Give a PPDB 2.0 file, or remove this filter."
        if self.min_score is not None and (first is None or first.score is None):
            raise DataError(path, f"`min_score` needs {SCORE}, but this is {kind}. {remedy}")
        if self.entailment is not None and (first is None or first.entailment is None):
            raise DataError(path, f"`entailment` needs its types, but this is {kind}. {remedy}")

    def keeps(self, entry: PpdbEntry) -> bool:
        """Returns whether an entry passes the filter.

        Raises:
            ValueError: The entry lacks a field that the filter needs.
        """
        types = self._types
        if types is not None:
            if entry.entailment is None:
                raise ValueError("expected a 6th field, the entailment type, found 5 fields")
            if entry.entailment not in types:
                return False
        if self.min_score is None:
            return True
        score = entry.score
        if score is None:
            raise ValueError(f"expected the feature {SCORE}, but it is missing")
        return score >= self.min_score

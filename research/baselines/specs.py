"""Baselines by name: `average:FILE`, `tfidf`, `tfidf:FILE`, `vectors:FILE`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast, get_args

from research.baselines.frequencies import WordFrequencies
from research.baselines.stored_vectors import StoredVectors
from research.baselines.word_average import Weighting, WordAverage, load_table
from tf_charagram.data.bad_lines import BadLines
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.evaluation.tfidf import CharacterTfidf
from tf_charagram.files.writing import check_is_file

#: What each kind is followed by after a colon.
KINDS = {
    "average": "file of word vectors",
    "tfidf": "file of texts, one per line",
    "vectors": "file of vectors of the texts",
}
# Longest name of a file in a label.
_LONGEST = 22
_NEEDS_FILE = ("average", "vectors")


class Baseline(Protocol):
    """What a baseline does."""

    def fit(self, texts: Sequence[str]) -> None:
        """Takes from the texts of a set what it needs to know of them, if anything."""

    def encode(self, texts: Sequence[str]) -> Any:
        """Returns vectors, float32 `(num_texts, dim)`; an array, or SciPy's CSR matrix."""

    def notes(self) -> list[str]:
        """Returns what a reader of its scores should know, such as how many words it lacks."""


@dataclass(frozen=True)
class BaselineSpec:
    """A baseline that is not loaded yet.

    Attributes:
        kind: One of `KINDS`.
        path: Its file, if it has one.
        weighting: How an average weights words.
        frequencies: File of the frequencies of words, for an average that needs them.
    """

    kind: str
    path: str | None = None
    weighting: Weighting = "none"
    frequencies: str | None = None

    @property
    def name(self) -> str:
        """Its name in results: what was given, with the weighting, if there is one."""
        return self._name(self.path)

    @property
    def label(self) -> str:
        """Its short name in tables, with the name of the file instead of the path."""
        name = self.path and Path(self.path).name
        if name and len(name) > _LONGEST:
            name = f"{name[: _LONGEST - 3]}..."
        return self._name(name)

    def _name(self, path: str | None) -> str:
        name = self.kind if path is None else f"{self.kind}:{path}"
        return name if self.weighting == "none" else f"{name} ({self.weighting})"


def load_baselines(
    specs: Iterable[BaselineSpec], texts: Callable[[], Iterable[str]], bad_lines: BadLines
) -> Iterator[tuple[BaselineSpec, Baseline]]:
    """Loads baselines one by one; averages of one file, one after the other, share its vectors.

    Args:
        specs: The baselines.
        texts: Returns all texts they will be asked for, so that no other words are loaded.
        bad_lines: What to do about bad lines.

    Raises:
        CharagramError: A file cannot be used, or an extra is missing.
    """
    loaded, table = "", None
    for spec in specs:
        path = spec.path or ""
        if spec.kind == "tfidf":
            yield spec, CharacterTfidf.load(path) if path else CharacterTfidf()
        elif spec.kind == "vectors":
            yield spec, StoredVectors.load(path, on_bad_line=bad_lines)
        else:
            if table is None or loaded != path:
                loaded, table = path, load_table(path, texts(), on_bad_line=bad_lines)
            frequencies = WordFrequencies.load(spec.frequencies) if spec.frequencies else None
            yield spec, WordAverage(table, weighting=spec.weighting, frequencies=frequencies)


def baseline_specs(
    names: Sequence[str], weightings: Sequence[str] = ("none",), frequencies: str | None = None
) -> list[BaselineSpec]:
    """Returns the baselines of `--baseline`; each average once with each weighting.

    Args:
        names: Such as `average:FILE`, `tfidf`, `tfidf:FILE`, `vectors:FILE`.
        weightings: Of averages.
        frequencies: File of the frequencies of words, see `WordFrequencies.load`.

    Raises:
        ConfigError: A kind or a weighting is unknown, a kind lacks its file, or flags do not go
            together.
        DataError: A file is missing.
    """
    for weighting in weightings:
        if weighting not in get_args(Weighting):
            raise ConfigError(unknown_name("weighting", weighting, get_args(Weighting)))
    specs: list[BaselineSpec] = []
    for name in names:
        kind, _, path = name.partition(":")
        if kind not in KINDS:
            raise ConfigError(unknown_name("baseline", kind, KINDS))
        if not path and kind in _NEEDS_FILE:
            raise ConfigError(f"--baseline {kind} needs a {KINDS[kind]}: --baseline {kind}:FILE.")
        for weighting in weightings if kind == "average" else ("none",):
            of_words = None if weighting == "none" else frequencies
            specs.append(BaselineSpec(kind, path or None, cast(Weighting, weighting), of_words))
    _check_flags(specs, weightings, frequencies)
    for file in (*(spec.path for spec in specs), frequencies):
        if file is not None:
            check_is_file(file)
    return specs


def _check_flags(
    specs: Sequence[BaselineSpec], weightings: Sequence[str], frequencies: str | None
) -> None:
    """Raises an error for flags that would do nothing."""
    has_average = any(spec.kind == "average" for spec in specs)
    if tuple(weightings) != ("none",) and not has_average:
        raise ConfigError("--weighting is for --baseline average:FILE. Leave it out.")
    if frequencies is not None and not any(spec.frequencies for spec in specs):
        raise ConfigError(
            "--frequencies is for --baseline average:FILE with --weighting inverse-frequency or "
            "sif. Leave it out."
        )

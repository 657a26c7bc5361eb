"""Baselines by name: `average:FILE`, `tfidf`, `vectors:FILE`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from research.baselines.frequencies import WordFrequencies
from research.baselines.stored_vectors import StoredVectors
from research.baselines.word_average import Weighting, WordVectorAverage, load_table
from tf_charagram._files.writing import check_is_file
from tf_charagram.data._tables.lines import BadLines
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.evaluation._scores.embedders import tfidf_vectors
from tf_charagram.evaluation._scores.scores import Embed

#: Kind -> the file after its colon, if any.
KINDS = {"average": "file of word vectors", "tfidf": None, "vectors": "file of text vectors"}


@dataclass(frozen=True)
class BaselineSpec:
    """A baseline that is not loaded yet.

    Attributes:
        kind: One of `KINDS`.
        path: Its file, if any.
        weighting: Weighting of the words of an average.
        frequencies: File of word frequencies, for an average that needs them.
    """

    kind: str
    path: str | None = None
    weighting: Weighting = "none"
    frequencies: str | None = None

    @property
    def name(self) -> str:
        """Its name in results."""
        return self._name(self.path)

    @property
    def label(self) -> str:
        """Its name in tables, without the folder of its file."""
        return self._name(self.path and Path(self.path).name)

    def _name(self, path: str | None) -> str:
        name = self.kind if path is None else f"{self.kind}:{path}"
        return name if self.weighting == "none" else f"{name} ({self.weighting})"


def baseline_specs(
    names: Sequence[str], weightings: Sequence[str] = ("none",), frequencies: str | None = None
) -> list[BaselineSpec]:
    """Parses the names of baselines; each average is repeated with each weighting.

    Args:
        names: Such as `average:FILE`, `tfidf`, `vectors:FILE`.
        weightings: Weightings of averages.
        frequencies: File of word frequencies, see `WordFrequencies.load`.

    Raises:
        ConfigError: A kind or a weighting is unknown, or a file is not named.
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
        if KINDS[kind] and not path:
            raise ConfigError(f"--baseline {kind} needs a {KINDS[kind]}: --baseline {kind}:FILE.")
        for weighting in weightings if kind == "average" else ("none",):
            of_words = None if weighting == "none" else frequencies
            specs.append(BaselineSpec(kind, path or None, cast(Weighting, weighting), of_words))
    for file in (*(spec.path for spec in specs), frequencies):
        if file is not None:
            check_is_file(file)
    return specs


def load_baselines(
    specs: Sequence[BaselineSpec], texts: Sequence[str], bad_lines: BadLines
) -> Iterator[tuple[BaselineSpec, Embed]]:
    """Loads baselines one by one; consecutive averages of one file share its vectors.

    Args:
        specs: The baselines.
        texts: All texts to be encoded; other words are not loaded.
        bad_lines: Policy for bad lines.

    Raises:
        CharagramError: A file cannot be used.
    """
    loaded, table = "", None
    for spec in specs:
        path = spec.path or ""
        if spec.kind == "tfidf":
            yield spec, tfidf_vectors
        elif spec.kind == "vectors":
            yield spec, StoredVectors.load(path, on_bad_line=bad_lines)
        else:
            if table is None or loaded != path:
                loaded, table = path, load_table(path, texts, on_bad_line=bad_lines)
            frequencies = WordFrequencies.load(spec.frequencies) if spec.frequencies else None
            yield spec, WordVectorAverage(table, weighting=spec.weighting, frequencies=frequencies)

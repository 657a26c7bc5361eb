"""The data of the papers' tables, found in a folder, or substitutes."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tf_charagram.data._tables.lines import BadLines
from tf_charagram.data._tables.scored import files_below
from tf_charagram.data.readers.pairs import Pair, read_aligned, read_pairs
from tf_charagram.tasks.paraphrase._corpus.corpus import FILES_SEPARATOR, pairs_files


@dataclass(frozen=True)
class Alternative:
    """Files for a role.

    Attributes:
        what: Description.
        patterns: Patterns of file names; all matching files are used.
        is_papers: Whether this is the data the paper used.
        is_aligned: Whether the files of two patterns are aligned line by line.
    """

    what: str
    patterns: tuple[str, ...]
    is_papers: bool = False
    is_aligned: bool = False


_PHRASES = Alternative(
    "PPDB XL, phrasal", ("ppdb-*-xl-phrasal*", "ppdb-*-xl-phrase*"), is_papers=True
)
_SOME_PHRASES = ("ppdb-phrasal-pairs*", "ppdb-xl-lexical*")
_PHRASES_XXL = Alternative(
    "PPDB XXL, phrasal", ("ppdb-*-xxl-phrasal*", "ppdb-*-xxl-phrase*"), is_papers=True
)
_SENTENCES = (
    "asset*", "bible-*", "pan-*", "parade-*", "tatoeba-pivot-*", "turkcorpus*", "twitter-url-*",
    "webnlg-*", "wikisplit-*",
)  # fmt: skip

_PHRASES_AND_SENTENCES = Alternative(
    "a sample of phrase pairs of PPDB, PPDB XL, lexical, and pairs of sentences",
    (*_SOME_PHRASES, *_SENTENCES),
)

#: Role -> its alternatives, best first. The first with a file is used.
ROLES: dict[str, tuple[Alternative, ...]] = {
    "words": (
        Alternative("PPDB XXL, lexical", ("ppdb-*-xxl-lexical*",), is_papers=True),
        Alternative("PPDB XL, lexical", ("ppdb-*xl-lexical*",)),
    ),
    "phrases": (
        _PHRASES,
        Alternative("a sample of phrase pairs of PPDB, and PPDB XL, lexical", _SOME_PHRASES),
    ),
    # Training data of sentence models: with few phrases, sentences too.
    "paraphrases": (_PHRASES, _PHRASES_AND_SENTENCES),
    "paraphrases-xxl": (
        _PHRASES_XXL, replace(_PHRASES, is_papers=False), _PHRASES_AND_SENTENCES,
    ),
    "sentences": (
        Alternative(
            "SimpWiki", ("normal.aligned*", "simple.aligned*"), is_papers=True, is_aligned=True
        ),
        Alternative("SimpWiki", ("simpwiki*",), is_papers=True),
        Alternative(
            "simplifications, translations and other pairs of sentences, without captions",
            _SENTENCES,
        ),
    ),
    "tagged-train": (
        Alternative("Penn Treebank, sections 1-18", ("wsj.train*",), is_papers=True),
        Alternative("English Web Treebank", ("ewt.train*", "en_ewt-ud-train*")),
    ),
    "tagged-dev": (
        Alternative("Penn Treebank, sections 19-21", ("wsj.dev*",), is_papers=True),
        Alternative("English Web Treebank", ("ewt.dev*", "en_ewt-ud-dev*")),
    ),
    "tagged-test": (
        Alternative("Penn Treebank, sections 22-24", ("wsj.test*",), is_papers=True),
        Alternative("English Web Treebank", ("ewt.test*", "en_ewt-ud-test*")),
    ),
    "sick-train": (Alternative("SICK", ("SICK.train*", "SICK_train*"), is_papers=True),),
    "sick-dev": (Alternative("SICK", ("SICK.trial*", "SICK_trial*"), is_papers=True),),
    "sick-test": (
        Alternative("SICK", ("SICK.test*", "SICK_test_annotated*"), is_papers=True),
    ),
    "sst-train": (Alternative("SST, binary", ("sst.binary.train.tsv",), is_papers=True),),
    "sst-dev": (Alternative("SST, binary", ("sst.binary.dev*",), is_papers=True),),
    "sst-test": (Alternative("SST, binary", ("sst.binary.test*",), is_papers=True),),
}  # fmt: skip


@dataclass(frozen=True)
class RoleData:
    """The data found for a role.

    Attributes:
        names: Values of `--data` and `--eval-data`: files, `A::B`, or `FOLDER:SPLIT`.
        alternative: The alternative that they are.
    """

    names: tuple[str, ...]
    alternative: Alternative

    def pairs(self) -> Iterator[Pair]:
        """Streams the pairs, skipping bad lines, which the run itself reports.

        Raises:
            DataError: A file cannot be read.
        """
        for name in self.names:
            first, *second = pairs_files(name)
            if second:
                yield from read_aligned(first, *second)
            else:
                yield from read_pairs(first, header=False, on_bad_line=BadLines("skip"))


def find_sources(folder: Path) -> dict[str, RoleData]:
    """Finds the data of each role below a folder, at any depth.

    Raises:
        DataError: The folder does not exist.
    """
    files = files_below(folder)
    found = {}
    for role, alternatives in ROLES.items():
        for alternative in alternatives:
            if names := _names(alternative, files):
                found[role] = RoleData(names, alternative)
                break
    return found


def _names(alternative: Alternative, files: list[Path]) -> tuple[str, ...]:
    """Returns the names of the data of an alternative; empty if its files are missing."""
    by_pattern = [
        [file for file in files if fnmatch.fnmatch(file.name.lower(), pattern.lower())]
        for pattern in alternative.patterns
    ]
    if alternative.is_aligned:
        left, right = by_pattern
        return (f"{left[0]}{FILES_SEPARATOR}{right[0]}",) if left and right else ()
    matching = sorted(file for files in by_pattern for file in files)
    # One file of each name: copies would count twice.
    return tuple(str(file) for file in {file.name: file for file in matching}.values())

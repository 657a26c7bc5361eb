"""The data that the papers' tables need: found in a folder, or what stands in for it."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from pathlib import Path

from tf_charagram.data.readers.scored import files_below


@dataclass(frozen=True)
class Alternative:
    """Files that serve for a role.

    Attributes:
        what: What they are, for the column "data" of a report.
        patterns: Names of the files; those of each pattern that are there are used.
        is_papers: Whether this is the data the paper used.
    """

    what: str
    patterns: tuple[str, ...]
    is_papers: bool = False


_PHRASES = Alternative(
    "PPDB XL, phrasal", ("ppdb-*-xl-phrasal*", "ppdb-*-xl-phrase*"), is_papers=True
)
_SOME_PHRASES = ("ppdb-phrasal-pairs*", "ppdb-xl-lexical*")
_SENTENCES = (
    "asset*", "bible-*", "pan-*", "parade-*", "tatoeba-pivot-*", "turkcorpus*", "twitter-url-*",
    "webnlg-*", "wikisplit-*",
)  # fmt: skip

#: Role -> the data that may serve for it, best first. The first of which a file is there is used.
ROLES: dict[str, tuple[Alternative, ...]] = {
    "words": (
        Alternative("PPDB XXL, lexical", ("ppdb-*-xxl-lexical*",), is_papers=True),
        Alternative("PPDB XL, lexical", ("ppdb-*xl-lexical*",)),
    ),
    "phrases": (
        _PHRASES,
        Alternative("a sample of phrase pairs of PPDB, and PPDB XL, lexical", _SOME_PHRASES),
    ),
    # What sentence models are trained on: where there are few phrases, sentences too.
    "paraphrases": (
        _PHRASES,
        Alternative(
            "a sample of phrase pairs of PPDB, PPDB XL, lexical, and pairs of sentences",
            (*_SOME_PHRASES, *_SENTENCES),
        ),
    ),
    "sentences": (
        Alternative("SimpWiki", ("simpwiki*", "sentence-aligned*"), is_papers=True),
        Alternative(
            "simplifications, translations and other pairs of sentences, without captions",
            _SENTENCES,
        ),
    ),
    "tagged-train": (
        Alternative("Penn Treebank, sections 0-18", ("wsj.train*",), is_papers=True),
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
class Source:
    """The files found for a role.

    Attributes:
        files: The files, sorted.
        alternative: What they are.
    """

    files: tuple[Path, ...]
    alternative: Alternative


def find_sources(folder: Path) -> dict[str, Source]:
    """Returns the data of each role that a folder has, at any depth.

    Raises:
        DataError: There is no such folder.
    """
    files = files_below(folder)
    found = {}
    for role, alternatives in ROLES.items():
        for alternative in alternatives:
            matching = [file for file in files if _matches(file.name, alternative.patterns)]
            if matching:
                found[role] = Source(tuple(_distinct(matching)), alternative)
                break
    return found


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatch(name.lower(), pattern.lower()) for pattern in patterns)


def _distinct(files: list[Path]) -> list[Path]:
    """Returns the files, one of each name."""
    return list({file.name: file for file in files}.values())

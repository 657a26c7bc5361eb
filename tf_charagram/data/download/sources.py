"""The public data sets: one table of addresses, checksums and licences."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Literal


@dataclass(frozen=True)
class Source:
    """A data set that can be downloaded.

    Attributes:
        url: Address of the file or archive.
        kind: What it holds: `"pairs"` for `read_pairs`, `"wordsim"` for `read_wordsim`.
        licence: Licence as its authors state it.
        members: File names inside the archive, without folders; empty when `url` is the data
            file itself. Several are joined, each line once.
        checksum: `"sha1:..."` or `"sha256:..."` of what `url` gives, or `None` if unknown.
    """

    url: str
    kind: Literal["pairs", "wordsim"]
    licence: str
    members: tuple[str, ...] = ()
    checksum: str | None = None


_PPDB = "http://nlpgrid.seas.upenn.edu/PPDB/eng/"
_NOT_STATED = "not stated; see the paper and the archive"
_SIM = "wordsim_similarity_goldstandard.txt"
_REL = "wordsim_relatedness_goldstandard.txt"


def _ws353(*members: str) -> Source:
    return Source(
        "http://alfonseca.org/pubs/ws353simrel.tar.gz",
        "wordsim",
        "CC BY 4.0",
        members,
        "sha1:1b9ca7f4d61682dea0004acbd48ce74275d5bfff",
    )


SOURCES: dict[str, Source] = {
    "SL999": Source(
        "https://fh295.github.io/SimLex-999.zip",
        "wordsim",
        _NOT_STATED,
        ("SimLex-999.txt",),
        "sha1:0d3afe35b89d60acf11c28324ac7be10253fda39",
    ),
    # The 352 different rows of both halves; the original set of 353 has one pair twice.
    "WS353": _ws353(_SIM, _REL),
    "WS353-SIM": _ws353(_SIM),
    "WS353-REL": _ws353(_REL),
    "RW": Source(
        "https://nlp.stanford.edu/~lmthang/morphoNLM/rw.zip",
        "wordsim",
        _NOT_STATED,
        ("rw.txt",),
        "sha1:bf9c5959a0a2d7ed8e51d91433ac5ebf366d4fb9",
    ),
    "MEN": Source(
        "https://staff.fnwi.uva.nl/e.bruni/resources/MEN.tar.gz",
        "wordsim",
        "CC BY 2.0",
        ("MEN_dataset_natural_form_full",),
        "sha1:3c4af1b7009c1ad75e03562f7f7bc5f51ff3a31a",
    ),
    "SimVerb": Source(
        "http://people.ds.cam.ac.uk/dsg40/paper/simverb/simverb-3500-data.zip",
        "wordsim",
        _NOT_STATED,
        ("SimVerb-3500.txt",),
        "sha1:8c43b0a34823def29ad4c4f4d7e9d3b91acf8b8d",
    ),
} | {
    f"ppdb-{version}-{size}-{kind}": Source(
        f"{_PPDB}ppdb-{version}-{size}-{kind}.gz", "pairs", "CC BY 3.0 US (paraphrase.org)"
    )
    for version, size, kind in product(
        ("1.0", "2.0"),
        ("s", "m", "l", "xl", "xxl", "xxxl"),
        ("lexical", "phrasal", "o2m", "m2o", "all"),
    )
}

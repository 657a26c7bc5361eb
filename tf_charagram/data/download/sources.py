"""Public data sets: addresses, checksums and licences."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Literal

Kind = Literal["pairs", "wordsim", "sts", "tagged", "sentiment", "vectors"]

#: Kind -> the command for a set of it; `PATH` is the file or the folder.
USES: dict[Kind, str] = {
    "pairs": "train --data PATH",
    "wordsim": "evaluate MODEL --eval-data PATH",
    "sts": "evaluate MODEL --eval-data PATH",
    "tagged": "train --task pos --data PATH",
    "sentiment": "train --task sentiment --data PATH/train.txt",
    "vectors": "train --word-vectors PATH",
}


@dataclass(frozen=True)
class Source:
    """A data set that can be downloaded.

    Attributes:
        url: Address of the file or archive.
        kind: Its kind, see `USES`.
        licence: Licence as its authors state it.
        members: File names inside the archive, without folders; empty if `url` is the data
            file itself. Several are joined, and repeated lines dropped.
        checksum: `"sha1:..."` or `"sha256:..."` of the file at `url`, if known.
        is_folder: Whether to unpack all files of the archive into a folder named like the set.
        num_bytes: Approximate size of the file at `url`, if known.
    """

    url: str
    kind: Kind
    licence: str
    members: tuple[str, ...] = ()
    checksum: str | None = None
    is_folder: bool = False
    num_bytes: int | None = None


#: Data sets that their owners hand out on request.
ON_REQUEST = {
    "SimpWiki": "Coster & Kauchak 2011 (aligned Simple Wikipedia)",
    "STS2017": "SemEval-2017, task 1",
    "Twitter": "SemEval-2015, task 1 (Xu et al. 2015)",
    "pavlick": "PPDB 2.0, human judgements (Pavlick et al. 2015)",
    "annotated-ppdb": "J. Wieting's page (Wieting et al. 2015)",
    "PTB": "Linguistic Data Consortium, LDC99T42",
    "GoogleNews": "word2vec's page (Mikolov et al. 2013)",
    "paragram": "J. Wieting's page (Wieting et al. 2015)",
    "charagram": "J. Wieting's page (Wieting et al. 2016)",
}

_STS = "http://ixa2.si.ehu.es/stswiki/images"
_EWT = "https://raw.githubusercontent.com/UniversalDependencies/UD_English-EWT/master"
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
    # The 352 distinct rows of both halves; the original set of 353 repeats a pair.
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
    **{
        f"STS{year}": Source(
            f"{_STS}/{place}/STS{year}-en-test.zip", "sts", _NOT_STATED, is_folder=True
        )
        for year, place in (
            (2012, "4/40"),
            (2013, "2/2f"),
            (2014, "8/8c"),
            (2015, "d/da"),
            (2016, "9/98"),
        )
    },
    "SICK": Source(
        "https://zenodo.org/record/2787612/files/SICK.zip", "sts", "CC BY-NC-SA 3.0", ("SICK.txt",)
    ),
    **{
        f"EWT-{split}": Source(f"{_EWT}/en_ewt-ud-{split}.conllu", "tagged", "CC BY-SA 4.0")
        for split in ("train", "dev", "test")
    },
    "SST": Source(
        "https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip",
        "sentiment",
        _NOT_STATED,
        is_folder=True,
        num_bytes=789_539,
    ),
    "glove.6B.300d": Source(
        "https://nlp.stanford.edu/data/glove.6B.zip",
        "vectors",
        "PDDL 1.0",
        ("glove.6B.300d.txt",),
        num_bytes=862_182_613,
    ),
    "wiki-news-300d-1M": Source(
        "https://dl.fbaipublicfiles.com/fasttext/vectors-english/wiki-news-300d-1M.vec.zip",
        "vectors",
        "CC BY-SA 3.0",
        ("wiki-news-300d-1M.vec",),
        num_bytes=681_808_098,
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

"""The readers of data sets."""

from __future__ import annotations

import gzip
from functools import partial

from research.readers.annotated_ppdb import read_annotated_ppdb
from research.readers.pavlick import read_pavlick
from research.readers.twitter import read_twitter
from tests.campaigns.fuzz.targets.files import file_target
from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.readers.misspellings import read_misspellings
from tf_charagram.data.readers.pairs import read_aligned, read_pairs
from tf_charagram.data.readers.sick import read_sick
from tf_charagram.data.readers.sts import read_sts
from tf_charagram.data.readers.wordsim import read_wordsim
from tf_charagram.tasks.labelled_reader import (
    read_labelled_pairs,
    read_labelled_texts,
    read_scored_pairs,
)
from tf_charagram.tasks.sentiment.sst import read_trees
from tf_charagram.tasks.tagging.reader import read_tagged

PAIRS = b"cat\tcats\na dog\tsome dogs\ncaf\xc3\xa9\t\xf0\x9f\x98\x80\n"
CONLLU = (
    b"# sent_id = 1\n# text = The cat can't sit.\n"
    b"1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_\n2\tcat\tcat\tNOUN\tNN\t_\t5\tnsubj\t_\t_\n"
    b"3-4\tcan't\t_\t_\t_\t_\t_\t_\t_\t_\n3\tca\tcan\tAUX\tMD\t_\t5\taux\t_\t_\n"
    b"4\tn't\tnot\tPART\tRB\t_\t5\tadvmod\t_\t_\n5\tsit\tsit\tVERB\tVB\t_\t0\troot\t_\t_\n"
    b"5.1\tnode\t_\t_\t_\t_\t_\t_\t_\t_\n6\t.\t.\tPUNCT\t.\t_\t5\tpunct\t_\t_\n\n"
)
TREES = (
    b"( (S (NP-SBJ (DT The) (NN cat)) (VP (VBZ sits) (NP (-NONE- *T*))) (. .)) )\n"
    b"( (S (NP (NNP Ms.) (NNP Haag))\n     (VP (VBZ plays)\n       (NP (NNP Elianti)))\n (. .)))\n"
)
SST = b"(3 (2 It) (4 (2 sings) (3 -LRB- -RRB-)))\n(1 (2 It) (0 (1 stinks) (2 .)))\n"
PPDB = (
    b"[VB] ||| agreed ||| consented ||| PPDB2.0Score=3.5 PPDB1.0Score=2.1 Abstract=0 ||| 0-0 ||| "
    b"Equivalence\n"
    b"[NP] ||| the cat ||| a cat ||| PPDB2.0Score=2.25 Lex=1 ||| 0-0 1-1 ||| ForwardEntailment\n"
)
STS = b"4.5\tA cat sits.\tThe cat is sitting.\n0\tA dog.\tThe car\n2.5\tone\ttwo\n\tnot\tjudged\n"
SICK = (
    b"pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\tSemEval_set\n"
    b"1\tA cat sits\tThe cat is sitting\t4.5\tENTAILMENT\tTRAIN\n"
    b"2\tA dog runs\tNo dog is running\t3.2\tCONTRADICTION\tTEST\n"
    b"3\tA man\tA woman\t2.9\tNEUTRAL\tTEST\n4\tA car\tThe bus\t1.0\tNEUTRAL\tTRIAL\n"
)
NLI = b"".join(line.rpartition(b"\t")[0] + b"\n" for line in SICK.splitlines())
LABELLED = b"label\ttext\n1\ta lovely film\n0\tit stinks , really\n1\tnot bad\n0\tboring\n"
TABS = (b"\t", b"\n", b"\r\n")

_SKIP = BadLines.POLICIES[1]


def _text(name, file_name, read, seeds, tokens=TABS, **fields):  # type: ignore[no-untyped-def]
    return file_target(name, file_name, read, seeds, tokens, **fields)


def _lists(read):  # type: ignore[no-untyped-def]
    """Returns a reader that reads a file twice: to the first bad line, and without those."""

    def both(path):  # type: ignore[no-untyped-def]
        bad = BadLines(_SKIP)
        try:
            skipped = read(path, on_bad_line=bad)
            skipped = list(skipped) if hasattr(skipped, "__next__") else skipped
        finally:
            bad.summary()
        whole = read(path, on_bad_line="error")
        return [skipped, list(whole) if hasattr(whole, "__next__") else whole]

    return both


TARGETS = [
    _text("reader.pairs", "pairs.tsv", _lists(read_pairs), [PAIRS, gzip.compress(PAIRS)]),
    _text(
        "reader.ppdb", "ppdb.txt", _lists(partial(read_pairs, min_score=1.0)), [PPDB],
        (b" ||| ", b"=", b"PPDB2.0Score", b"Equivalence", b"\n"),
    ),
    _text(
        "reader.aligned", "left.txt", lambda path: list(read_aligned(path, path.parent / "r.txt")),
        [b"A cat .\nThe dog .\n"], beside={"r.txt": b"Cats .\nDogs .\n"}, in_message=".txt",
    ),
    _text("reader.conllu", "tags.conllu", _lists(read_tagged), [CONLLU],
          (b"\t", b"\n\n", b"_", b"# ", b"3-4\t", b"8.1\t")),
    _text("reader.trees", "wsj.mrg", _lists(read_tagged), [TREES],
          (b"(", b")", b"(NN x)", b"-NONE-", b"\n( ")),
    _text("reader.pos", "wsj.pos", _lists(read_tagged),
          [b"[ The/DT cat/NN ]\nsits/VBZ ./.\n=====\n\n[ 1\\/2/CD ]\n"],
          (b"/", b"\\/", b"[ ", b"|")),
    _text("reader.slashes", "tags.txt", _lists(read_tagged), [b"The/DT cat/NN\nsits/VBZ ./.\n"],
          (b"/", b"\\/", b" ")),
    _text("reader.sst", "sst.txt", _lists(partial(read_trees, phrases=True)), [SST],
          (b"(", b")", b"(2 x)", b"-LRB-")),
    _text("reader.sts", "sts.tsv", _lists(read_sts), [STS]),
    _text(
        "reader.sts-official", "STS.gs.OnWN.txt", _lists(read_sts), [b"4.5\n0\n\n3.25\n"],
        beside={"STS.input.OnWN.txt": b"a cat\tcats\na\tb\nx\ty\none\ttwo\n"}, in_message="OnWN",
    ),
    _text("reader.sick", "SICK.txt", _lists(read_sick), [SICK],
          (*TABS, b"relatedness_score", b"SemEval_set", b"TEST")),
    _text("reader.wordsim", "ws.csv", _lists(read_wordsim),
          [b"# note\nWord 1,Word 2,Human (mean)\ncat,dog,7.5\ncar,bus,6\n",
           b"sun-n moon-n 5.5\nsea-n lake-n 4\n"], (b",", b"\t", b"#", b"-n", b"score")),
    _text("reader.misspellings", "misspellings.tsv", _lists(read_misspellings),
          [b"teh\tthe\nrecieve\treceive\n", b"$the\nteh\nhte\n$cat\nkat\n", 
           b"teh->the\nkat->cat\n"], (b"\t", b"$", b"->", b"\n", b",")),
    _text("reader.annotated-ppdb", "annotated-ppdb-test", _lists(read_annotated_ppdb),
          [b"a cat ||| cats ||| 4.2\nthe dog ||| a bus ||| 1.4\n"], (b" ||| ", b"\t")),
    _text("reader.twitter", "test.data", _lists(read_twitter),
          [b"1\tx\ta cat sits\tthe cat sits\t(3, 2)\ta/b\tc/d\n"
           b"2\ty\tdog runs\tdogs run\t(0, 5)\ta/b\tc/d\n"], (*TABS, b"(3, 2)"), in_message="test"),
    _text("reader.pavlick", "pavlick.csv", _lists(read_pavlick),
          [b"4.5\tx\ty\ta cat\tcats\n1.5\tx\ty\tthe dog\ta bus\n"]),
    _text("reader.texts", "sentiment.tsv", _lists(read_labelled_texts), [LABELLED, SST],
          (*TABS, b"label", b"text", b'"')),
    _text("reader.texts-csv", "sentiment.csv", _lists(read_labelled_texts),
          [b'text,label\n"a ""good"" one",1\n"two\nlines",0\nx,1\n'], (b'"', b",", b'""', b"\n")),
    _text("reader.labelled-pairs", "nli.tsv", _lists(read_labelled_pairs), [NLI]),
    _text("reader.scored-pairs", "scored.tsv", _lists(read_scored_pairs), [NLI]),
]  # fmt: skip

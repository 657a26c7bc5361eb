"""The PPDB format, on lines in the official form."""

from __future__ import annotations

import math
import time

import pytest

from tf_charagram.data.readers.ppdb import PpdbEntry, PpdbFilter, parse_ppdb_line
from tf_charagram.errors import ConfigError, DataError

V1 = (
    "[NN] ||| car ||| automobile ||| Abstract=0 Adjacent=0 CharCountDiff=7 CharLogCR=1.20397 "
    "Lex(e|f)=62.90141 Lexical=1 p(e|f,LHS)=0.35667 AGigaSim=0.71573 GoogleNgramSim=0 ||| 0-0"
)
V2 = (
    "[NP] ||| the cars ||| the automobiles ||| PPDB2.0Score=5.36156 PPDB1.0Score=3.840280 "
    "-logp(LHS|e1)=0 AGigaSim=0.71152 Equivalence=0.601220 MVLSASim=NA ||| 0-0 1-1 ||| Equivalence"
)


def test_version_1():
    entry = parse_ppdb_line(V1)
    assert (entry.phrase, entry.paraphrase) == ("car", "automobile")
    assert (entry.entailment, entry.score) == (None, None)


def test_version_2():
    entry = parse_ppdb_line(V2)
    assert (entry.phrase, entry.paraphrase) == ("the cars", "the automobiles")
    assert (entry.entailment, entry.score) == ("Equivalence", 5.36156)


def test_score_is_found_at_any_place_and_only_by_its_whole_name():
    def score(features):
        return PpdbEntry("a", "b", features).score

    assert score("X=1 PPDB2.0Score=-2.5") == -2.5
    assert score("MyPPDB2.0Score=1 PPDB2x0Score=3") is None
    assert math.isnan(score("PPDB2.0Score=NA"))


def test_empty_alignment_is_a_field():
    entry = parse_ppdb_line("[X] ||| a ||| b ||| PPDB2.0Score=1 |||  ||| Exclusion")
    assert entry.entailment == "Exclusion"


@pytest.mark.parametrize(("text", "found"), [("a", 1), ("a ||| b", 2), (V2 + " ||| x", 7)])
def test_wrong_number_of_fields(text, found):
    with pytest.raises(ValueError, match=rf"expected 5 or 6 fields .*, found {found}"):
        parse_ppdb_line(text)


def test_broken_score():
    entry = PpdbEntry("a", "b", "PPDB2.0Score=high Lexical")
    with pytest.raises(ValueError, match=r"expected a number for feature PPDB2\.0Score, found 'hi"):
        _ = entry.score


def test_filter():
    entry = parse_ppdb_line(V2)
    assert PpdbFilter().keeps(entry)
    assert PpdbFilter(5.36156, "Equivalence").keeps(entry)
    assert not PpdbFilter(5.4).keeps(entry)
    assert not PpdbFilter(entailment=["Exclusion", "Independent"]).keeps(entry)


def test_filter_arguments_are_checked():
    with pytest.raises(ConfigError, match=r"'Equivalense'\. Did you mean 'Equivalence'"):
        PpdbFilter(entailment="Equivalense")
    with pytest.raises(ConfigError, match=r"`min_score` must be a finite.*min_score=nan"):
        PpdbFilter(min_score=math.nan)


def test_filter_of_a_file_that_has_no_scores_or_types():
    old = parse_ppdb_line(V1)
    with pytest.raises(DataError, match=r"p\.gz: `min_score` needs PPDB2\.0Score.*PPDB 1\.0 file"):
        PpdbFilter(min_score=3).check_file("p.gz", old)
    with pytest.raises(DataError, match=r"`entailment` needs its types.*PPDB 1\.0 file.*Give a"):
        PpdbFilter(entailment="Exclusion").check_file("p.gz", old)
    with pytest.raises(DataError, match=r"this is a tab-separated file, not PPDB 2\.0"):
        PpdbFilter(min_score=3).check_file("p.tsv", None)
    PpdbFilter().check_file("p.gz", old)


def test_a_later_line_without_score_or_type():
    old = parse_ppdb_line(V1)
    with pytest.raises(ValueError, match=r"expected a feature PPDB2\.0Score, found none"):
        PpdbFilter(min_score=3).keeps(old)
    with pytest.raises(ValueError, match="expected a 6th field, the entailment type"):
        PpdbFilter(entailment="Exclusion").keeps(old)


def test_speed():
    ppdb_filter = PpdbFilter(min_score=3.0, entailment="Equivalence")
    start = time.process_time()
    for _ in range(20_000):
        ppdb_filter.keeps(parse_ppdb_line(V2))
    assert time.process_time() - start < 2  # about 0.1 s: 1M lines in seconds, not minutes

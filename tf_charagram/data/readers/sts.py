"""Semantic textual similarity, SemEval 2012-2017, and SICK (Marelli et al. 2014)."""

from __future__ import annotations

import re
from pathlib import Path

from tf_charagram.data._tables.columns import read_scored_pairs
from tf_charagram.data._tables.lines import BadLines, aligned_lines
from tf_charagram.data._tables.scored import (
    ScoredPairs,
    ScoredRows,
    SetFormat,
    files_below,
    set_name,
)

#: The English test sets of each year.
STS_SETS: dict[str, tuple[str, ...]] = {
    "2012": ("MSRpar", "MSRvid", "SMTeuroparl", "OnWN", "SMTnews"),
    "2013": ("headlines", "OnWN", "FNWN", "SMT"),
    "2014": ("deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news"),
    "2015": ("answers-forums", "answers-students", "belief", "headlines", "images"),
    "2016": ("answer-answer", "headlines", "plagiarism", "postediting", "question-question"),
    "2017": ("track5.en-en",),
}
#: The part of SICK that papers report.
SICK_TEST = "SICK.test"
#: Group of the sets of unknown year.
NO_YEAR = "STS"

_CANONICAL = {name.lower(): name for names in STS_SETS.values() for name in names}
_SICK = re.compile(r"SICK(?:[._-](train|trial|test))?(?:_annotated)?", re.IGNORECASE)
_OFFICIAL = re.compile(r"STS(20\d\d)?\.(input|gs)\.(?:surprise\.)?(.+)", re.IGNORECASE)
_PART = re.compile(r"\.(input|gs)\.", re.IGNORECASE)
_PLAIN = re.compile(r"(?:STS)?(20\d\d)\.(.+?)(?:\.test)?", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)(?:20|STS[-_]?)(1[2-7])(?!\d)", re.IGNORECASE)
_TRAIN = re.compile(r"(?<![a-z])(train|trial)(?![a-z])", re.IGNORECASE)


def read_sts(
    path: str | Path,
    *,
    name: str | None = None,
    on_bad_line: str | BadLines = "error",
) -> ScoredPairs:
    r"""Reads one STS set, or a part of SICK.

    Official STS: `STS.input.NAME.txt`, two tab-separated sentences per line, with more columns in
    2016, and `STS.gs.NAME.txt` next to it, one score per line. Official SICK: `SICK.txt`, or a file
    per part. Plain: a table (CSV, TSV, JSON lines, Parquet) with the columns score, sentence and
    sentence, or a header. Pairs with a blank score were not judged: they are left out and counted.

    Args:
        path: File, plain or gzip; either of an official pair of files.
        name: Name of the set; `SICK.train` and `SICK.trial` also choose the rows of `SICK.txt`.
            Defaults to the official name, such as `STS2012.OnWN` or `SICK.test`, if the names of
            file and folder are known; otherwise to the file name without suffix.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.
            A score outside 0-5, in SICK 1-5, makes a line bad.

    Returns:
        The set; `group` is `STS2012` and so on, `STS` if the year is unknown, `None` for SICK.

    Raises:
        ConfigError: `on_bad_line` is unknown.
        DataError: A file cannot be read, a line is bad, the number of scores differs from that of
            the pairs, or there are fewer than 2 rows.
    """
    name = name or _sts_name(path) or set_name(path)
    kind, _, part = name.partition(".")
    if kind == "SICK":
        return read_scored_pairs(path, 1.0, 5.0, name=name, split=part, on_bad_line=on_bad_line)
    group = kind if re.fullmatch(r"STS20\d\d", kind) else NO_YEAR
    official = _official_files(Path(path))
    if official is None:
        return read_scored_pairs(
            path, 0.0, 5.0, name=name, group=group, allow_unscored=True, on_bad_line=on_bad_line
        )
    texts, scores = official
    rows = ScoredRows(texts, BadLines.of(on_bad_line), 0.0, 5.0)
    for number, text, score in aligned_lines(texts, scores):
        rows.add(number, text.split("\t"), score, scores)
    return rows.to_pairs(name, "pearson", group)


def find_sts(folder: str | Path) -> dict[str, Path]:
    """Finds STS test sets and SICK below a folder by the names of files and folders.

    Args:
        folder: Folder with unpacked official files, or with files such as `2012.OnWN.tsv` and
            `SICK.test.tsv`, at any depth. The year is in the name of the file or of a folder above.

    Returns:
        The file of each set by name, such as `STS2012.OnWN`, sorted, then `SICK.test` and
        `SICK.trial`. Of an official pair of files it is the file of sentences, which takes
        precedence over a plain file. Folders named `train` or `trial` and files with all sets of a
        year are skipped, as are official files without scores.

    Raises:
        DataError: `folder` is not a folder.
    """
    official_sets: dict[str, Path] = {}
    plain_sets: dict[str, Path] = {}
    sick_parts: dict[str, Path] = {}
    whole_sick: dict[str, Path] = {}
    for path in files_below(folder):
        name = _sts_name(path)
        if name is None:
            continue
        if set_name(path).lower() == "sick":
            whole_sick = {SICK_TEST: path, "SICK.trial": path}
            continue
        if name.startswith("SICK."):
            # The last file: `SICK_test.txt` has no scores, `SICK_test_annotated.txt` does.
            sick_parts[name] = path
            continue
        is_train = _TRAIN.search(str(path.relative_to(folder))) is not None
        # A file with all sets of a year repeats the pairs of its sets.
        if is_train or name.lower().endswith(".all"):
            continue
        official = _official_files(path)
        if official is None:
            plain_sets.setdefault(name, path)
        elif all(file.is_file() for file in official):
            official_sets.setdefault(name, official[0])
    # Later entries take precedence.
    sets = plain_sets | official_sets
    sick_parts.pop("SICK.train", None)
    return dict(sorted(sets.items())) | sick_parts | whole_sick


def _sts_name(path: str | Path) -> str | None:
    """Returns the name of the set in a file, if known.

    Examples:
        >>> _sts_name("sts/2012.OnWN.tsv")
        'STS2012.OnWN'
        >>> _sts_name("STS2013-test/STS.input.headlines.txt")
        'STS2013.headlines'
        >>> _sts_name("SICK_test_annotated.txt")
        'SICK.test'
    """
    file_name = set_name(path)
    sick = _SICK.fullmatch(file_name)
    if sick is not None:
        part = sick[1] or "test"
        return f"SICK.{part.lower()}"
    official = _OFFICIAL.fullmatch(file_name)
    if official is not None:
        year, _, name = official.groups()
        year = year or _folder_year(Path(path))
        name = _CANONICAL.get(name.lower(), name)
        return f"STS{year or ''}.{name}"
    plain = _PLAIN.fullmatch(file_name)
    # Other names may be anything that begins with a number, such as a date.
    if plain is None or plain[2].lower() not in _CANONICAL:
        return None
    return f"STS{plain[1]}.{_CANONICAL[plain[2].lower()]}"


def _folder_year(path: Path) -> str | None:
    """Returns the year in the name of the nearest of the three folders above, if any."""
    # Folders farther up may have a number in their names for other reasons.
    for part in reversed(path.absolute().parts[-4:-1]):
        year = _YEAR.search(part)
        if year:
            return f"20{year.group(1)}"
    return None


def _official_files(path: Path) -> tuple[Path, Path] | None:
    """Returns the files of sentences and of scores of an official set, given either of them."""
    if _OFFICIAL.fullmatch(set_name(path)) is None:
        return None
    texts = _PART.sub(".input.", path.name, count=1)
    scores = _PART.sub(".gs.", path.name, count=1)
    return path.with_name(texts), path.with_name(scores)


FORMAT = SetFormat("sts", find_sts, read_sts, lambda path: _sts_name(path) is not None)

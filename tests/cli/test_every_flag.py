"""Every flag and every argument changes the result, or is refused: none is ignored."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

from tests.commands import call
from tf_charagram.cli import COMMANDS
from tf_charagram.models.text_reader import TextReader
from tf_charagram.search import (
    CharacterTfidf,
    Duplicates,
    GroupedRows,
    Linker,
    Matches,
    TextIndex,
    TextScorer,
    deduplicate,
    match,
)

TESTS = Path(__file__).parents[1]

LEFT = (
    "name,city,size\nHorse & Sons,Rome,1\nHorse & Son,Rome,2\nByrd,Oslo,3\nHors and Sons,Bern,4\n"
)
RIGHT = (
    "name,city,firm\nhorse & sons,Rome,Byrd\nhorse & sons,Bern,cat\nByrd Ltd,Oslo,Horse & Sons\n"
)
PAIRS = "left,right,match\n0,1,1\n1,0,1\n2,1,0\n3,2,0\n"
ROWS = "left,right,match\nHorse & Sons,Horse & Son,1\nHors and Sons,Horse & Son,1\n" + (
    "Horse & Sons,Byrd,0\nByrd,Hors and Sons,0\n"
)

#: Command -> arguments that a flag is added to, in a folder with the files of `files`.
BASES = {
    "search": "left.csv horse --on name --model none --threshold 0.01",
    "match": "left.csv right.csv --on name --model none",
    "dedupe": "left.csv --on name --model none",
    "match several": "left.csv right.csv --on name,city --model none",
    "dedupe several": "left.csv --on name,city --model none",
}

#: Command and flag -> added arguments, and what the error says; `None` if the result changes.
FLAGS: dict[tuple[str, str], tuple[str, str | None]] = {
    ("search", "--on"): ("--on city", None),
    ("search", "--model"): ("--model nosuch", "nosuch is not a model folder"),
    ("search", "--vectors-only"): ("--vectors-only", "there is nothing to compare"),
    ("search", "--k"): ("--k 1", None),
    ("search", "--threshold"): ("--threshold 0.99", None),
    ("search", "--save"): ("--save index", None),
    ("search", "--spelling"): ("--spelling", "--on does not go with --spelling"),
    ("search", "--show-corrections"): ("--show-corrections --model english", None),
    ("search", "--json"): ("--json", None),
    ("search", "--csv"): ("--csv --json", "--csv does not go with --json"),
    ("search", "--output"): ("--output found.csv", None),
    ("search", "--overwrite"): ("--overwrite", "--overwrite is for --output"),
    ("search", "--no-header"): ("--no-header --on 1", None),
    ("search", "--encoding"): ("--encoding nosuch", "does not know the encoding 'nosuch'"),
    ("search", "--on-bad-line"): ("--on-bad-line nosuch", "invalid choice: 'nosuch'"),
    ("match", "--on"): ("--on city", None),
    ("match", "--model"): ("--model nosuch", "nosuch is not a model folder"),
    ("match", "--vectors-only"): ("--vectors-only", "there is nothing to compare"),
    ("match", "--on-right"): ("--on-right firm", None),
    ("match", "--threshold"): ("--threshold 0.9", None),
    ("match", "--labels"): ("--labels pairs.csv", None),
    ("match", "--output"): ("--output matched.csv", None),
    ("match", "--overwrite"): ("--overwrite", "--overwrite is for --output"),
    ("match", "--no-header"): ("--no-header --on 1", None),
    ("match", "--encoding"): ("--encoding nosuch", "does not know the encoding 'nosuch'"),
    ("match", "--on-bad-line"): ("--on-bad-line nosuch", "invalid choice: 'nosuch'"),
    ("match", "--column"): ("--column nosuch:name", "--column is for several columns"),
    ("match", "--key"): ("--key nosuch", "--key is for --labels"),
    ("match", "--identifies"): ("--identifies name", "--identifies is for several columns"),
    ("match", "--explain"): ("--explain", None),
    ("match", "--one-to-one"): ("--one-to-one", None),
    ("match", "--alternatives"): ("--alternatives 2", None),
    ("match", "--resume"): ("--resume", "--resume is for a folder"),
    ("match", "--ray"): ("--ray auto", "--ray is for a folder"),
    ("match", "--json"): ("--json", "--json is for a folder"),
    ("dedupe", "--on"): ("--on city", None),
    ("dedupe", "--model"): ("--model nosuch", "nosuch is not a model folder"),
    ("dedupe", "--vectors-only"): ("--vectors-only", "there is nothing to compare"),
    ("dedupe", "--threshold"): ("--threshold 0.99", None),
    ("dedupe", "--labels"): ("--labels pairs.csv", None),
    ("dedupe", "--output"): ("--output clean.csv", None),
    ("dedupe", "--overwrite"): ("--overwrite", "--overwrite is for --output"),
    ("dedupe", "--no-header"): ("--no-header --on 1", None),
    ("dedupe", "--encoding"): ("--encoding nosuch", "does not know the encoding 'nosuch'"),
    ("dedupe", "--on-bad-line"): ("--on-bad-line nosuch", "invalid choice: 'nosuch'"),
    ("dedupe", "--column"): ("--column nosuch:name", "--column is for several columns"),
    ("dedupe", "--key"): ("--key nosuch", "--key is for --labels"),
    ("dedupe", "--identifies"): ("--identifies name", "--identifies is for several columns"),
    ("dedupe", "--explain"): ("--explain", None),
    ("dedupe", "--groups"): ("--groups nosuch", "invalid choice: 'nosuch'"),
    ("dedupe", "--drop"): ("--drop", None),
    ("dedupe", "--into"): ("--into groups", None),
    ("dedupe", "--merge"): ("--merge", "--merge is for --into"),
    ("dedupe", "--yes"): ("--yes", "--yes is for"),
    ("dedupe", "--resume"): ("--resume", "--resume is for a folder"),
    ("dedupe", "--ray"): ("--ray auto", "--ray is for a folder"),
    ("dedupe", "--json"): ("--json", "--json is for a folder"),
    ("match several", "--on"): ("--on name,name", "--on must name a column once"),
    ("match several", "--model"): ("--model nosuch", "nosuch is not a model folder"),
    ("match several", "--vectors-only"): ("--vectors-only", "--vectors-only is for one column"),
    ("match several", "--on-right"): ("--on-right firm,city", None),
    ("match several", "--column"): ("--column size:name", "must name a column of --on"),
    ("match several", "--key"): ("--key name", "--key is for --labels"),
    ("match several", "--explain"): ("--explain", None),
    ("match several", "--identifies"): ("--identifies nosuch", "nosuch"),
    ("match several", "--alternatives"): ("--alternatives -1", "must be at least 1"),
    ("dedupe several", "--on"): ("--on 1,1", "--on must name a column once"),
    ("dedupe several", "--vectors-only"): ("--vectors-only", "--vectors-only is for one column"),
    ("dedupe several", "--column"): ("--column name:code", None),
    ("dedupe several", "--labels"): ("--labels rows.csv --key name", None),
    ("dedupe several", "--key"): ("--key name", "--key is for --labels"),
    ("dedupe several", "--into"): ("--into groups --drop", "--drop does not go with --into"),
    ("dedupe several", "--yes"): ("--yes", "--yes is for --drop"),
    ("dedupe several", "--explain"): ("--explain --drop", "--explain does not go with --drop"),
}

#: Function -> its result without an argument, and each argument with another result or an error.
TEXTS = ["Sony Headphones", "Bosch Drill", "sony headphones", "Sonny Phones"]
TABLE = {"a": TEXTS, "b": ["1", "2", "1", "4"]}
FUNCTIONS = {
    match: (
        {"left": TEXTS[3:], "right": TEXTS, "model": None},
        {
            "left": {"left": TEXTS[1:2]},
            "right": {"right": TEXTS[1:]},
            "model": {"model": "nosuch"},
            "on": {"on": ["a"], "left": TABLE, "right": TABLE},
            "on_right": {"on_right": ["b"]},
            "kinds": {"kinds": {"a": "name"}},
            "identifies": {"identifies": ["a"]},
            "lexical": {"lexical": False},
            "threshold": {"threshold": 1.0, "left": ["sony"]},
            "one_to_one": {"one_to_one": True, "left": TEXTS[:1] * 3},
            "labels": {"labels": [(0, 1, 2)]},
            "shows_progress": {
                "shows_progress": True,
                "on": ["a", "b"],
                "left": TABLE,
                "right": TABLE,
            },
        },
    ),
    deduplicate: (
        {"texts": TEXTS, "model": None},
        {
            "texts": {"texts": TEXTS[1:]},
            "model": {"model": "nosuch"},
            "on": {"on": ["a", "b"], "texts": TABLE},
            "kinds": {"kinds": {"a": "name"}},
            "identifies": {"identifies": ["a"]},
            "lexical": {"lexical": False},
            "threshold": {"threshold": 0.3},
            "labels": {"labels": [(0, 1, 2)]},
            "groups": {"groups": "nosuch"},
            "shows_progress": {"shows_progress": True, "on": ["a", "b"], "texts": TABLE},
        },
    ),
    GroupedRows: (
        {"rows": TEXTS, "model": None},
        {
            "rows": {"rows": TEXTS[1:]},
            "model": {"model": "nosuch"},
            "on": {"on": ["a"], "rows": {"a": TEXTS[1:]}},
            "lexical": {"lexical": False},
            "threshold": {"threshold": 0.1},
            "statistics": {"statistics": TextScorer(["sony"], None).statistics, "lexical": False},
            "linker": {"linker": Linker(["a", "b"], threshold=0.0).fit(TABLE), "rows": TABLE},
        },
    ),
    TextIndex: (
        {"texts": TEXTS, "model": None},
        {
            "texts": {"texts": "one"},
            "model": {"model": "nosuch"},
            "lexical": {"lexical": False},
            "scorer": {"scorer": TextScorer(TEXTS, None), "lexical": False},
            "statistics": {"statistics": TextScorer(["sony"], None).statistics},
        },
    ),
    TextScorer: (
        {"texts": TEXTS, "model": None},
        {
            "texts": {"texts": "one"},
            "model": {"model": "nosuch"},
            "lexical": {"lexical": False},
            "statistics": {"statistics": TextScorer(["sony"], None).statistics},
        },
    ),
    CharacterTfidf: ({"texts": TEXTS}, {"texts": {"texts": "one"}}),
    TextReader.load: (
        {"path": "english"},
        {
            "path": {"path": "nosuch"},
            "kind": {"kind": "tagger"},
            "correct_spelling": {"correct_spelling": False},
            "keep_words": {"keep_words": 1},
            "word_counts": {"word_counts": {"my": 5000}},
        },
    ),
}


def parser_of(command):
    home = import_module(COMMANDS[command][0])
    return (getattr(home, "make_parser", None) or home._make_parser)()


def flags_of(command):
    return {name for name in parser_of(command)._option_string_actions if name.startswith("--")}


@pytest.fixture
def files(tmp_path, monkeypatch):
    contents = {"left.csv": LEFT, "right.csv": RIGHT, "pairs.csv": PAIRS, "rows.csv": ROWS}
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)


def result(capsys, command, arguments):
    """Returns the status, what a command wrote, and its errors."""
    before = {path.name for path in Path.cwd().iterdir()}
    status = call(command.split()[0], *arguments)
    streams = capsys.readouterr()
    written = {path.name for path in Path.cwd().iterdir()} - before
    return status, (streams.out, written), streams.err


def with_flags(arguments, added):
    """Appends flags; those that are given again are replaced."""
    kept = list(arguments)
    if "--on" in added:
        place = kept.index("--on")
        del kept[place : place + 2]
    return [*kept, *added]


def test_the_table_has_every_flag():
    walked = {command for command in BASES if " " not in command}
    for command in walked:
        known = {flag for named, flag in FLAGS if named == command}
        assert known == flags_of(command) - {"--help"}, command


@pytest.mark.parametrize("command", BASES)
def test_flags(command, files, capsys):
    arguments = BASES[command].split()
    status, plain, err = result(capsys, command, arguments)
    assert status == 0, err
    for (named, flag), (added, message) in FLAGS.items():
        if named != command:
            continue
        status, written, err = result(capsys, command, with_flags(arguments, added.split()))
        if message is None:
            told = any(each in err for each in ("read as", "texts ->", "learned from labels"))
            assert status == 0 and (written != plain or told), (flag, err)
        else:
            assert status in (1, 2) and message in err, (flag, err)


def test_a_test_gives_each_flag_of_other_commands():
    """Their runs take seconds, so that the tests of their flags are elsewhere."""
    here = Path(__file__)
    paths = [path for path in TESTS.rglob("*.py") if path != here]
    tests = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    others = COMMANDS.keys() - {"train", "tune", "search", "match", "dedupe"}
    flags = {flag for command in others for flag in flags_of(command)}
    missing = [flag for flag in flags if not re.search(rf'["\s]{flag}["\s=]', tests)]
    assert not missing


def outcome(function, arguments):
    try:
        found = function(**arguments)
    except (ValueError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
    if isinstance(found, TextReader):
        return str((found.read_as(["my pasword"]), found.encode(["my password"])[0, :5]))
    if isinstance(found, TextIndex):
        return str(found.search("sony"))
    if isinstance(found, TextScorer):
        return str(found.score(["sony phones"], ["sonny phone"]))
    if isinstance(found, GroupedRows):
        return str(found.groups)
    if isinstance(found, Matches | Duplicates):
        shown = {name: value for name, value in vars(found).items() if name != "links"}
        return str(shown)
    return str(found)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__qualname__)
def test_arguments(function):
    base, changes = FUNCTIONS[function]
    assert list(changes) == list(inspect.signature(function).parameters)
    plain = outcome(function, base)
    assert "Error: " not in plain
    for name, change in changes.items():
        assert outcome(function, {**base, **change}) != plain, name

"""Arguments before they are parsed: values of flags, and their order."""

from __future__ import annotations

import pytest

from tf_charagram.cli.arguments import flags_last, repeatable, value_of
from tf_charagram.cli.neighbors import make_parser


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--task", "pos"], "pos"),
        (["--task=pos", "--dim", "3"], "pos"),
        (["--task", "words", "--task=pos"], "pos"),
        (["--dim", "3"], None),
        (["--task"], None),
        ([], None),
    ],
)
def test_value_of(arguments, expected):
    assert value_of(arguments, "task") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("task: pos\n", "pos"), ("dim: 3\n", None)],
)
def test_value_of_a_file(text, expected, tmp_path):
    path = tmp_path / "settings.yaml"
    path.write_text(text, encoding="utf-8")
    assert value_of(["--config", str(path)], "task") == expected
    assert value_of(["--config", str(path), "--task", "words"], "task") == "words"


def test_value_of_several_files(tmp_path):
    """The last that has one counts, as it does for the parser."""
    arguments = []
    for number, text in enumerate(["task: pos", "task: words", "dim: 3"]):
        (tmp_path / f"{number}.yaml").write_text(text)
        arguments.append(f"--config={tmp_path / f'{number}.yaml'}")
    assert [value_of(arguments[:number], "task") for number in (1, 2, 3)] == ["pos", *["words"] * 2]


def test_value_of_a_file_that_is_not_there():
    assert value_of(["--config", "nowhere.yaml"], "task") is None


def test_repeatable():
    found = repeatable(["--data", "a", "--eval-data=b", "--data=c"], ["--data", "--eval-data"])
    assert found == ['--data=["a"]', '--eval-data=["b"]', '--data+=["c"]']
    # A name that YAML would read as a list of another.
    assert repeatable(["--data", "a", "--data", "[b]"], ["--data"])[1] == '--data+=["[b]"]'
    assert repeatable(["--dim", "3", "--data"], ["--data"]) == ["--dim", "3", "--data"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("english --k 3 cat", "english cat --k 3"),
        ("--k=3 english --json cat dog", "english cat dog --k=3 --json"),
        ("english --spelling cat dog --k 3 mouse", "english mouse --spelling cat dog --k 3"),
        ("english --texts - cat", "english cat --texts -"),
        ("english --k 3 cat -- --dog", "--k 3 -- english cat --dog"),
        ("english --unknown cat --k", "english cat --unknown --k"),
    ],
)
def test_flags_last(line, expected):
    assert flags_last(line.split(), make_parser()._actions) == expected.split()


@pytest.mark.parametrize(
    ("line", "texts"),
    [
        ("english --k 3 -- -x", ["-x"]),
        ("--k 3 english cat -- -x", ["cat", "-x"]),
        ("english -- -x --k", ["-x", "--k"]),
    ],
)
def test_texts_that_begin_with_a_dash(line, texts):
    values = make_parser().parse_args(line.split())
    assert (values.model, values.query) == ("english", texts)


def test_flags_stay_where_one_argument_is_taken():
    from tf_charagram.cli.embed import make_parser as make_parser_of_embed

    line = ["--input", "a.txt", "english"]
    assert flags_last(line, make_parser_of_embed()._actions) == line

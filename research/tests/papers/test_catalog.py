"""Every table and figure has a command, and every run has one."""

from __future__ import annotations

from pathlib import Path

import pytest

from research.papers.catalog import ENTRIES, PAPERS
from research.papers.context import Context
from research.papers.runs import NUM_HALVINGS, RUNS, Run, Subset
from research.papers.sources import ROLES, Alternative, RoleData, find_sources
from research.papers.training import Limits, run_order, train_command
from tests.commands import call


def test_all_tables_and_figures():
    expected = {"charagram": (11, 1), "universal": (8, 1), "cse": (6, 0)}
    assert set(PAPERS) == set(expected)
    for paper, (tables, figures) in expected.items():
        names = [f"{paper}/table-{i + 1}" for i in range(tables)]
        names += [f"{paper}/figure-{i + 1}" for i in range(figures)]
        names += [f"{paper}/text"] if figures else []
        assert [name for name in ENTRIES if name.startswith(f"{paper}/")] == names


def test_every_run_is_in_a_table():
    needed = {run.name for entry in ENTRIES.values() for run in run_order(entry.runs)}
    assert needed == set(RUNS)


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """Returns a folder with a file for every role, and the sources found in it."""
    folder = tmp_path_factory.mktemp("data")
    for alternatives in ROLES.values():
        (folder / f"{alternatives[-1].patterns[0].replace('*', 'x')}").write_text(
            "a cat\tcats\n" * 8
        )
    return folder, find_sources(folder)


#: One run of each kind: of those that differ in numbers alone, the last.
KINDS = {
    (
        run.task,
        run.encoder,
        run.init,
        *(flag for flag in run.flags if flag.startswith("--")),
        *run.settings,
    ): name
    for name, run in RUNS.items()
}


@pytest.mark.parametrize("name", KINDS.values())
def test_train_takes_the_flags_of_a_run(name, everything, tmp_path, monkeypatch, capsys):
    run = RUNS[name]
    words = train_command(run, *everything, tmp_path, Limits(max_epochs=0.5, max_minutes=1))
    assert words[words.index("--max-minutes") + 1] == "1" and words.count("--epochs") == 2
    # The first thing that fails is then not a flag.
    monkeypatch.setattr("tf_charagram.train.train_run", None, raising=False)
    status = call("train", *words[1:], "--print_config")
    printed = capsys.readouterr()
    if run.init:  # its options are read from that run
        assert status == 1 and "is not a model folder" in printed.err
    else:
        assert status == 0
        assert f"encoder: {run.encoder}" in printed.out and "epochs: 0.5" in printed.out


def test_runs_come_after_what_they_start_from():
    names = [run.name for run in run_order(["cse/cumulative", "similarity/cse-universal"])]
    assert names == ["cse/phrases", "cse/cumulative", "similarity/cse-universal"]


def test_the_papers_data_come_first(tmp_path):
    (tmp_path / "ppdb-xl-lexical.tsv").write_text("a\tb\n")
    assert not find_sources(tmp_path)["words"].alternative.is_papers
    (tmp_path / "deep").mkdir()
    official = tmp_path / "deep" / "ppdb-1.0-xxl-lexical.gz"
    official.write_text("")
    found = find_sources(tmp_path)["words"]
    assert found.alternative.is_papers and found.names == (str(official),)


def test_subsets_contain_smaller_ones(tmp_path):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"l{i}\tr{i}\n" for i in range(64)))
    sources = {"phrases": RoleData((str(pairs),), Alternative("pairs", ()))}

    def lines(halvings, is_random):
        run = Run("a", "sentences", "dan", Subset("phrases", halvings, is_random))
        words = train_command(run, tmp_path, sources, tmp_path / "out")
        path = words[words.index("--data") + 1]
        return Path(path).read_text(encoding="utf-8").splitlines()

    assert lines(2, False) == [f"l{i}\tr{i}" for i in range(16)]
    assert len(lines(1, True)) == 32 and lines(1, True) != lines(1, False)
    assert lines(2, True) == lines(1, True)[:16]


def test_subsets_of_other_pairs_are_others(tmp_path):
    pairs = tmp_path / "pairs.tsv"
    sources = {"phrases": RoleData((str(pairs),), Alternative("pairs", ()))}
    run = Run("a", "sentences", "dan", Subset("phrases", 0, False))
    for text in ("cat\tcats\ndog\tdogs\n", "mouse\tmice\n"):
        pairs.write_text(text)
        words = train_command(run, tmp_path, sources, tmp_path / "out")
        assert Path(words[words.index("--data") + 1]).read_text() == text


def test_halves_until_there_are_fewer_than_ten(tmp_path):
    """3,033,753 pairs in the paper: 19 halvings leave 5, after 11."""
    sizes = [Subset("phrases", halvings, False).size(3_033_753) for halvings in range(21)]
    assert sizes[17:] == [23, 11, 5, 0] and NUM_HALVINGS == 19
    pairs = tmp_path / "ppdb-phrasal-pairs.tsv"
    pairs.write_text("a cat\tcats\n" * 25)
    context = Context(tmp_path, find_sources(tmp_path), tmp_path)
    needed = [run for run in ENTRIES["universal/figure-1"].runs if context.is_needed(RUNS[run])]
    assert [run.partition("/")[2] for run in needed] == [
        f"{order}-{halvings}" for order in ("ordered", "random") for halvings in range(3)
    ]


def test_aligned_files(tmp_path):
    for name, text in (("normal.aligned", "A\t1\ta cat\n"), ("simple.aligned", "A\t1\tcats\n")):
        (tmp_path / name).write_text(text)
    found = find_sources(tmp_path)
    (name,) = found["sentences"].names
    assert name == f"{tmp_path / 'normal.aligned'}::{tmp_path / 'simple.aligned'}"
    assert list(found["sentences"].pairs()) == [("a cat", "cats")]
    assert found["sentences"].alternative.is_papers

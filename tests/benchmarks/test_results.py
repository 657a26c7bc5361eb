"""What got slower, and the page."""

import json
from pathlib import Path

import pytest
from suite import page, results, settings

ROOT = Path(__file__).parents[2]
MACHINE = {"cores": "2", "processor": "Some", "memory": "4 GiB"}


def sample(*values, unit="texts/s"):
    middle = sorted(values)[len(values) // 2]
    return {
        "median": middle, "low": min(values), "high": max(values), "unit": unit,
        "values": list(values),
    }  # fmt: skip


def of(name="embed", **samples):
    record = {"command": "python x", "date": "2026-01-02T03:04+00:00", "seconds": 5}
    return {"machine": MACHINE, "benchmarks": {name: record | {"result": samples}}}


@pytest.mark.parametrize(
    ("old", "new", "factor", "is_clear"),
    [
        (sample(90, 100, 110), sample(70, 80, 89), 0.8, True),
        (sample(90, 100, 110), sample(70, 80, 91), 0.8, False),  # The ranges meet.
        (sample(100), sample(97), 0.97, False),  # Too close.
        (sample(100), sample(150), 1.5, True),
        (sample(1.0, unit="s"), sample(2.0, unit="s"), 0.5, True),
        (sample(0, unit="lost"), sample(1, unit="lost"), 0.0, True),
        (sample(0, unit="lost"), sample(0, unit="lost"), 1.0, False),
    ],
)
def test_changes_are_those_beyond_the_spread(old, new, factor, is_clear):
    (change,) = results.changes(of(run=old), of(run=new))
    assert (change.factor, change.is_clear) == (factor, is_clear)


def test_what_only_one_has_is_no_change():
    assert not results.changes(of(old=sample(1)), of(new=sample(1)))
    assert not results.changes(of(run=sample(1)), of("ids", run=sample(2)))
    assert not results.changes(of(run=sample(1)), of(run=sample(1, unit="s")))


def test_what_got_slower_is_said_first_and_counted():
    old = of(a=sample(100), b=sample(100), c=sample(100))
    new = of(a=sample(50), b=sample(300), c=sample(101))
    lines = page.changes_text(results.changes(old, new), True).splitlines()
    assert lines == [
        "Slower: embed: a: 100 texts/s -> 50.0 texts/s, 0.50 times as good",
        "Faster: embed: b: 100 texts/s -> 300 texts/s, 3.00 times as good",
        "1 slower, 1 faster, 1 within the spread.",
    ]
    assert page.changes_text([], False).startswith("The machines or versions differ")


def test_the_page_has_aims_commands_and_numbers():
    ratio = sample(4, 6, 5.5, unit="x")
    text = page.text(of(sentences={"encode/fastText": ratio}), "benchmarks.svg")
    assert (
        "| `encode` of STS sentences over fastText | at least 5.00 | 5.50 | 4.00 to 6.00 | yes |"
        in text
    )
    assert "| `fit`, words, batch 25, over PyTorch | at least 3.00 | not measured |  |  |" in text
    assert "| sentences, encode over fastText | 5.50 | 4.00 to 6.00 |" in text
    assert "    python x\n\n2026-01-02 03:04 UTC, 5 s.\n" in text
    assert "](benchmarks.svg)" in text


def test_aims_are_of_benchmarks_that_exist():
    assert {bar.sample.partition(":")[0] for bar in page.BARS} <= set(settings.BENCHMARKS)


def test_every_script_that_measures_is_run():
    scripts = {
        path.stem
        for path in (ROOT / "benchmarks").glob("*.py")
        if "make_parser(__doc__" in path.read_text(encoding="utf-8")
    }
    # These need an export, and a list of misspellings.
    assert scripts == {*settings.BENCHMARKS, "serving", "misspellings"}


def test_the_page_that_is_kept_is_of_the_results_that_are_kept():
    file = ROOT / "research" / "benchmarks.json"
    if not file.is_file():
        pytest.skip("no results are kept")
    picture = "benchmarks.svg" if file.with_suffix(".svg").is_file() else None
    kept = file.with_suffix(".md").read_text(encoding="utf-8")
    assert kept == page.text(results.read(file), picture)


def test_files_of_results(tmp_path):
    path = tmp_path / "results.json"
    path.write_text(json.dumps(of(run=sample(1))))
    assert results.read(path) == of(run=sample(1))
    path.write_text("[]")
    with pytest.raises(SystemExit, match=r"results\.json is not a file of results of all\.py"):
        results.read(path)

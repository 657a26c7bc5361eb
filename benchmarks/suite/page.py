"""Writes results as a page in Markdown."""

from __future__ import annotations

from typing import Any, NamedTuple

from common import number_text

from .results import Change, all_samples, samples_of
from .settings import BENCHMARKS

_WORDS = {
    "PYTHON": "an interpreter that has the other packages",
    "MINILM": "the name or folder of all-MiniLM-L6-v2",
    "MODEL2VEC": "a folder of model2vec's own distillation of it",
    "DATA": "the folder of evaluation data", "TEMPORARY": "a folder that is deleted afterwards",
}  # fmt: skip


class Bar(NamedTuple):
    """What is aimed at.

    Attributes:
        what: What is measured.
        sample: Its name, of a benchmark.
        aim: What its median must reach.
        is_most: Whether it must not exceed that.
    """

    what: str
    sample: str
    aim: float
    is_most: bool = False


BARS = (
    Bar("`encode` of STS sentences over fastText", "embed: sentences, encode over fastText", 5),
    Bar("`encode` of STS sentences over model2vec", "embed: sentences, encode over model2vec", 6),
    Bar("SavedModel, words over `get_word_vector`", "embed: words, SavedModel over fastText", 4),
    Bar(
        "the same, two callers", "embed: words, SavedModel-2 over fastText", 4,
    ),
    *(
        Bar(
            f"`fit`, words, batch {size}, over PyTorch",
            f"train_step: batch {size}, ours over torch", 3,
        )
        for size in (25, 50, 100)
    ),
    Bar("strings to ids, all cores", "ids: words, all_cores", 1_500_000),
    Bar("frozen features over encoding ids", "supervised: charagram, cached over from_ids", 10),
    Bar(
        "loading `english`, beyond TensorFlow's import", "startup: ours, load, seconds", 0.3, True,
    ),
    Bar(
        "`charagram search` among 1,000 names, processor seconds",
        "startup: processes, search, cpu", 0.9, True,
    ),
)  # fmt: skip


def text(results: dict[str, Any], picture: str | None) -> str:
    """Returns the page.

    Args:
        results: Of `results.read`.
        picture: File name of the chart, beside the page, or `None`.
    """
    parts = [_head(results["machine"]), _bars(all_samples(results))]
    if picture is not None:
        parts.append(f"![Texts per second by package, on a logarithmic scale]({picture})\n")
    for name, benchmark in BENCHMARKS.items():
        if name in results["benchmarks"]:
            parts.append(_section(benchmark.title, results["benchmarks"][name]))
    return "\n".join(parts)


def table(head: list[str], rows: list[list[str]], num_texts: int = 1) -> str:
    """Returns a table, whose columns after the first few are numbers."""
    rule = "|" + "---|" * num_texts + "---:|" * (len(head) - num_texts)
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, *rows)]
    return "\n".join([lines[0], rule, *lines[1:]]) + "\n"


def changes_text(changes: list[Change], is_same_machine: bool) -> str:
    """Returns the slower samples and the number of others."""
    slower = [change for change in changes if change.is_clear and change.factor < 1]
    faster = [change for change in changes if change.is_clear and change.factor > 1]
    lines = [] if is_same_machine else ["The machines or versions differ: compare ratios alone."]
    for name, chosen in (("Slower", slower), ("Faster", faster[::-1])):
        lines += [
            f"{name}: {change.name}: {_value(change.old)} -> {_value(change.new)}, "
            f"{change.factor:.2f} times as good"
            for change in chosen
        ]
    others = len(changes) - len(slower) - len(faster)
    lines.append(f"{len(slower)} slower, {len(faster)} faster, {others} within the spread.")
    return "\n".join(lines)


def _head(machine: dict[str, str]) -> str:
    described = ", ".join(
        f"{name} {value}" for name, value in machine.items() if name not in ("cores", "processor")
    )
    words = ";\n".join(f"* {word}: {meaning}" for word, meaning in _WORDS.items())
    return (
        "# Benchmarks\n\n"
        "Written by `python benchmarks/all.py`; `--page` writes it again from "
        "[benchmarks.json](benchmarks.json),\nwhich has every value.\n\n"
        f"{machine['cores']} cores, {machine['processor']}; {described}.\n\n"
        "Contenders are processes of their own that take turns in every round, in random order. "
        "Numbers are\nmedians over the rounds, with the lowest and the highest. A ratio is the "
        "median of the ratios of all\nrounds, each of two values of one round, not the ratio of "
        f"two medians. Words in capitals in the commands:\n\n{words}.\n"
    )


def _bars(samples: dict[str, dict[str, Any]]) -> str:
    rows = []
    for bar in BARS:
        aim = f"{'at most' if bar.is_most else 'at least'} {number_text(bar.aim)}"
        if (sample := samples.get(bar.sample)) is None:
            rows.append([bar.what, aim, "not measured", "", ""])
            continue
        found = sample["median"]
        is_met = found <= bar.aim if bar.is_most else found >= bar.aim
        rows.append([bar.what, aim, _value(sample), _range(sample), "yes" if is_met else "**no**"])
    return "## Aims\n\n" + table(["what", "aim", "found", "range", "met"], rows)


def _section(title: str, record: dict[str, Any]) -> str:
    date = record["date"].replace("T", " ").replace("+00:00", " UTC")
    lines = [f"## {title}", "", f"    {record['command']}", ""]
    if "result" not in record:
        reason = record.get("skipped") or record.get("failed")
        return "\n".join([*lines, f"{date}: not measured: {reason}.", ""])
    found = record["result"]
    load = record.get("load")
    versions = ", ".join(f"{name} {value}" for name, value in found.get("versions", {}).items())
    left_out = ", ".join(f"{name} ({why})" for name, why in found.get("left_out", {}).items())
    lines.append(
        f"{date}, {record['seconds']} s"
        + (f", load average before {load}" if load is not None else "")
        + (f"; {versions}" if versions else "") + "."
        + (f" Left out: {left_out}." if left_out else "")
    )  # fmt: skip
    rows = [[name, _value(sample), _range(sample)] for name, sample in samples_of(found)]
    return "\n".join([*lines, "", table(["", "median", "range"], rows)])


def _value(sample: dict[str, Any]) -> str:
    return number_text(sample["median"]) + ("" if sample["unit"] == "x" else f" {sample['unit']}")


def _range(sample: dict[str, Any]) -> str:
    if len(sample["values"]) == 1:
        return ""
    return f"{number_text(sample['low'])} to {number_text(sample['high'])}"

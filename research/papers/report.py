"""One page of all results that were saved: HTML that needs no script, and Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from research.analysis.plot import svg
from research.analysis.table import cell_text, markdown
from research.papers.catalog import ENTRIES, PAPERS
from research.papers.entry import Entry
from research.papers.making import read_result, result_file
from research.papers.result import VERDICTS, Result
from tf_charagram.errors import RunError
from tf_charagram.extras import extra_module
from tf_charagram.files.writing import whole_file

_TEMPLATE = files("research.papers") / "report.html"
_INTRODUCTION = (
    "Every table and figure of three papers, as it came out with the data and in the time there "
    "was: our number, and the paper's in parentheses; by itself where a run was not trained. "
    "`charagram papers` lists them; `charagram papers NAME --data FOLDER` makes one again."
)


@dataclass(frozen=True)
class Section:
    """A table or figure on the page.

    Attributes:
        entry: What it is.
        result: What came out; `None` if it was not made.
        picture: Its curves as SVG, if it has some.
    """

    entry: Entry
    result: Result | None
    picture: str | None = None

    @property
    def anchor(self) -> str:
        """Its place on the page."""
        return self.entry.name.replace("/", "-")


def sections(out: Path, *, with_pictures: bool) -> list[Section]:
    """Returns all tables and figures, with what was saved of them.

    Args:
        out: The folder with the results.
        with_pictures: Draw curves, which needs matplotlib.

    Raises:
        RunError: A result is damaged, or there is none at all.
    """
    pages = []
    for entry in ENTRIES.values():
        path = result_file(out, entry.name)
        result = read_result(path) if path.is_file() else None
        curves = None if result is None else result.ours.curves
        picture = svg(curves) if curves is not None and with_pictures else None
        pages.append(Section(entry, result, picture))
    if all(section.result is None for section in pages):
        raise RunError(
            f"{out} has no results. Make some: charagram papers charagram/table-1 --data FOLDER"
        )
    return pages


def to_markdown(pages: list[Section]) -> str:
    """Returns the page as Markdown."""
    parts = ["# The papers' tables and figures", _INTRODUCTION]
    for paper, title in PAPERS.items():
        parts.append(f"## {title}")
        for section in (page for page in pages if page.entry.name.startswith(f"{paper}/")):
            parts.append(f"### {section.entry.name}: {section.entry.shows}")
            if section.entry.quotes_data:
                parts.append("It quotes the evaluation sets, so that only its command shows it.")
                continue
            if section.result is None:
                parts.append("Not made yet.")
                continue
            table = section.result.beside
            parts.append(f"{table.title}.")
            parts.append(markdown(table, section.result.is_numeric).rstrip())
            sentences = [*_verdicts(section.result), *table.notes, *section.result.differences]
            if sentences:
                parts.append("\n".join(f"* {_plain(sentence)}" for sentence in sentences))
    return "\n\n".join(parts) + "\n"


def to_html(pages: list[Section]) -> str:
    """Returns the page as HTML that needs no other file.

    Raises:
        ConfigError: jinja2 is not installed.
    """
    jinja2 = extra_module("jinja2", "report")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    by_paper = [
        (title, [page for page in pages if page.entry.name.startswith(f"{paper}/")])
        for paper, title in PAPERS.items()
    ]
    return template.render(
        cell_text=cell_text, verdicts=VERDICTS, papers=by_paper,
        introduction=_INTRODUCTION.replace("`", ""),
    ) + "\n"  # fmt: skip


def write_report(out: Path, folder: Path) -> list[Path]:
    """Writes `index.html` and `papers.md`.

    Args:
        out: The folder with the results.
        folder: Where to.

    Returns:
        The files.

    Raises:
        ConfigError: jinja2 or matplotlib is not installed.
        RunError: There is nothing to report, or a file cannot be written.
    """
    pages = sections(out, with_pictures=True)
    texts = {"index.html": to_html(pages), "papers.md": to_markdown(pages)}
    for name, text in texts.items():
        with whole_file(folder / name, "w") as file:
            file.write(text)
    return [folder / name for name in texts]


def _verdicts(result: Result) -> list[str]:
    """Returns what became of the paper's claims, a sentence each."""
    return [f"{VERDICTS[holds]}: {claim}." for claim, holds in result.claims.items()]


def _plain(sentence: str) -> str:
    return " ".join(sentence.split()).replace("<", "&lt;")

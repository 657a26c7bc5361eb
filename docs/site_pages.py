"""Pages of the site besides the guides: the reference, notebooks, README.md, lab notes.

MkDocs calls the functions whose names start with `on_`. Nothing is written into the checkout, and
TensorFlow is not imported: docstrings are read from the sources.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from tf_charagram._common.lazy import TABLES

ROOT = Path(__file__).parents[1]
#: Packages whose names have a page each, from `__all__` or else from the table of lazy imports.
FACES = (
    "tf_charagram",
    "tf_charagram.data",
    "tf_charagram.encoders",
    "tf_charagram.evaluation",
    "tf_charagram.layers",
    "tf_charagram.losses",
    "tf_charagram.optimizers",
    "tf_charagram.search",
    "tf_charagram.tasks",
    "tf_charagram.tuning",
)
#: Modules that users import from, with a page each.
MODULES = (
    "tf_charagram.encoders",
    "tf_charagram.errors",
    "tf_charagram.export.client",
    "tf_charagram.export.hub",
    "tf_charagram.export.mteb",
    "tf_charagram.export.sklearn",
    "tf_charagram.settings",
)
#: Pages at the root of the checkout, with the title in the menu.
COMPANIONS = {
    "CHANGELOG.md": "Changelog",
    "CONTRIBUTING.md": "Contributing",
    "SECURITY.md": "Security",
}


def public_names() -> dict[str, str]:
    """Maps the public names, as users import them, to the names of their definitions."""
    names = {}
    for face in FACES:
        offered = getattr(import_module(face), "__all__", TABLES[face])
        for name in offered:
            full_name = f"{face}.{name}"
            home = TABLES[face].get(name, face)
            is_module = home == full_name
            if not is_module and not name.startswith("_"):
                names[full_name] = f"{home}.{name}"
    return names


def reference_pages() -> dict[str, str]:
    """Maps the title of each page of the reference to its Markdown."""
    pages: dict[str, str] = {}
    titles: dict[str, str] = {}
    for title, target in sorted(public_names().items()):
        # A definition has one page, to which cross-references lead.
        first = titles.setdefault(target, title)
        if first == title:
            pages[title] = f"# {title}\n\n::: {target}\n"
        else:
            pages[title] = f"# {title}\n\nThe same as [{first}]({first}.md).\n"
    for module in MODULES:
        pages[module] = f"# {module}\n\n::: {module}\n"
    return pages


def notebook_markdown(path: Path) -> str:
    """Returns a notebook as the Markdown of a page."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        parts.append(f"```python\n{text}\n```" if cell["cell_type"] == "code" else text)
    return "\n\n".join(parts) + "\n"


_sources = tempfile.TemporaryDirectory()


def copy_sources() -> None:
    """Copies the sources to where they are installed: the other folders in `tf_charagram`."""
    package = Path(_sources.name, "tf_charagram")
    shutil.rmtree(package, ignore_errors=True)
    for source, target in (
        ("tf_charagram", package),
        ("search", package / "search"),
        ("tuning", package / "tuning"),
        ("export", package / "export"),
    ):
        for path in (ROOT / source).rglob("*.py"):
            copy = target / path.relative_to(ROOT / source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


def add_unlisted(guides: list[Any]) -> None:
    """Adds the guides to the menu that `mkdocs.yml` does not place in it."""
    listed = {path for entry in guides for path in entry.values()}
    for path in sorted((ROOT / "docs").glob("*.md")):
        if path.name not in listed:
            guides.append(path.name)


# Before mkdocstrings reads its settings.
@event_priority(100)
def on_config(config: MkDocsConfig) -> None:
    """Lets mkdocstrings find the sources, and adds the reference to the menu."""
    copy_sources()
    config.plugins["mkdocstrings"].config.handlers["python"]["paths"] = [_sources.name]
    for entry in config.nav:
        if "Guides" in entry:
            add_unlisted(entry["Guides"])
    notebooks = sorted((ROOT / "examples").glob("*.ipynb"))
    pages = [f"examples/{path.stem}.md" for path in notebooks]
    config.nav.append({"Examples": ["examples/README.md", *pages]})
    names, modules = [], []
    for title in reference_pages():
        entry = {title.removeprefix("tf_charagram."): f"reference/{title}.md"}
        (modules if title in MODULES else names).append(entry)
    config.nav.append({"Reference": [{"Names": names}, {"Modules": modules}]})
    lab_notes = sorted(f"research/{path.name}" for path in (ROOT / "research").glob("*.md"))
    companions = [{title: name} for name, title in COMPANIONS.items()]
    config.nav.append({"Project": [*companions, {"Research": lab_notes}]})


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated pages, and those of the checkout outside `docs/`."""
    for title, content in reference_pages().items():
        files.append(File.generated(config, f"reference/{title}.md", content=content))
    for path in (ROOT / "examples").glob("*.ipynb"):
        content = notebook_markdown(path)
        files.append(File.generated(config, f"examples/{path.stem}.md", content=content))
    outside = {"index.md": ROOT / "README.md", "examples/README.md": ROOT / "examples/README.md"}
    for name in COMPANIONS:
        outside[name] = ROOT / name
    for path in sorted((ROOT / "research").iterdir()):
        if path.suffix in {".json", ".md", ".svg"}:
            outside[f"research/{path.name}"] = path
    for name, path in outside.items():
        files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Points links at pages of the site, where the guides are one folder higher."""
    folder = PurePosixPath(page.file.src_uri).parent
    if folder.name == "examples":
        return markdown.replace(".ipynb)", ".md)")
    if folder.name == "research":
        return markdown.replace("](../docs/", "](../")
    return re.sub(r"\]\((\.\./|docs/)", "](", markdown)

"""Every name that the guides import has a page in the reference of the site."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

pytest.importorskip("mkdocs")

ROOT = Path(__file__).parents[2]
HOOK = ROOT / "docs" / "site_pages.py"
#: Imports in Python blocks, also in those that show a change of a file.
IMPORT = re.compile(r"^[+ ]?from (tf_charagram[\w.]*) import ([\w, ]+)$", re.MULTILINE)

pytestmark = pytest.mark.skipif(not HOOK.is_file(), reason="not a checkout")


@pytest.fixture(scope="module")
def site():
    names = runpy.run_path(str(HOOK))
    yield names
    names["_sources"].cleanup()


def is_in_checkout(module):
    """Returns whether a module exists; docs/extending.md writes new ones."""
    path = ROOT.joinpath(*module.split("."))
    folders = (path, ROOT.joinpath(*module.split(".")[1:]))
    return any(folder.is_dir() or folder.with_suffix(".py").is_file() for folder in folders)


def imported_names():
    """Yields module and name of the imports in README.md and the guides."""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for module, names in IMPORT.findall(path.read_text(encoding="utf-8")):
            for name in names.split(","):
                if is_in_checkout(module):
                    yield module, name.strip()


def test_every_imported_name_has_a_page(site):
    imported = set(imported_names())
    assert ("tf_charagram", "TextEmbedder") in imported
    titles = set(site["reference_pages"]())
    definitions = set(site["public_names"]().values())
    missing = [
        f"{module}.{name}"
        for module, name in sorted(imported)
        if f"{module}.{name}" not in titles | definitions and module not in site["MODULES"]
    ]
    assert not missing


def test_names_come_from_the_package(site, monkeypatch):
    monkeypatch.setitem(site["TABLES"], "tf_charagram.search", {"New": "tf_charagram.search.new"})
    monkeypatch.setattr("tf_charagram.search.__all__", ["New"], raising=False)
    assert site["public_names"]()["tf_charagram.search.New"] == "tf_charagram.search.new.New"
    assert "::: tf_charagram.search.new.New" in site["reference_pages"]()["tf_charagram.search.New"]
    assert "tf_charagram.search.TextIndex" not in site["reference_pages"]()


def test_modules_and_private_names_are_left_out(site, monkeypatch):
    monkeypatch.setattr("tf_charagram.__all__", ["DataError", "_hidden", "layers"])
    names = [name for name in site["public_names"]() if name.count(".") == 1]
    assert names == ["tf_charagram.DataError"]


def test_every_guide_is_in_the_menu(site):
    menu = [{"Data": "data.md"}]
    site["add_unlisted"](menu)
    assert menu[0] == {"Data": "data.md"} and "data.md" not in menu[1:]
    assert {"jobs.md", "keras.md"} <= set(menu[1:])


def test_links_lead_to_pages(site):
    def rewritten(page, markdown):
        file = type("File", (), {"src_uri": page})
        return site["on_page_markdown"](markdown, type("Page", (), {"file": file}))

    assert rewritten("index.md", "[a](docs/jobs.md)") == "[a](jobs.md)"
    assert rewritten("scale.md", "[a](../research/scale.md)") == "[a](research/scale.md)"
    assert rewritten("examples/README.md", "[a](tune.ipynb)") == "[a](tune.md)"
    assert rewritten("research/scale.md", "[a](../docs/scale.md)") == "[a](../scale.md)"


def test_a_notebook_becomes_a_page(site):
    page = site["notebook_markdown"](ROOT / "examples" / "lazy_adam.ipynb")
    assert page.startswith("# LazyAdam in your own Keras model\n\nA batch")
    assert "\n\n```python\nimport time\n" in page and page.count("```") % 2 == 0


def test_a_broken_anchor_fails_the_build(tmp_path):
    """Builds two pages with the rules of the site, and the flags of `.ci/run`."""
    rules = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["validation"]
    settings = {"site_name": "small", "theme": None, "plugins": [], "validation": rules}
    (tmp_path / "mkdocs.yml").write_text(json.dumps(settings))
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text("[files](data.md#files)")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    flags = re.search(r"^mkdocs build (.*) --site-dir", script, re.MULTILINE).group(1).split()

    def build():
        command = [sys.executable, "-m", "mkdocs", "build", *flags]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    (docs / "data.md").write_text("# Files")
    assert build().returncode == 0
    (docs / "data.md").write_text("# Tables")
    broken = build()
    assert broken.returncode == 1
    assert "does not contain an anchor '#files'" in broken.stderr


def test_what_the_reference_shows():
    """Users see the methods that a class inherits, but not what Keras and serving call."""
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    [options] = re.findall(r" options:\n((?: {12}.*\n)+)", settings)
    chosen = yaml.safe_load(options)
    assert chosen["inherited_members"] and chosen["separate_signature"] and find_spec("ruff")
    hidden = [pattern.removeprefix("!") for pattern in chosen["filters"]]

    def is_shown(name):
        return not any(re.search(pattern, name) for pattern in hidden)

    for name in ("load", "save", "export", "read_as", "from_preset", "encode", "call", "score"):
        assert is_shown(name), name
    for name in ("served_call", "compute_output_spec", "_ngrams", "get_config"):
        assert not is_shown(name), name


def test_examples_are_sections():
    """`Example:` would become a block quote."""
    folders = ("tf_charagram", "search", "tuning", "export")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    wrong = re.compile(r"^ +Example:$", re.MULTILINE)
    assert not [path for path in paths if wrong.search(path.read_text(encoding="utf-8"))]

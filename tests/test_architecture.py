"""Imports point downwards only, and name modules in full. What is new needs a place in `TIERS`."""

import ast
import json
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
# Lowest first. `__init__` is the face of the package: nothing below it uses its names.
TIERS = (
    {"errors"},
    {"_files", "settings", "_version"},
    {"_common"},
    {"data"},
    {"layers", "text"},
    {"encoders"},
    {"optimizers"},
    {"losses"},
    {"models"},
    {"search"},
    {"evaluation"},
    {"training"},
    {"tasks"},
    {"bulk", "demo"},
    {"cli"},
    {"__init__", "train", "evaluate", "embed", "tag"},
    {"tuning", "export", "search._commands"},
    {"research"},
)
RANK = {part: rank for rank, tier in enumerate(TIERS) for part in tier}


def imported_names(path):
    """Yields the imports of a file, as full names; a relative one starts with a dot."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield from (f"{base}.{alias.name}" for alias in node.names)


def is_allowed(source, name):
    top, _, rest = name.partition(".")
    if top in {"", "search", "tuning", "export"}:  # relative, or by a name that only a checkout has
        return False
    if top == "research":
        return source == "research"
    if top != "tf_charagram":
        return True
    if rest.startswith("search._commands"):
        part = "search._commands"
    else:
        part = rest.partition(".")[0]
    target = part if part in RANK else "__init__"
    gap = RANK[source] - RANK[target]
    return target == source or gap > 0


def test_imports_point_downwards():
    wrong = []
    for folder in ("tf_charagram", "search", "tuning", "export", "research"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "tests" in path.relative_to(ROOT).parts:
                continue
            place = path.relative_to(ROOT).with_suffix("").parts
            source = place[1] if folder == "tf_charagram" else folder
            if place[:2] == ("search", "_commands"):
                source = "search._commands"
            assert source in RANK, f"`{source}` has no place in TIERS"
            names = (name for name in imported_names(path) if not is_allowed(source, name))
            wrong += [f"{path.relative_to(ROOT)} imports {name}" for name in names]
    assert not wrong, "\n".join(wrong)


#: Imports in Python blocks, also in those that show a change of a file.
IMPORT = re.compile(r"^[+ ]*(?:from|import) (tf_charagram[\w.]*)", re.MULTILINE)
#: What users import from: the package, its rooms, and the rooms of the folders beside it.
ROOM = re.compile(r"tf_charagram(\.(search|tuning|export))?(\.[a-z]\w*)?")


def user_pages():
    """Yields path and text of README.md, the guides and the examples; of a notebook, its code."""
    guides, examples = ROOT.glob("docs/*.md"), ROOT.glob("examples/*.*")
    for path in (ROOT / "README.md", *sorted(guides), *sorted(examples)):
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            cells = json.loads(text)["cells"]
            text = "\n".join("".join(cell["source"]) for cell in cells)
        yield path, text


def is_in_checkout(module):
    """Returns whether a module exists; docs/extending.md writes new ones."""
    names = module.split(".")
    places = [ROOT.joinpath(*names), ROOT.joinpath(*names[1:])]
    return any(place.is_dir() or place.with_suffix(".py").is_file() for place in places)


def test_guides_import_from_rooms():
    imported, deep = set(), []
    for path, text in user_pages():
        for module in IMPORT.findall(text):
            imported.add(module)
            if not ROOM.fullmatch(module) and is_in_checkout(module):
                deep.append(f"{path.relative_to(ROOT)} imports {module}")
    assert {"tf_charagram", "tf_charagram.search"} <= imported
    assert not deep, "\n".join(deep)

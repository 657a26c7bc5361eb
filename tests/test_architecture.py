"""Imports point downwards only, and name modules in full. What is new needs a place in `TIERS`."""

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
# Lowest first. `__init__` is the face of the package: nothing below it uses its names.
TIERS = (
    {"errors"},
    {"_files", "lazy", "settings", "_version"},
    {"checks", "devices"},
    {"reporting"},
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
    {"tuning", "export", "search.commands"},
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
    if rest.startswith("search.commands"):
        part = "search.commands"
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
            if place[:2] == ("search", "commands"):
                source = "search.commands"
            assert source in RANK, f"`{source}` has no place in TIERS"
            names = (name for name in imported_names(path) if not is_allowed(source, name))
            wrong += [f"{path.relative_to(ROOT)} imports {name}" for name in names]
    assert not wrong, "\n".join(wrong)

"""Imports point downwards only. A module or folder that is new needs a place in `TIERS`."""

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
# Lowest first. `__init__` is the face of the package: what it offers, nothing below may use.
TIERS = (
    {"config", "errors", "files", "_version"},
    {"text", "layers"},
    {"encoders"},
    {"objectives", "optimizers"},
    {"models"},
    {"data", "evaluation", "analysis"},
    {"runs"},
    {"__init__", "train", "evaluate", "embed", "neighbors", "cli"},
    {"tuning", "export"},
)
RANK = {unit: rank for rank, tier in enumerate(TIERS) for unit in tier}
# Tiers whose members may import each other.
PEERS = {RANK["config"], RANK["data"]}


def imported_names(node, package):
    """Yields the full names that an import statement may load, `package` being where it stands."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = package[: len(package) - node.level + 1] if node.level else []
        base = [*base, node.module] if node.module else base
        yield from (".".join([*base, alias.name]) for alias in node.names)


def arrows(path, root=ROOT):
    """Yields `(from, to)` for each import of one part of the package by another."""
    parts = list(path.relative_to(root).with_suffix("").parts)
    # Top-level folders ship inside the package, see setup.py.
    package = [] if parts[0] == "tf_charagram" else ["tf_charagram"]
    source = (package + parts)[1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for name in imported_names(node, (package + parts)[:-1]):
            top, *rest = name.split(".")
            if top in {"tuning", "export"}:
                yield source, f"{top} by a name that only a checkout knows"
            elif top == "tf_charagram":
                target = rest[0] if rest and rest[0] in RANK else "__init__"
                if target != source:
                    yield source, target


def is_allowed(source, target):
    if source not in RANK or target not in RANK:
        return False
    return RANK[target] < RANK[source] or RANK[target] == RANK[source] in PEERS


def test_imports_point_downwards():
    paths = [p for name in ("tf_charagram", "tuning", "export") for p in ROOT.glob(f"{name}/**/*.py")]
    wrong = [
        f"{path.relative_to(ROOT)}: {source} imports {target}"
        for path in paths
        for source, target in arrows(path)
        if not is_allowed(source, target)
    ]
    assert paths
    assert not wrong, "\n".join(wrong)

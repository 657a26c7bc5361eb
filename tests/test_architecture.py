"""Imports point downwards only, and name modules in full. What is new needs a place in `TIERS`."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# Lowest first. `__init__` is the face of the package: nothing below it uses what it offers.
TIERS = (
    {
        "errors", "arrays", "bad_lines", "extras", "files", "json_files", "lazy", "locks",
        "tensorflow_files", "_version",
    },
    {"distribution"},
    {"text", "layers"},
    {"encoders"},
    {"config"},
    {"objectives", "optimizers"},
    {"serialization"},
    {"models", "trainers", "losses"},
    {"data", "evaluation"},
    {"reporting"},
    {"baselines", "training", "scoring", "bulk", "search", "cli"},
    {"analysis"},
    {"papers"},
    {"__init__", "train", "vocabulary", "evaluate", "embed", "tag", "neighbors", "demo"},
    {"tuning", "export"},
)  # fmt: skip
RANK = {part: rank for rank, tier in enumerate(TIERS) for part in tier}
# The tiers whose parts may import each other.
PEERS = {RANK["errors"], RANK["data"], RANK["training"]}


def imported_names(path):
    """Yields what a file imports, as full names; a relative one starts with a dot."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield from (f"{base}.{alias.name}" for alias in node.names)


def is_allowed(source, name):
    top, _, rest = name.partition(".")
    if top in {"", "tuning", "export"}:  # relative, or by a name that only a checkout knows
        return False
    if top != "tf_charagram":
        return True
    part = rest.partition(".")[0]
    target = part if part in RANK else "__init__"
    gap = RANK[source] - RANK[target]
    return target == source or gap > 0 or (gap == 0 and RANK[target] in PEERS)


def test_imports_point_downwards():
    wrong = []
    for folder in ("tf_charagram", "tuning", "export"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            place = path.relative_to(ROOT).with_suffix("").parts
            source = place[1] if folder == "tf_charagram" else folder
            assert source in RANK, f"`{source}` has no place in TIERS"
            names = (name for name in imported_names(path) if not is_allowed(source, name))
            wrong += [f"{path.relative_to(ROOT)} imports {name}" for name in names]
    assert not wrong, "\n".join(wrong)


@pytest.mark.skipif(not (ROOT / "CONTRIBUTING.md").is_file(), reason="not a checkout")
def test_contributing_says_the_same():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"imports point downwards only:\n\n((?:    .*\n)+)", text)
    tiers = [set(line.strip().split(", ")) for line in block.splitlines()]
    assert tiers[::-1] == [tier - {"__init__", "_version"} for tier in TIERS]

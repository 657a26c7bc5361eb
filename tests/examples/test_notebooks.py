"""The notebooks of `examples/` run from top to bottom, and are stored without outputs.

Their code cells run as one script in a process of its own. They use neither IPython's commands nor
its display, so this needs no kernel and no package of Jupyter, and a traceback shows the line.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.commands import run

EXAMPLES = Path(__file__).parents[2] / "examples"
#: Notebook -> a condition that holds at its end.
CHECKS = {
    "lazy_adam": "seconds['LazyAdam'] < seconds['Adam'] and is_named.all()",
    "search_and_deduplicate": "found == [0, 4, 6] and len(clean) == 5 and len(pairs) == 2",
    "train_and_serve": "before < after == 1.0 and cosine > 0.5",
    "tune": "scores[0] >= scores[-1] > 30",
}
LONG = {"lazy_adam", "train_and_serve", "tune"}

pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="not a checkout")


def cells_of(name):
    """Returns the cells of a notebook."""
    notebook = json.loads((EXAMPLES / f"{name}.ipynb").read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    return notebook["cells"]


def test_every_notebook_is_checked():
    assert {path.stem for path in EXAMPLES.glob("*.ipynb")} == set(CHECKS)


@pytest.mark.parametrize("name", CHECKS)
def test_is_short_and_without_outputs(name):
    cells = cells_of(name)
    assert 6 <= len(cells) <= 12
    assert cells[0]["cell_type"] == "markdown" and cells[0]["source"][0].startswith("# ")
    for cell in cells:
        if cell["cell_type"] == "code":
            assert not cell["outputs"] and cell["execution_count"] is None


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.long) if name in LONG else name for name in CHECKS],
)
def test_runs(name, tmp_path):
    sources = ["".join(cell["source"]) for cell in cells_of(name) if cell["cell_type"] == "code"]
    script = tmp_path / f"{name}.py"
    script.write_text("\n\n".join([*sources, f"assert {CHECKS[name]}"]), encoding="utf-8")
    ended = run([sys.executable, str(script)], cwd=tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr

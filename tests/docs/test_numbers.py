"""Numbers beside the code of README.md and the guides are those that the code returns."""

from __future__ import annotations

import ast
import re
from numbers import Real
from pathlib import Path

import numpy as np
import pytest

from tf_charagram.models._storage.locations import read_config

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
DECIMAL = re.compile(r"\d\.\d")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*\w)")
#: Page -> its first blocks of Python, which run one after another.
PAGES = {"README.md": 1, "docs/jobs.md": 2, "docs/models.md": 1}

pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="not a checkout")


def blocks(page):
    return BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))


def numbers_in(result):
    """Yields all numbers of a result, and the sizes of its arrays."""
    if isinstance(result, np.ndarray):
        yield from result.shape
        result = result.ravel().tolist()
    if isinstance(result, Real):
        yield float(result)
    elif isinstance(result, list | tuple):
        for part in result:
            yield from numbers_in(part)


def run(block, names, path):
    """Runs a block; compares the numbers of a comment with the result of its statement."""
    lines = block.splitlines()
    for statement in ast.parse(block).body:
        comment = lines[statement.end_lineno - 1][statement.end_col_offset :].partition(";")[0]
        if not isinstance(statement, ast.Expr):
            exec(compile(ast.Module([statement], []), path, "exec"), names)
            continue
        result = eval(compile(ast.Expression(statement.value), path, "eval"), names)
        found = list(numbers_in(result))
        for shown in NUMBER.findall(comment):
            decimals = len(shown.partition(".")[2])
            rounded = {round(number, decimals) for number in found}
            assert float(shown) in rounded, f"{lines[statement.lineno - 1]}\n{result}"


@pytest.mark.parametrize("page", PAGES)
def test_code_returns_what_is_beside_it(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks(page)[: PAGES[page]]:
        run(block, names, page)


def test_no_other_code_shows_a_decimal():
    for page in ["README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]:
        for block in blocks(page)[PAGES.get(page, 0) :]:
            comments = [line.partition("#")[2] for line in block.splitlines() if "#" in line]
            shown = [comment for comment in comments if DECIMAL.search(comment)]
            assert not shown, f"{page}: run this block here, or leave out {shown}"


def test_a_wrong_number_is_found():
    run("x = 2\nx / 3  # 0.67", {}, "page")
    with pytest.raises(AssertionError, match=r"0\.66"):
        run("x = 2\nx / 3  # 0.66", {}, "page")


def test_sizes_of_english():
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"has ([\d,]+) character n-grams", page)
    assert shown == f"{read_config('english')['encoder']['config']['num_rows']:,}"

"""Style and types are part of the tests."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("tf_charagram", "search", "tuning", "export")
#: Packages whose names are stable; most are imported when they are used.
STABLE = (
    "", ".data", ".encoders", ".evaluation", ".layers", ".losses", ".optimizers", ".search",
    ".tasks", ".tuning",
)  # fmt: skip

pytestmark = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")


def run(*command):
    """Returns the output of a tool; fails if the tool finds a problem in the checkout."""
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True
    )
    if done.returncode:
        pytest.fail(done.stdout + done.stderr, pytrace=False)
    return done.stdout


def user_names():
    """Returns module and name of all that the pages import, and of all that is stable."""
    found = set()
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        # The files that this page makes have a test of their own.
        if page.name == "extending.md":
            continue
        imports = r"^from (tf_charagram[\w.]*) import (.+)$"
        for module, names in re.findall(imports, page.read_text(encoding="utf-8"), re.MULTILINE):
            found |= {(module, name.strip()) for name in names.split(",")}
    for package in STABLE:
        module = f"tf_charagram{package}"
        found |= {(module, name) for name in import_module(module).__all__}
    return sorted(found)


def test_the_names_of_the_pages_are_stable():
    page = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
    stable = set(re.findall(r"`(tf_charagram[\w.]*)`", page))
    assert {module for module, _ in user_names()} == stable
    for package in STABLE:
        exported = import_module(f"tf_charagram{package}").__all__
        used = {name for module, name in user_names() if module == f"tf_charagram{package}"}
        assert used == set(exported), package


def test_style():
    run("ruff", "check")


def test_types(tmp_path):
    """Of all folders, `tuning` and `export` under the names of their imports; and for users."""
    names = user_names()
    assert ("tf_charagram.search", "match") in names
    script = tmp_path / "user.py"
    with script.open("w") as file:
        for number, (module, name) in enumerate(names):
            file.write(
                f"from {module} import {name} as name_{number}; reveal_type(name_{number})\n"
            )
    printed = run("mypy", "tf_charagram", ".ci/types/tf_charagram", str(script))
    num_files = sum(1 for folder in FOLDERS for _ in (ROOT / folder).rglob("*.py"))
    assert f"no issues found in {num_files + 1} source files" in printed
    types = re.findall(r'^.*user\.py:(\d+): note: Revealed type is "(.*)"$', printed, re.MULTILINE)
    assert [int(line) for line, _ in types] == list(range(1, len(names) + 1))
    unknown = [names[int(line) - 1] for line, kind in types if re.search(r"^Any$|-> Any$", kind)]
    # Functions of tensors, which have no types.
    assert {module for module, _ in unknown} <= {"tf_charagram.losses"}
    assert ("tf_charagram.losses", "MarginLoss") not in unknown

"""The wheel that users get: built from a clean copy by way of the sdist, installed, imported."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parent.parent
# Top-level folder in the checkout -> folder in the wheel.
SHIPPED = {
    "tf_charagram": "tf_charagram",
    "search": "tf_charagram/search",
    "tuning": "tf_charagram/tuning",
    "export": "tf_charagram/export",
}


def run(*command, **kwargs):
    done = subprocess.run(command, capture_output=True, text=True, **kwargs)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def sources():
    """Every file that git knows or would add."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("needs a git checkout")
    names = run("git", "ls-files", "-coz", "--exclude-standard", cwd=ROOT).split("\0")
    return sorted(name for name in names if (ROOT / name).is_file())


@pytest.fixture(scope="module")
def wheel(sources, tmp_path_factory):
    folder = tmp_path_factory.mktemp("package")
    for name in sources:
        target = folder / "source" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
    # Without `--wheel`: the wheel is built from the sdist, so a file the sdist lacks is missed.
    run(sys.executable, "-m", "build", "--no-isolation", "-o", folder, folder / "source")
    return next(folder.glob("*.whl"))


def test_wheel_has_every_file_and_nothing_else(sources, wheel):
    paths = [PurePosixPath(name) for name in sources]
    expected = {
        str(SHIPPED[path.parts[0]] / path.relative_to(path.parts[0]))
        for path in paths
        if path.parts[0] in SHIPPED and path.suffix != ".md"
    }
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert found == expected
    assert any(name.startswith("tf_charagram/data/starter/") for name in found)


@pytest.mark.long
def test_installed_wheel_imports(wheel, tmp_path):
    target = tmp_path / "site"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    run(*pip, "--no-deps", "--target", target, wheel)
    code = "import tf_charagram, tf_charagram.export; print(tf_charagram.__file__)"
    printed = run(
        sys.executable, "-P", "-c", code, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(target)}
    )
    assert Path(printed.strip()).is_relative_to(target)

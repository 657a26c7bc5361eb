"""`charagram doctor` says what is there and what is missing."""

from __future__ import annotations

import json
import sys
from importlib import metadata

import pytest

from tests.commands import call
from tf_charagram._version import __version__
from tf_charagram.cli import needs


@pytest.fixture
def installed(monkeypatch):
    """Lets the installation have other packages than it has."""
    requires = [
        "tensorflow<2.22,>=2.21",
        'tensorflow-text>=2.21; sys_platform == "none"',
        "rich>=13.9",
        'rapidfuzz>=3.10; extra == "spelling"',
        'pytest>=8.2; extra == "test"',
    ]
    versions = {"tensorflow": "2.21.0", "rich": "14.0"}
    of_package = metadata.version

    def version(package):
        if package == needs._PACKAGE:
            return of_package(package)
        if package not in versions:
            raise metadata.PackageNotFoundError(package)
        return versions[package]

    monkeypatch.setattr(metadata, "requires", lambda package: requires)
    monkeypatch.setattr(metadata, "version", version)
    return versions


def test_all_is_well(installed, capsys):
    assert call("cli.doctor") == 0
    printed = capsys.readouterr().out
    for text in (__version__, "tensorflow ", ">=2.21", "2.21.0", "english", "pip install"):
        assert text in printed
    assert "missing: pip install 'tf-charagram[spelling]'" in printed
    assert "pytest" not in printed and "tensorflow-text" not in printed


@pytest.mark.parametrize(
    ("version", "problem"), [(None, "missing"), ("2.20.1", "wrong version"), ("2.22.0", "wrong")]
)
def test_what_nothing_works_without(installed, capsys, version, problem):
    del installed["tensorflow"]
    if version is not None:
        installed["tensorflow"] = version
    assert call("cli.doctor") == 1
    assert f"{problem}" in capsys.readouterr().out


def test_json(installed, capsys):
    assert call("cli.doctor", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["tf_charagram"] == __version__
    assert found["tensorflow_error"] is None
    packages = {need["package"]: need for need in found["packages"]}
    assert packages["rich"]["problem"] is None
    assert packages["rapidfuzz"] == {
        "package": "rapidfuzz", "extra": "spelling", "versions": ">=3.10", "version": None,
        "problem": "missing",
    }  # fmt: skip
    assert "english" in found["models"]


def test_tensorflow_cannot_be_imported(installed, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    assert call("cli.doctor") == 1
    assert "ModuleNotFoundError" in capsys.readouterr().out


def test_what_setup_says_is_read():
    """The names of the extras, from what is installed."""
    found = {(need.package, need.extra) for need in needs.needs()}
    assert {("tensorflow", None), ("numpy", None), ("rapidfuzz", "spelling")} <= found
    assert not {extra for _, extra in found} & {"test", "bench"}

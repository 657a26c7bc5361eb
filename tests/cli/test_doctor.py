"""`charagram doctor` reports packages that are there and missing."""

from __future__ import annotations

import sys
from importlib import metadata

import pytest

from tests.commands import call
from tf_charagram._version import __version__
from tf_charagram.errors import install_advice


@pytest.fixture
def installed(monkeypatch):
    """Replaces the versions of the installed packages, and the requirements of this one."""
    requires = [
        "tensorflow<2.22,>=2.21",
        'tensorflow-text>=2.21; sys_platform == "none"',
        'pyarrow>=17; extra == "parquet"',
        'pytest>=8.2; extra == "test"',
    ]
    versions = {"tensorflow": "2.21.0"}

    def version(package):
        if package not in versions:
            raise metadata.PackageNotFoundError(package)
        return versions[package]

    monkeypatch.setattr(metadata, "requires", lambda package: requires)
    monkeypatch.setattr(metadata, "version", version)
    return versions


def test_complete(installed, capsys):
    assert call("doctor") == 0
    printed = capsys.readouterr().out
    for text in (__version__, "tensorflow ", ">=2.21", "2.21.0", "english"):
        assert text in printed
    assert install_advice("parquet") in printed
    assert "pytest" not in printed and "tensorflow-text" not in printed


@pytest.mark.parametrize("version", [None, "2.20.1", "2.22.0"])
def test_a_required_package(installed, capsys, version):
    installed |= {"tensorflow": version}
    if version is None:
        del installed["tensorflow"]
    assert call("doctor") == 1
    assert install_advice() in capsys.readouterr().out


def test_tensorflow_cannot_be_imported(installed, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    assert call("doctor") == 1
    assert "GPUs          not known without TensorFlow\n" in capsys.readouterr().out

"""Exceptions and the texts of errors."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from tf_charagram.errors import (
    CharagramError,
    ConfigError,
    DataError,
    RunError,
    check_positive,
    install_advice,
    unknown_name,
)


def test_one_base_and_a_builtin_one():
    for error, base in ((ConfigError, ValueError), (RunError, RuntimeError)):
        assert issubclass(error, CharagramError) and issubclass(error, base)


def test_data_error_says_where():
    error = DataError(Path("pairs.tsv"), "expected 2 texts", line=17)
    assert str(error) == "pairs.tsv:17: expected 2 texts"
    assert (error.path, error.line) == ("pairs.tsv", 17)
    assert str(DataError("pairs.tsv", "is empty")) == "pairs.tsv: is empty"
    # As another process raises it.
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dann", "Unknown encoder 'dann'. Did you mean 'dan'? Available: charagram, dan."),
        ("zzz", "Unknown encoder 'zzz'. Available: charagram, dan."),
        ("", "Unknown encoder ''. Available: charagram, dan."),
    ],
)
def test_unknown_name(name, expected):
    assert unknown_name("encoder", name, ["dan", "charagram"]) == expected


def test_sizes():
    check_positive(dim=1, units=300)
    with pytest.raises(ConfigError, match=r"`units` must be at least 1\. Received: units=0"):
        check_positive(dim=1, units=0)
    for value in (None, 1.0, True, "1"):
        with pytest.raises(ConfigError, match=r"`dim` must be an integer\. Received: dim="):
            check_positive(dim=value)


def test_advice_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr("tf_charagram.errors._CHECKOUT", tmp_path)
    assert install_advice() == "pip install tf-charagram"
    assert install_advice("parquet") == "pip install 'tf-charagram[parquet]'"
    (tmp_path / "pyproject.toml").touch()
    assert install_advice() == f"pip install -e {tmp_path}"
    monkeypatch.chdir(tmp_path)
    assert install_advice() == "pip install -e ."
    assert install_advice("parquet") == "pip install -e '.[parquet]'"

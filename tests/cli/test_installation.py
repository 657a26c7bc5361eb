"""What commands say where a package is missing or wrong, or a place cannot be written to."""

from __future__ import annotations

import errno
import io
import sys
from importlib import metadata
from pathlib import Path

import pytest

from tests.commands import call, run
from tf_charagram.cli import installation
from tf_charagram.cli.commands import run_command
from tf_charagram.errors import InstallationError
from tf_charagram.text import splitting


def says(capsys, error):
    """Returns what a command prints that ends with an error."""

    def command(arguments):
        raise error

    assert run_command(command, []) == 1
    printed = capsys.readouterr().err
    assert printed.startswith("error: ") and "Traceback" not in printed
    return printed


@pytest.fixture
def finder(monkeypatch):
    """Returns what looks at versions; TensorFlow and its like are those that a test says."""
    versions = {"tensorflow": "2.21.0", "tensorflow-text": "2.21.1", "keras": "3.15.1"}
    original = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: versions.get(name) or original(name))
    return installation._VersionFinder(), versions


@pytest.mark.parametrize(
    ("module", "package", "version"),
    [
        ("tensorflow", "tensorflow", "2.20.1"),
        ("tensorflow", "tensorflow", "2.22.0"),
        ("keras", "keras", "3.5.0"),
        ("tensorflow_text", "tensorflow-text", "2.20.0"),
    ],
)
def test_a_wrong_version(finder, module, package, version):
    finder, versions = finder
    assert finder.find_spec(module, None) is None
    versions[package] = version
    message = rf"^{package} {version} is installed, and tf-charagram needs "
    with pytest.raises(InstallationError, match=message) as error:
        finder.find_spec(module, None)
    assert f"pip install '{package}" in str(error.value)
    assert finder.find_spec("numpy", None) is None


def test_a_checkout_that_is_not_installed(monkeypatch):
    def requires(package):
        raise metadata.PackageNotFoundError(package)

    monkeypatch.setattr(metadata, "requires", requires)
    assert installation._VersionFinder().find_spec("tensorflow", None) is None


def test_a_wrong_tensorflow_ends_a_command(tmp_path):
    """In a process of its own, where nothing was imported before."""
    (tmp_path / "words.txt").write_text("cat\n")
    script = (
        "import sys\nfrom importlib import metadata\nversion = metadata.version\n"
        "metadata.version = lambda p: '2.9.0' if p == 'tensorflow' else version(p)\n"
        "from tf_charagram.cli import main\n"
        "sys.exit(main(['embed', 'english', '--input', 'words.txt']))"
    )
    ended = run([sys.executable, "-c", script], cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("error: tensorflow 2.9.0 is installed, and tf-charagram needs")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize("module", installation._PACKAGES)
def test_a_missing_package(module, capsys):
    printed = says(capsys, ModuleNotFoundError(f"No module named '{module}'", name=module))
    assert f"{module.replace('_', '-')} is not installed. pip install tf-charagram." in printed


def test_without_tensorflow_text(data, tmp_path, monkeypatch, capsys):
    """Encoders of characters train, those of words say what they need."""
    monkeypatch.setitem(sys.modules, "tensorflow_text", None)
    kept = splitting._whitespace_tokenizer
    monkeypatch.setattr(splitting, "_whitespace_tokenizer", kept.__wrapped__)
    quick = ("--data", data[0], "--eval-data", data[1], "--dim", 4, "--epochs", 1)
    assert call("train", *quick, "--encoder", "dan", "--out", tmp_path / "words") == 1
    printed = capsys.readouterr().err
    assert "error: tensorflow-text is not installed." in printed
    assert "without it the character encoders work: charagram, char_cnn, char_lstm" in printed
    assert call("embed", "english", "--input", Path(__file__), "--output", tmp_path / "v.npy") == 0


def test_a_mac_with_intel(monkeypatch):
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    error = ModuleNotFoundError("No module named 'tensorflow'", name="tensorflow")
    assert "macOS on Intel" in installation.missing(error)


def test_windows(capsys):
    error = ImportError("Word encoders need tensorflow-text, which has no Windows build.")
    assert "tensorflow-text is not installed." in says(capsys, error)


@pytest.mark.parametrize(
    "error",
    [
        ModuleNotFoundError("No module named 'numpy'", name="numpy"),
        ImportError("cannot import name 'keras' from 'tensorflow'", name="tensorflow"),
    ],
)
def test_nothing_is_known_of_other_imports(error):
    assert installation.missing(error) is None


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (errno.EACCES, "Choose a place that you may write to"),
        (errno.EROFS, "Choose a place that you may write to"),
        (errno.ENOSPC, "Free some space and repeat the command"),
    ],
)
def test_a_place_that_cannot_be_written(code, advice, capsys):
    printed = says(capsys, OSError(code, "no", "there/file"))
    assert printed.startswith("error: there/file: no. ") and advice in printed


def test_other_errors_are_bugs():
    def command(arguments):
        raise OSError(errno.EBADF, "Bad file descriptor")

    with pytest.raises(OSError, match="Bad file"):
        run_command(command, [])
    with pytest.raises(ModuleNotFoundError):
        run_command(lambda arguments: __import__("no_such_module"), [])


@pytest.mark.parametrize("command", [["train", "--out"], ["embed", "english", "--output"]])
def test_no_permission(command, tmp_path, monkeypatch, capsys):
    """Whoever runs the tests: root may write everywhere."""

    def refused(path, *args, **kwargs):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "mkdir", refused)
    stdin = io.BufferedReader(io.BytesIO(b"cat\n"))  # type: ignore[arg-type]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(stdin))
    out = tmp_path / "there" / "v.npy"
    assert call(*command, out) == 1
    printed = capsys.readouterr().err
    assert f"Cannot write {out}" in printed and "Choose a place that you may write to" in printed


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_output_that_is_full(tmp_path):
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "tf_charagram.cli", "runs", str(tmp_path)]
        ended = run(command, cwd=tmp_path, capture_output=False, stdout=full, stderr=-1)
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: the output: No space left on device. Free some space")
    assert "Exception" not in ended.stderr

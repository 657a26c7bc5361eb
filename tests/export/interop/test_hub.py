"""Models on the Hugging Face Hub, which is a folder here."""

from __future__ import annotations

import shutil
import sys
from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import create_autospec

import numpy as np
import pytest

from tests.search.conftest import save_model
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.export.hub import load, push
from tf_charagram.models.embedder import TextEmbedder

hub = pytest.importorskip("huggingface_hub")

ADDRESS = "hf://me/words"
FILES = {"config.json", "vocabulary.npz", "weights.npz"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Returns a run folder."""
    folder = tmp_path_factory.mktemp("hub") / "run"
    save_model(folder / "model", seed=1)
    (folder / "model" / "notes.txt").write_text("private")
    return folder


@pytest.fixture
def remote(tmp_path, monkeypatch):
    """Makes a folder the Hub; calls must fit the signatures of the true functions."""

    def create_repo(repo_id, *, private, exist_ok):
        assert exist_ok
        (tmp_path / repo_id).mkdir(parents=True, exist_ok=True)
        (tmp_path / repo_id / "private").write_text(str(private))

    def upload_folder(*, repo_id, folder_path, revision, allow_patterns, commit_message):
        target = tmp_path / repo_id / (revision or "main")
        target.mkdir(exist_ok=True)
        for path in Path(folder_path).iterdir():
            if any(fnmatch(path.name, pattern) for pattern in allow_patterns):
                shutil.copy(path, target)
        return SimpleNamespace(commit_url=f"https://hub/{repo_id}/commit/1")

    def snapshot_download(repo_id, *, revision, allow_patterns):
        assert set(allow_patterns) == FILES
        path = tmp_path / repo_id / (revision or "main")
        if not path.is_dir():
            raise hub.errors.LocalEntryNotFoundError("Cannot find\nthe files")
        return str(path)

    api = create_autospec(hub.HfApi, instance=True)
    api.create_repo.side_effect = create_repo
    api.upload_folder.side_effect = upload_folder
    monkeypatch.setattr(hub, "HfApi", lambda: api)
    download = create_autospec(hub.snapshot_download, side_effect=snapshot_download)
    monkeypatch.setattr(hub, "snapshot_download", download)
    return tmp_path


@pytest.mark.parametrize("model", ["", "model"])
def test_round_trip(run, remote, model):
    assert push(run / model, ADDRESS) == "https://hub/me/words/commit/1"
    assert {path.name for path in (remote / "me" / "words" / "main").iterdir()} == FILES
    assert (remote / "me" / "words" / "private").read_text() == "False"
    expected = TextEmbedder.load(run).encode(["cat"])
    np.testing.assert_array_equal(load(ADDRESS).encode(["cat"]), expected)
    np.testing.assert_allclose(load(ADDRESS, folded=True).encode(["cat"]), expected, atol=1e-5)


def test_revision(run, remote):
    push(run, f"{ADDRESS}@v2", private=True)
    assert (remote / "me" / "words" / "private").read_text() == "True"
    assert load(f"{ADDRESS}@v2").dim == 12
    with pytest.raises(RunError, match=r"Cannot download hf://me/words: Cannot find the files"):
        load(ADDRESS)


def test_what_the_hub_says(run, remote):
    hub.HfApi().create_repo.side_effect = hub.errors.HFValidationError("no such name")
    with pytest.raises(RunError, match=r"Cannot upload .*run to hf://me/words: no such name"):
        push(run, ADDRESS)


def test_a_host_that_does_not_answer(run, remote):
    """The error of a connection is that of the HTTP client, and not of huggingface_hub."""
    api = hub.HfApi()
    api.create_repo.side_effect = lambda *_, **__: hub.get_session().get("http://127.0.0.1:9")
    with pytest.raises(RunError, match=r"Cannot upload .*run to hf://me/words: .*[Cc]onnect"):
        push(run, ADDRESS)


def test_without_network(monkeypatch, tmp_path):
    # The true function, which may not ask.
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(hub.constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(RunError, match="Cannot download hf://me/words: "):
        load(ADDRESS)


@pytest.mark.parametrize("missing", sorted(FILES))
def test_a_download_that_was_interrupted(run, monkeypatch, tmp_path, missing):
    """The true function returns the folder of the cache, whatever it has."""
    repository = tmp_path / "models--me--words"
    snapshot = repository / "snapshots" / ("0" * 40)
    shutil.copytree(run / "model", snapshot)
    (snapshot / missing).unlink()
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("0" * 40)
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(hub.constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(RunError, match=f"hf://me/words is incomplete: .* has no {missing}. Load"):
        load(ADDRESS)


def test_what_is_no_model(remote):
    with pytest.raises(RunError, match="is not a model folder"):
        push(remote, ADDRESS)
    (remote / "me" / "words" / "main").mkdir(parents=True)
    with pytest.raises(RunError, match="is not a model folder"):
        load(ADDRESS)


@pytest.mark.parametrize(
    "address", ["me/words", "hf://words", "hf://a/b/c", "hf://a/b@", "hf:///b"]
)
def test_addresses(run, address):
    for call in (lambda: load(address), lambda: push(run, address)):
        with pytest.raises(ConfigError, match="`address` must be hf://OWNER/NAME"):
            call()


def test_without_huggingface_hub(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ConfigError, match=r"pip install .*\[hub\]'"):
        load(ADDRESS)

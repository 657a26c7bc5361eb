"""Models on the Hugging Face Hub: `hf://OWNER/NAME`, or `hf://OWNER/NAME@REVISION`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tf_charagram._common.lazy import extra_module
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.models._storage.choice import Embedder, load_anywhere
from tf_charagram.models._storage.locations import FILES, model_files, read_config

_ADDRESS = re.compile(r"hf://([\w.-]+/[\w.-]+)(?:@([\w./-]+))?")


def push(model: str | Path, address: str, *, private: bool = False) -> str:
    """Uploads the three files of a model; creates the repository if it is missing.

    Args:
        model: Run folder or model folder.
        address: `hf://OWNER/NAME`; a revision, if given, must be an existing branch.
        private: Whether a new repository is private. Default: no.

    Returns:
        The address of the commit.

    Raises:
        ConfigError: The address is malformed, or huggingface_hub is not installed.
        RunError: The folder is not a model, or the Hub refuses it. Log in with `hf auth login`.
    """
    hub = extra_module("huggingface_hub", "hub")
    repository, revision = _parse(address)
    read_config(model)
    files = model_files(model)
    with _hub_errors(f"Cannot upload {model} to {address}"):
        api = hub.HfApi()
        api.create_repo(repository, private=private, exist_ok=True)
        commit = api.upload_folder(
            repo_id=repository,
            folder_path=files[0].parent,
            revision=revision,
            allow_patterns=[file.name for file in files],
            commit_message="Upload a model of tf-charagram",
        )
    return str(commit.commit_url)


def load(address: str, **options: Any) -> Embedder:
    """Loads a model, downloading it unless it is cached.

    Args:
        address: `hf://OWNER/NAME`, or `hf://OWNER/NAME@REVISION` for a branch, tag or commit.
        **options: Arguments of `TextEmbedder.load`, such as `folded=True`.

    Returns:
        A `TextEmbedder`, or a `TextReader` where TensorFlow is not installed.

    Raises:
        ConfigError: The address is malformed, or huggingface_hub is not installed.
        RunError: It cannot be downloaded, is incomplete, or is not a model.
    """
    hub = extra_module("huggingface_hub", "hub")
    repository, revision = _parse(address)
    with _hub_errors(f"Cannot download {address}"):
        folder = hub.snapshot_download(repository, revision=revision, allow_patterns=list(FILES))
    # Without a connection, huggingface_hub returns the folder of an interrupted download.
    missing = [name for name in FILES if not Path(folder, name).is_file()]
    if missing and len(missing) < len(FILES):
        raise RunError(
            f"The download of {address} is incomplete: {folder} has no {' and no '.join(missing)}. "
            "Load it again with a connection."
        )
    return load_anywhere(folder, **options)


def _parse(address: str) -> tuple[str, str | None]:
    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise ConfigError(
            f"`address` must be hf://OWNER/NAME or hf://OWNER/NAME@REVISION. Received: {address!r}"
        )
    return match[1], match[2]


@contextmanager
def _hub_errors(problem: str) -> Iterator[None]:
    """Turns errors of huggingface_hub, of its HTTP library and of the network into `RunError`."""
    try:
        yield
    except Exception as error:
        raise RunError(f"{problem}: {' '.join(str(error).split())}") from error

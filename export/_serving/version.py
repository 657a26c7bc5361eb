"""The folder that TensorFlow Serving watches: one numbered folder per version of a model."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tf_charagram._files.json_files import read_json
from tf_charagram._files.writing import partial_folder, whole_file
from tf_charagram.errors import RunError
from tf_charagram.export._serving.card import page
from tf_charagram.export._serving.requests import write_golden, write_warmup
from tf_charagram.models._storage.saved_model import MODEL_CARD
from tf_charagram.models.base import TextModel

GOLDEN = "assets.extra/golden.json"
WARMUP = "assets.extra/tf_serving_warmup_requests"
#: TensorFlow Serving looks for it in a version, and does not batch a model without it.
BATCHING_PARAMETERS = "batching_params.pbtxt"
# The files that the server is started with, as they are at first.
_SERVER_FILES = Path(__file__).parent / "files"
_BATCHING = "batching.config"
# Names that may be part of the URL of a REST call.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_VERSION = re.compile(r"[1-9][0-9]{0,17}")


class ServingFolder:
    """The versions of one model, `models/NAME/1`, `models/NAME/2` and so on.

    TensorFlow Serving loads the largest number as soon as it appears. So a version is written under
    another name and renamed once it is complete.

    Args:
        path: The folder; it may not exist yet.

    Raises:
        RunError: The name cannot be used in a URL, or the folder holds other files.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(os.path.abspath(path))
        self.name = self.path.name
        if not _NAME.fullmatch(self.name):
            raise RunError(
                f"'{self.name}' is part of the URL of the model: use only letters, digits, dots, "
                f"underscores and hyphens. Received: --output {path}"
            )
        if self.path.is_file():
            raise RunError(f"{self.path} is a file. Give a folder, such as models/words.")
        names = sorted(file.name for file in self.path.glob("[!.]*"))
        foreign = [name for name in names if not _VERSION.fullmatch(name)]
        if foreign:
            raise RunError(
                f"{path} holds other files than versions of a model: {', '.join(foreign[:3])}. "
                "Give another folder with --output."
            )

    @property
    def versions(self) -> list[int]:
        """The version numbers, ascending."""
        return sorted(int(file.name) for file in self.path.glob("[!.]*"))

    def prune(self, keep: int) -> list[int]:
        """Deletes all but the last `keep` versions; returns the deleted numbers."""
        old = self.versions[:-keep]
        for number in old:
            # Renamed first, so that the server never sees a half-deleted version.
            os.rename(self.path / str(number), self.path / f".{number}.old")
        # An export that was killed can have left some, too.
        for hidden in self.path.glob(".*.old"):
            shutil.rmtree(hidden, ignore_errors=True)
        return old

    def write(self, model: TextModel, about: dict[str, Any], texts: Sequence[bytes]) -> Path:
        """Writes the next version of a model, which appears only once it is complete.

        Args:
            model: The model to serve.
            about: More entries of the model card, such as scores of its run.
            texts: Real texts, at least one, for golden answers and warm-up requests.

        Returns:
            Folder of the version.

        Raises:
            RunError: The disk is full or the folder cannot be written; older versions are
                untouched.
        """
        with partial_folder(self.path / "new") as partial:
            model.write_saved_model(partial, about)
            card = read_json(partial / MODEL_CARD)
            self._write_assets(partial, model, texts)
            if _can_batch(card):
                edited = self.path.parent / _BATCHING
                batching = edited if edited.exists() else _SERVER_FILES / _BATCHING
                shutil.copyfile(batching, partial / BATCHING_PARAMETERS)
            number = max(self.versions, default=0) + 1
            with whole_file(partial / "README.md", "w") as file:
                file.write(page(card, self.name, number))
            version = self.path / str(number)
            os.rename(partial, version)
            return version

    def assets_bytes(self, model: TextModel, texts: Sequence[bytes]) -> int:
        """Returns the size of golden answers and warm-up requests, by writing them."""
        with TemporaryDirectory() as name:
            folder = Path(name)
            self._write_assets(folder, model, texts)
            return folder_bytes(folder)

    def _write_assets(self, folder: Path, model: TextModel, texts: Sequence[bytes]) -> None:
        write_golden(folder / GOLDEN, model, texts)
        write_warmup(folder / WARMUP, self.name, model, texts)

    def write_server_files(self) -> list[Path]:
        """Writes the files of the server next to the folder, and lists all models there.

        `models.config` is rewritten. The other files are written once, and may be edited.

        Returns:
            The files written.

        Raises:
            RunError: The disk is full or a file cannot be written.
        """
        models = self.path.parent
        texts = {}
        for template in sorted(_SERVER_FILES.iterdir()):
            path = models / template.name
            if not path.exists():
                texts[path] = template.read_text("utf-8")
        texts[models / "models.config"] = _models_config(models)
        for path, text in texts.items():
            with whole_file(path, "w") as file:
                file.write(text)
        return list(texts)


def folder_bytes(folder: Path) -> int:
    """Returns the size of all files in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _can_batch(card: dict[str, Any]) -> bool:
    """Returns whether each input and output has one row per text; taggers have more."""
    return "row_lengths" not in json.dumps(card["signatures"])


def _models_config(models: Path) -> str:
    """Returns the configuration of a server with all models of a folder."""
    names = {path.parent.parent.name for path in models.glob("*/[0-9]*/saved_model.pb")}
    configs = ""
    for name in sorted(filter(_NAME.fullmatch, names)):
        # The folder is mounted as /models.
        path = f"/models/{name}"
        configs += (
            f'  config {{ name: "{name}" base_path: "{path}" model_platform: "tensorflow" }}\n'
        )
    return f"# Rewritten by each `charagram export`.\nmodel_config_list {{\n{configs}}}\n"

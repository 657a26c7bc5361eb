"""One version of a served model: the SavedModel and the files beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tf_charagram.export.serving.card import write_page
from tf_charagram.export.serving.config import batching_parameters, is_batchable
from tf_charagram.export.serving.folder import ServingFolder, let_read
from tf_charagram.export.serving.golden import write_golden
from tf_charagram.export.serving.inputs import signatures_of
from tf_charagram.export.serving.warmup import write_warmup
from tf_charagram.files.json_files import read_json
from tf_charagram.files.writing import partial_folder, whole_file
from tf_charagram.models.base import TextModel
from tf_charagram.models.saved_model import MODEL_CARD

EXTRA_ASSETS = "assets.extra"
#: TensorFlow Serving looks for it here, and batches no model without it.
BATCHING_PARAMETERS = "batching_params.pbtxt"


def write_version(
    model: TextModel,
    folder: ServingFolder,
    about: dict[str, Any],
    texts: Sequence[bytes],
    num_warmup: int,
) -> Path:
    """Writes the next version of a model, which appears only once it is complete.

    Whoever can read the folder of the model can read the version.

    Args:
        model: What is served.
        folder: The versions of the model.
        about: What else the card says; see `about_run`.
        texts: Real texts, for warm-up requests and golden vectors or answers.
        num_warmup: Warm-up requests; 0 for none.

    Returns:
        Folder of the version.

    Raises:
        RunError: The disk is full or the folder cannot be written. Older versions stay.
    """
    is_new_model = not folder.path.exists()
    with partial_folder(folder.path / "new") as partial:
        if is_new_model:
            let_read(folder.path, folder.path.parent)
        model.write_saved_model(partial, about)
        card = read_json(partial / MODEL_CARD)
        signatures = signatures_of(card)
        write_golden(partial / EXTRA_ASSETS, model, signatures, texts)
        if num_warmup:
            write_warmup(partial / EXTRA_ASSETS, folder.name, signatures, texts, num_warmup)
        if is_batchable(card):
            with whole_file(partial / BATCHING_PARAMETERS) as file:
                file.write(batching_parameters(folder.path.parent))
        write_page(partial, folder.name)
        for path in (partial, *partial.rglob("*")):
            let_read(path, folder.path)
        return folder.publish(partial)

"""One version of a served model: the SavedModel, and all that is known and needed beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tf_charagram.export.card import write_page
from tf_charagram.export.golden import write_golden
from tf_charagram.export.serving_folder import ServingFolder
from tf_charagram.export.warmup import write_warmup
from tf_charagram.files import partial_folder
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.models.saved_model import write_saved_model

EXTRA = "assets.extra"


def write_version(
    embedder: TextEmbedder,
    folder: ServingFolder,
    about: dict[str, Any],
    texts: Sequence[bytes],
    num_warmup: int,
) -> Path:
    """Writes the next version of a model; it appears when it is complete.

    Args:
        embedder: What is served.
        folder: The versions of the model.
        about: What the card says besides; see `about_run`.
        texts: Real texts, for warm-up requests and golden vectors.
        num_warmup: Warm-up requests; 0 for none.

    Returns:
        Folder of the version.

    Raises:
        RunError: The disk is full or the folder cannot be written. Older versions stay.
    """
    with partial_folder(folder.path / "new") as partial:
        write_saved_model(embedder.vectorizer, embedder.encoder, partial, about)
        write_golden(partial / EXTRA, embedder, texts)
        if num_warmup:
            write_warmup(partial / EXTRA, folder.name, texts, num_warmup)
        write_page(partial, folder.name)
        return folder.publish(partial)

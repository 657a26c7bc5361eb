"""An embedder as a model of MTEB, the Massive Text Embedding Benchmark, version 2."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tf_charagram._common.lazy import extra_module
from tf_charagram.models._storage.choice import MANY_CHARS, load_embedder
from tf_charagram.models._storage.locations import model_sha256

_AbsEncoder: Any = extra_module("mteb.models.abs_encoder", "mteb").AbsEncoder
_model_meta = extra_module("mteb.models.model_meta", "mteb")


class CharagramEncoder(_AbsEncoder):
    """An encoder for `mteb.evaluate`; implements `mteb.models.EncoderProtocol`, with cosines.

    MTEB caches results under the name of the folder and a checksum of the model.

    Args:
        model_name: Run folder or model folder.
        revision: Version of the model in the results. Default: its checksum.
        device: Ignored; TensorFlow chooses.
        name: Name of the model in the results, `OWNER/MODEL`. Default: `tf-charagram/FOLDER`.

    Raises:
        RunError: The model cannot be loaded.

    Examples:
        `mteb.evaluate(CharagramEncoder("runs/mine"), mteb.get_tasks(["STS12"]))`
    """

    def __init__(
        self,
        model_name: str | Path,
        revision: str | None = None,
        *,
        device: str | None = None,
        name: str | None = None,
    ) -> None:
        del device
        checksum = model_sha256(model_name)
        # Most tasks have so many texts.
        self.embedder = load_embedder(model_name, MANY_CHARS)
        self.mteb_model_meta = _model_meta.ModelMeta.create_empty(
            {
                "name": name or f"tf-charagram/{Path(model_name).resolve().name}",
                "revision": revision or checksum[:12],
                "framework": ["TensorFlow"],
                "embed_dim": self.embedder.dim,
                "similarity_fn_name": _model_meta.ScoringFunction.COSINE,
                "use_instructions": False,
            }
        )

    def encode(self, inputs: Iterable[Mapping[str, Any]], **kwargs: Any) -> np.ndarray:
        """Embeds the `text` of all batches.

        Args:
            inputs: Batches, each with a list of texts under `text`.
            **kwargs: The task, its split and prompt; ignored.

        Returns:
            float32 `(num_texts, dim)`.
        """
        del kwargs
        return self.embedder.encode([text for batch in inputs for text in batch["text"]])

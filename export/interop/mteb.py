"""An embedder as a model of MTEB, the Massive Text Embedding Benchmark, version 2."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tf_charagram.extras import extra_module
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.models.locations import model_sha256

_AbsEncoder: Any = extra_module("mteb.models.abs_encoder", "mteb").AbsEncoder
_model_meta = extra_module("mteb.models.model_meta", "mteb")


class CharagramEncoder(_AbsEncoder):
    """What `mteb.evaluate` takes: implements `mteb.models.EncoderProtocol`, with cosines.

    Results are cached by MTEB under the name of the folder and a checksum of the model, so another
    model is evaluated again.

    Args:
        model_name: Run folder or model folder.
        revision: Name of the model's version in the results. Default: from its checksum.
        device: Not heeded: TensorFlow chooses.
        name: Name of the model in the results, `OWNER/MODEL`. Default: `tf-charagram/FOLDER`.

    Raises:
        RunError: The model cannot be loaded.

    Example:
        `mteb.evaluate(CharagramEncoder("runs/mine"), mteb.get_tasks(["STS12"]))`
    """

    def __init__(
        self, model_name: str | Path, revision: str | None = None, *, device: str | None = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        del device
        checksum = model_sha256(model_name)
        self.embedder = TextEmbedder.load(model_name, folded=True)
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
        """Embeds the `text` of all batches; whatever else MTEB says about a task is ignored.

        Args:
            inputs: Batches, each with a list of texts under `text`.
            **kwargs: The task, its split and prompt; not heeded.

        Returns:
            float32 `(num_texts, dim)`.
        """
        del kwargs
        return self.embedder.encode([text for batch in inputs for text in batch["text"]])

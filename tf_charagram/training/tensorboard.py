"""Files for TensorBoard: scalars during training, and an Embedding Projector folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tf_charagram.files.writing import tensorflow_writing, whole_file


class Scalars:
    """Writes scalars for TensorBoard.

    Args:
        folder: The log folder. Earlier events are deleted, because TensorBoard would show both
            points of a step that a resumed run repeats.
        history: Records of the evaluations before.

    Raises:
        RunError: It cannot be written.
    """

    def __init__(self, folder: Path, history: Sequence[Mapping[str, Any]] = ()) -> None:
        self._folder = folder
        for path in folder.glob("events.out.tfevents.*"):
            path.unlink()
        with tensorflow_writing(folder):
            self._writer = tf.summary.create_file_writer(str(folder))
        for record in history:
            self.write(record["step"], {"loss": record.get("loss"), **record.get("scores", {})})

    def write(self, step: int, values: Mapping[str, float | None]) -> None:
        """Writes name -> value, skipping `None`.

        Raises:
            RunError: They cannot be written, for instance because the disk is full.
        """
        with tensorflow_writing(self._folder), self._writer.as_default(step=step):
            for name, value in values.items():
                if value is not None:
                    tf.summary.scalar(name, value)
            self._writer.flush()


def write_projector(folder: Path, texts: Sequence[str], vectors: np.ndarray) -> None:
    """Writes the files of TensorBoard's Embedding Projector.

    Args:
        folder: The log folder.
        texts: A label for each vector.
        vectors: float `(num_texts, dim)`.
    """
    with whole_file(folder / "vectors.tsv", "w") as file:
        np.savetxt(file, vectors, fmt="%.5g", delimiter="\t")
    with whole_file(folder / "metadata.tsv", "w") as file:
        file.writelines(" ".join(text.split()) + "\n" for text in texts)
    with whole_file(folder / "projector_config.pbtxt", "w") as file:
        file.write(
            'embeddings {\n  tensor_name: "texts"\n  tensor_path: "vectors.tsv"\n'
            '  metadata_path: "metadata.tsv"\n}\n'
        )

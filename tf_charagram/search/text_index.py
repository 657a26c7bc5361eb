"""`TextIndex`: approximate nearest texts, saved in a folder."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from tf_charagram.errors import ConfigError, RunError, check_positive
from tf_charagram.files.json_files import parse_json, read_json, write_json
from tf_charagram.files.writing import partial_folder, sha256_of
from tf_charagram.lazy import extra_module
from tf_charagram.models.embedder import Neighbor, TextEmbedder, unit_rows
from tf_charagram.models.locations import model_sha256
from tf_charagram.reporting import ProgressLine
from tf_charagram.text.tensors import decoded, texts_of

_SETTINGS, _GRAPH, _TEXTS = "index.json", "graph.faiss", "texts.json"
# Links per text, and candidates per search (Malkov and Yashunin 2018).
_NUM_LINKS = 16
_CANDIDATES = 128


class TextIndex:
    """Finds the texts with the largest cosines in an HNSW graph of faiss.

    It takes `4 * dim` bytes per text for the embedding and about 150 for links.

    Args:
        embedder: The model that embeds queries.
        texts: Distinct texts.
        graph: The faiss index; row i is the unit-length embedding of text i.
        model_sha256: Checksum of the model, see `model_sha256`.

    Reference: Malkov and Yashunin, *Efficient and robust approximate nearest neighbor search using
    Hierarchical Navigable Small World graphs*, 2018.
    """

    def __init__(
        self, embedder: TextEmbedder, texts: list[str], graph: Any, model_sha256: str
    ) -> None:
        self.embedder = embedder
        self.texts = texts
        self.model_sha256 = model_sha256
        self._graph = graph

    def __len__(self) -> int:
        return len(self.texts)

    @classmethod
    def build(
        cls, model: str | Path, texts: Iterable[str | bytes], *, show_progress: bool = False
    ) -> TextIndex:
        """Embeds texts and links them, on all cores.

        Args:
            model: Run folder, model folder or name of a model.
            texts: Texts; repeated texts count once.
            show_progress: Show progress on standard error if it is a terminal.

        Raises:
            ConfigError: `texts` is empty or a single string, or faiss is not installed.
            RunError: The model cannot be loaded.
        """
        faiss = extra_module("faiss", "search")
        distinct = list(dict.fromkeys(map(decoded, texts_of(texts, "texts"))))
        if not distinct:
            raise ConfigError("There is no text to index.")
        fingerprint = model_sha256(model)
        embedder = TextEmbedder.load(model, folded=True)
        graph = faiss.IndexHNSWFlat(embedder.dim, _NUM_LINKS, faiss.METRIC_INNER_PRODUCT)
        graph.hnsw.efConstruction = graph.hnsw.efSearch = _CANDIDATES
        with ProgressLine(len(distinct), is_wanted=show_progress) as progress:
            for batch, vectors in embedder.encode_batches(distinct):
                graph.add(unit_rows(vectors))
                progress.update(f"{graph.ntotal:,} texts", (), advance=len(batch))
        return cls(embedder, distinct, graph, fingerprint)

    def neighbors(
        self, query: str | bytes, k: int = 10, *, include_query: bool = True
    ) -> list[Neighbor]:
        """Returns the approximate nearest texts, see `TextEmbedder.neighbors`.

        Args:
            query: A text.
            k: Number of neighbors.
            include_query: Whether the query itself may be returned.

        Raises:
            ConfigError: `k` is not a positive integer.
        """
        check_positive(k=k)
        query = decoded(query)
        number = min(k + (not include_query), len(self))
        vector = unit_rows(self.embedder.encode([query]))
        (cosines,), (indices,) = self._graph.search(vector, number)
        if indices[-1] < 0:
            # The graph search may find too few texts; compare with all of them.
            (cosines,), (indices,) = self._graph.storage.search(vector, number)
        neighbors = [
            Neighbor(self.texts[row], float(cosine), row)
            for row, cosine in zip(indices.tolist(), np.clip(cosines, -1, 1), strict=True)
        ]
        return [found for found in neighbors if include_query or found.text != query][:k]

    def save(self, path: str | Path) -> None:
        """Writes a new folder, whole or not at all.

        Raises:
            RunError: The folder exists or cannot be written.
        """
        path = Path(path)
        check_free(path)
        faiss = extra_module("faiss", "search")
        with partial_folder(path) as partial:
            try:
                faiss.write_index(self._graph, str(partial / _GRAPH))
            except RuntimeError as error:
                raise RunError(f"Cannot write {path}: {error}") from error
            (partial / _TEXTS).write_text(json.dumps(self.texts), encoding="utf-8")
            settings = {
                "model_sha256": self.model_sha256,
                "num_texts": len(self),
                "sha256": {name: sha256_of(partial / name) for name in (_GRAPH, _TEXTS)},
            }
            write_json(partial / _SETTINGS, settings)
            partial.rename(path)

    @classmethod
    def load(cls, path: str | Path, model: str | Path) -> TextIndex:
        """Loads a saved index.

        Args:
            path: The folder.
            model: The model that the index was built with, as for `build`.

        Raises:
            ConfigError: faiss is not installed.
            RunError: The folder is not an index, is damaged, or belongs to another model; or the
                model cannot be loaded.
        """
        faiss = extra_module("faiss", "search")
        path = Path(path)
        if not (path / _SETTINGS).is_file():
            raise RunError(f"{path} is not an index: it has no {_SETTINGS}.")
        try:
            settings = read_json(path / _SETTINGS)
            for name in (_GRAPH, _TEXTS):
                # faiss trusts its files.
                if sha256_of(path / name) != settings["sha256"][name]:
                    raise ValueError(f"{name} has another checksum")
            fingerprint = settings["model_sha256"]
            # `read_json` limits the size.
            texts = parse_json((path / _TEXTS).read_bytes())
            graph = faiss.read_index(str(path / _GRAPH))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RunError(
                f"{path} is damaged: {error}. Build it again: charagram index."
            ) from error
        if fingerprint != model_sha256(model):
            raise RunError(
                f"{path} was built with another model than {model}. Give that model, or build the "
                "index again: charagram index."
            )
        return cls(TextEmbedder.load(model), texts, graph, fingerprint)


def check_free(path: Path) -> None:
    """Checks that a path is free.

    Raises:
        RunError: It exists.
    """
    if path.exists() or path.is_symlink():
        raise RunError(f"{path} exists. Delete it, or give another folder.")

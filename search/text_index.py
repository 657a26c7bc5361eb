"""`TextIndex`: finds the texts of a list that are most similar to a query."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np

from tf_charagram._files.arrays import read_array
from tf_charagram._files.json_files import parse_json, read_json, write_json
from tf_charagram._files.writing import (
    check_free,
    regular_size,
    replaced_folder,
    sha256_of,
)
from tf_charagram.errors import ConfigError, RunError, check_fraction, check_positive
from tf_charagram.models._storage.choice import Embedder
from tf_charagram.search._pairs.candidates import best_pairs
from tf_charagram.search._pairs.flat_arrays import Floats, Ids, blocks, rows_by_number
from tf_charagram.search._pairs.prepared import Texts
from tf_charagram.search._pairs.word_lists import WordLists
from tf_charagram.search.scoring import TextScorer
from tf_charagram.search.statistics import TextStatistics
from tf_charagram.text._algorithm.arguments import distinct, strings_of
from tf_charagram.text._algorithm.flat import Rows

#: File of a saved index with the settings of its scorer and the checksums of the other files.
SETTINGS = "index.json"
_TEXTS = "texts.json"
_VECTORS = "vectors.npy"
_STATISTICS = "statistics.npz"
_FILES = (_TEXTS, _VECTORS, _STATISTICS)
# Queries that are searched at once: `best_pairs` does without vectors for too many pairs, and the
# hits of a query must not depend on the other queries.
_BATCH = 1000
# Texts that are embedded again to see whether an index belongs to a model.
_NUM_CHECKED = 10
# Words are counted again, and all texts prepared, when so many of the texts are not counted.
MAX_UNCOUNTED = 0.1
# Of a vector of unit length, with some rounding.
_MAX_VALUE = 1.01


class Hit(NamedTuple):
    """A text that was found.

    Attributes:
        row: Row of the text in the list, from 0.
        score: Similarity to the query, from 0 to 1.
        text: The text.
    """

    row: int
    score: float
    text: str


class _Searched(NamedTuple):
    """All that a search reads, replaced at once, so that other threads can search meanwhile.

    Attributes:
        texts: All texts.
        scorer: A scorer that counted words in them.
        prepared: The distinct texts. Each is a candidate once, so that equal texts do not crowd out
            others.
        rows: Rows in `texts` for each distinct text; lists would take most of the memory.
        counted: The distinct texts and their words, to which further texts are added.
        num_counted: Number of texts that were there when the scorer counted words; further ones
            were added.
    """

    texts: list[str]
    scorer: TextScorer
    prepared: Texts
    rows: Rows
    counted: _Counted
    num_counted: int


class _Counted(NamedTuple):
    """The distinct texts of a list, and their words.

    Attributes:
        distinct: The distinct texts, in order.
        numbers: The number of each text among them, `(num_texts,)`.
        words: The words of the distinct texts.
    """

    distinct: list[str]
    numbers: Ids
    words: WordLists

    @classmethod
    def of_texts(cls, texts: list[str]) -> _Counted:
        """Reads the words of texts."""
        distinct_texts, numbers = distinct(texts)
        return cls(distinct_texts, numbers, WordLists.of_texts(distinct_texts))

    def added(self, texts: list[str]) -> _Counted:
        """Adds texts after the others."""
        places = {text: place for place, text in enumerate(self.distinct)}
        numbers = [places.setdefault(text, len(places)) for text in texts]
        distinct_texts = list(places)
        new = WordLists.of_texts(distinct_texts[len(self.distinct) :])
        all_numbers = np.append(self.numbers, np.array(numbers, np.int64))
        return _Counted(distinct_texts, all_numbers, self.words.extended(new))

    def statistics(self) -> TextStatistics:
        """Counts all texts."""
        counts = np.bincount(self.numbers, minlength=len(self.distinct))
        return TextStatistics.of_words(self.words, counts)

    def rows(self) -> Rows:
        """Returns the rows of each distinct text, ascending."""
        return rows_by_number(self.numbers, len(self.distinct))


# Held while texts are added; not an attribute, because a lock cannot be pickled.
_ADDING = threading.Lock()


class TextIndex:
    """Finds the texts of a list that are most similar to a query, however both are spelled.

    Candidates are the nearest texts by embeddings and by character n-grams. Their score mixes the
    similarities of embeddings, n-grams, words and letters. Several threads may search, also while
    one adds texts.

    Args:
        texts: The texts: a list, an array, a column of a data frame.
        model: Run folder, model folder or name of a model; or an embedder; or `None` to compare
            letters only.
        lexical: Whether letters are compared as well as vectors.
        scorer: A scorer whose learned weights are used, in place of `model` and `lexical`.
        statistics: Counts that are used in place of those of `texts`, as of a larger list.

    Raises:
        ConfigError: `texts` is a single string or contains other values, or there is neither a
            model nor `lexical`.
        RunError: The model cannot be loaded.

    Examples:
        >>> index = TextIndex(["Sony WH-1000XM5 Headphones", "Bosch Cordless Drill 18V"])
        >>> index.search("sonny wh1000xm5 hedphones", k=1)[0].row
        0
    """

    # The folder that this index was saved to or loaded from.
    _folder: Path | None = None

    def __init__(
        self,
        texts: Iterable[str | bytes],
        model: str | Path | Embedder | None = "english",
        *,
        lexical: bool = True,
        scorer: TextScorer | None = None,
        statistics: TextStatistics | None = None,
    ) -> None:
        strings = strings_of(texts)
        counted = _Counted.of_texts(strings)
        if statistics is None:
            statistics = counted.statistics()
        if scorer is None:
            own_scorer = TextScorer(strings, model, lexical=lexical, statistics=statistics)
        else:
            if model != "english" or not lexical:
                raise ConfigError(
                    "`scorer` has its own model and setting of letters. Leave out `model` and "
                    "`lexical`, or leave out `scorer`."
                )
            own_scorer = TextScorer.from_settings(scorer.settings(), statistics, scorer.embedder)
        self._prepare(strings, counted, own_scorer, len(strings))

    def _prepare(
        self,
        texts: list[str],
        counted: _Counted,
        scorer: TextScorer,
        num_counted: int,
        vectors: Floats | None = None,
    ) -> None:
        """Prepares the distinct texts, perhaps with their known vectors."""
        prepared = scorer.prepare(counted.distinct, vectors, counted.words)
        rows = counted.rows()
        self._searched = _Searched(texts, scorer, prepared, rows, counted, num_counted)

    @property
    def texts(self) -> list[str]:
        """All texts."""
        return self._searched.texts

    @property
    def scorer(self) -> TextScorer:
        """The scorer, which counts words in these texts."""
        return self._searched.scorer

    def __len__(self) -> int:
        return len(self.texts)

    @overload
    def search(  # type: ignore[overload-overlap]
        self, queries: str | bytes, k: int = ..., min_score: float = ...
    ) -> list[Hit]: ...

    @overload
    def search(
        self, queries: Iterable[str | bytes], k: int = ..., min_score: float = ...
    ) -> list[list[Hit]]: ...

    def search(self, queries: Any, k: int = 10, min_score: float = 0.0) -> Any:
        """Returns the most similar texts, best first.

        Args:
            queries: A text, or many.
            k: Maximum number of texts per query; texts with a score of 0 are left out.
            min_score: Minimum score.

        Returns:
            A list of hits, or a list of such lists for many queries; of equal scores, the same
            text comes first, then the lower row.

        Raises:
            ConfigError: `k` is not a positive integer, `min_score` is not in [0, 1], or `queries`
                contains other values than texts.
        """
        if isinstance(queries, str | bytes):
            return self.search([queries], k, min_score)[0]
        check_positive(k=k)
        check_fraction("min_score", min_score)
        queries = strings_of(queries, "queries")
        hits = []
        for block in blocks(len(queries), _BATCH):
            hits += self._search_batch(queries[block], k, min_score)
        return hits

    def _search_batch(self, queries: list[str], k: int, min_score: float) -> list[list[Hit]]:
        searched = self._searched
        prepared = searched.scorer.prepare(queries)
        pairs, evidence = best_pairs(searched.scorer, prepared, searched.prepared, k, min_score)
        query_rows, text_rows = pairs.T
        is_other = prepared.text_hashes[query_rows] != searched.prepared.text_hashes[text_rows]
        starts = searched.rows.splits[text_rows]
        stops = searched.rows.splits[text_rows + 1]
        found: list[list[tuple[float, bool, int]]] = [[] for _ in queries]
        columns = (query_rows, -evidence.scores, is_other, starts, stops)
        lists = (column.tolist() for column in columns)
        for query, negative, other, start, stop in zip(*lists, strict=True):
            for row in searched.rows.values[start:stop][:k].tolist():
                found[query].append((negative, other, row))
        texts = searched.texts
        # A text may have several rows, which come between those of other texts with its score.
        return [
            [Hit(row, -negative, texts[row]) for negative, _, row in sorted(own)[:k]]
            for own in found
        ]

    def add(self, texts: Iterable[str | bytes]) -> None:
        """Adds texts after the others. Only new texts are embedded and read.

        Words are counted again when more than a tenth of the texts is new. Then all texts are
        weighed again, so scores change a little.

        Raises:
            ConfigError: `texts` is a single string or contains other values.
        """
        added = strings_of(texts)
        with _ADDING:
            searched = self._searched
            scorer = searched.scorer
            texts = searched.texts + added
            counted = searched.counted.added(added)
            uncounted = texts[searched.num_counted :]
            new = scorer.prepare(counted.distinct[len(searched.prepared) :])
            # Texts whose n-grams were never counted would not be found.
            is_strange = (new.lengths == 0) & (new.num_words > 0)
            if len(uncounted) <= MAX_UNCOUNTED * len(texts) and not is_strange.any():
                prepared = searched.prepared.followed(new)
                self._searched = searched._replace(
                    texts=texts, prepared=prepared, rows=counted.rows(), counted=counted
                )
                return
            parts = [scorer.statistics, TextStatistics.of_texts(uncounted)]
            # Searches in other threads go on with the old counts.
            recounted = copy.copy(scorer)
            recounted.count(TextStatistics.merged(parts))
            vectors = np.concatenate([searched.prepared.vectors, new.vectors])
            self._prepare(texts, counted, recounted, len(texts), vectors)

    def save(self, path: str | Path) -> None:
        """Writes a folder, whole or not at all; the folder that was saved or loaded is replaced.

        The model is not part of it.

        Raises:
            RunError: Another folder exists, or it cannot be written.
        """
        path = Path(path)
        if self._folder != path.resolve():
            check_free(path)
        searched = self._searched
        with replaced_folder(path, SETTINGS) as partial:
            texts_file = partial / _TEXTS
            vectors_file = partial / _VECTORS
            texts_file.write_text(json.dumps(searched.texts), encoding="utf-8")
            np.save(vectors_file, searched.prepared.vectors)
            searched.scorer.statistics.save(partial / _STATISTICS)
            checksums = {name: sha256_of(partial / name) for name in _FILES}
            settings = {
                "scorer": searched.scorer.settings(),
                "num_counted": searched.num_counted,
                "sha256": checksums,
            }
            write_json(partial / SETTINGS, settings)
        self._folder = path.resolve()

    @classmethod
    def load(cls, path: str | Path, model: str | Path | Embedder | None = "english") -> TextIndex:
        """Loads a saved index.

        Args:
            path: The folder.
            model: The model that the index was built with; ignored if there was none.

        Raises:
            ConfigError: There was a model, and `model` is `None`.
            RunError: The folder is not an index, is damaged, or belongs to another model; or the
                model cannot be loaded.
        """
        path = Path(path)
        if not (path / SETTINGS).is_file():
            raise RunError(f"{path} is not an index: it has no {SETTINGS}.")
        try:
            settings = read_json(path / SETTINGS)
            for name in _FILES:
                # A device would be read forever.
                regular_size(path / name)
                if sha256_of(path / name) != settings["sha256"][name]:
                    raise ValueError(f"{name} has another checksum")
            # Not `read_json`, which refuses large files.
            texts = parse_json((path / _TEXTS).read_bytes())
            vectors = read_array(path / _VECTORS, "f")
            _check_saved(texts, vectors)
            # Without a model, vectors have the length 0.
            has_model = vectors.shape[1] > 0
            is_model_missing = has_model and model is None
            if not is_model_missing:
                used_model = model if has_model else None
                statistics = TextStatistics.load(path / _STATISTICS)
                scorer = TextScorer.from_settings(settings["scorer"], statistics, used_model)
            num_counted = settings["num_counted"]
            if type(num_counted) is not int or not 0 <= num_counted <= len(texts):
                raise ValueError(f"`num_counted` is {num_counted!r}")
        except (OSError, ValueError, KeyError, TypeError, OverflowError) as error:
            raise RunError(f"{path} is damaged: {error}. Build the index again.") from error
        if is_model_missing:
            raise ConfigError(
                f"{path} was built with a model, and its scores need it. Give `model`."
            )
        if scorer.embedder is not None and not _are_vectors_of(scorer.embedder, texts, vectors):
            raise RunError(
                f"{path} was built with another model than {model}. Give that model, or build "
                "the index again."
            )
        # The constructor would embed the texts again.
        index = cls.__new__(cls)
        index._prepare(texts, _Counted.of_texts(texts), scorer, num_counted, vectors)
        index._folder = path.resolve()
        return index


def _are_vectors_of(embedder: Embedder, texts: Sequence[str], vectors: Floats) -> bool:
    """Returns whether the first vectors are of an embedder."""
    checked = list(dict.fromkeys(texts))[:_NUM_CHECKED]
    expected = embedder.encode(checked, normalize=True)
    stored = vectors[: len(checked)]
    # Other machines round differently.
    return expected.shape == stored.shape and np.allclose(expected, stored, atol=1e-3)


def _check_saved(texts: Any, vectors: np.ndarray) -> None:
    """Raises a `ValueError` if the files of an index do not hold texts and their vectors."""
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{_TEXTS} is not a list of texts")
    num_texts = len(set(texts))
    if vectors.ndim != 2 or len(vectors) != num_texts or vectors.dtype != np.float32:
        raise ValueError(
            f"{_VECTORS} holds {vectors.dtype} {vectors.shape}, expected float32 with "
            f"{num_texts:,} rows, one per distinct text"
        )
    # Also false for NaN.
    if not (np.abs(vectors) <= _MAX_VALUE).all():
        raise ValueError(f"{_VECTORS} holds other vectors than of unit length")

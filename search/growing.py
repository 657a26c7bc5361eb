"""`GroupedRows`: groups of duplicates whose numbers stay as rows are added."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tf_charagram._files.json_files import parse_json, read_json, write_json
from tf_charagram._files.writing import check_free, partial_folder, whole_file
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.models._storage.choice import Embedder
from tf_charagram.search._pairs.candidates import NUM_CANDIDATES, best_pairs
from tf_charagram.search._pairs.flat_arrays import NO_IDS, Ids, lengths_of
from tf_charagram.search._pairs.kept_numbers import NewLinks, as_one, join_new
from tf_charagram.search._pairs.prepared import Texts
from tf_charagram.search._pairs.word_lists import WordLists
from tf_charagram.search.linkage._columns.columns import cells_of
from tf_charagram.search.linkage._columns.whole_texts import WholeTexts, read_whole_text
from tf_charagram.search.linkage._fellegi_sunter.linking import Links
from tf_charagram.search.linkage._fellegi_sunter.text_odds import (
    Partners,
    list_prior,
    with_prior,
)
from tf_charagram.search.linkage.answers import checked_threshold
from tf_charagram.search.linkage.linker import Linker
from tf_charagram.search.scoring import TextScorer
from tf_charagram.search.statistics import TextStatistics
from tf_charagram.search.text_index import MAX_UNCOUNTED
from tf_charagram.text._algorithm.arguments import strings_of

_FORMAT = "tf_charagram groups"
_VERSION = 2
SETTINGS = "settings.json"
_ROWS = "rows.json"
_STATISTICS = "statistics.npz"
_LINKER = "linker.json"
# Weights that are fitted again as rows are added: by the number of rows they are fitted to.
_FITTED = "linker-{}.json"


class Added(NamedTuple):
    """The result of `GroupedRows.add`.

    Attributes:
        groups: The group of each new row.
        merges: Groups that turn out to be connected, each in ascending order. With `merge=True`
            they are one now, with the first number, and so are the ones that were reported before;
            otherwise they are as they were.
    """

    groups: list[int]
    merges: list[tuple[int, ...]]


class GroupedRows:
    """Groups of rows that are the same thing, with numbers that stay as rows are added.

    When more than a tenth of the rows is new, words are counted, and weights of columns fitted,
    again in all rows. Then old groups may turn out to be connected, too.

    Args:
        rows: Texts; or a data frame of pandas or polars, a table of pyarrow, or a mapping of lists.
        model: Run folder, model folder or name of a model; or an embedder; or `None` to compare
            letters only.
        on: Names of the columns of a table that are compared; a single one as a list of texts.
        lexical: Whether letters of texts are compared; otherwise a score is the cosine of the
            embeddings.
        threshold: Minimum mean score between a row and its group. Default: 0.5, or 0.7 without
            `lexical`.
        statistics: Counts of words that stay as they are, as of a larger list of texts.
        linker: A `Linker` in place of `on`, with its own threshold. If it was fitted, its weights
            stay as they are; otherwise it is fitted to the rows.

    Attributes:
        on: Names of the columns that are compared; empty for lists of texts.
        threshold: Minimum mean score.

    Raises:
        ConfigError: An argument is out of range or has no effect, or a column is missing.
        RunError: The model cannot be loaded.

    Examples:
        >>> grouped = GroupedRows(["Sony Headphones", "Bosch Drill"], model=None)
        >>> grouped.add(["Makita Saw", "sonny headphones"])
        Added(groups=[3, 1], merges=[])
        >>> grouped.groups
        [1, 2, 3, 1]
    """

    def __init__(
        self,
        rows: Any,
        model: str | Path | Embedder | None = "english",
        *,
        on: Sequence[str] | None = None,
        lexical: bool = True,
        threshold: float | None = None,
        statistics: TextStatistics | None = None,
        linker: Linker | None = None,
    ) -> None:
        if linker is not None and (on is not None or threshold is not None):
            raise ConfigError("`linker` has columns and a threshold. Leave out the others.")
        if on is not None and (isinstance(on, str) or len(on) != 1):
            linker = Linker(on, threshold=threshold, model=model)
        if linker is not None:
            if statistics is not None or not lexical:
                raise ConfigError("`statistics` and `lexical` are for texts. Leave them out.")
            is_fixed = linker.mixture is not None
            self._start(_Columns(linker), linker.threshold, is_fixed)
        else:
            threshold = checked_threshold(threshold, lexical)
            scorer = None
            if statistics is not None:
                forms = list(map(read_whole_text, _texts_of(rows, on or [])))
                scorer = TextScorer(forms, model, lexical=lexical, statistics=statistics)
            texts = _Texts(model, list(on or []), lexical, scorer)
            self._start(texts, threshold, scorer is not None)
        self.add(rows)

    def _start(self, kind: _Texts | _Columns, threshold: float, is_fixed: bool) -> None:
        # Its items are a list or columns, which it alone reads.
        self._kind: Any = kind
        self.on = kind.on
        self.threshold = threshold
        # Number of first rows that words are counted in or weights fitted to, -1 before all rows;
        # `None` if counts and weights stay as they are.
        self._num_counted: int | None = None if is_fixed else -1
        # Equal texts are one item, so that copies do not outvote others.
        self._items: Any = kind.nothing()
        self._item_of_row = NO_IDS
        self._groups = NO_IDS
        # The partners of texts so far.
        self._partners: Partners | None = None
        self._next_id = 1
        # Groups that rows connected, and that were not merged.
        self._apart: list[tuple[int, ...]] = []
        self._folder: Path | None = None

    def __len__(self) -> int:
        return len(self._item_of_row)

    @property
    def groups(self) -> list[int]:
        """The group of each row, in the order in which rows were added."""
        found: list[int] = self._groups[self._item_of_row].tolist()
        return found

    def add(self, rows: Any, *, merge: bool = False) -> Added:
        """Adds rows: each joins a group or opens one.

        Args:
            rows: Texts, or a table with the same columns, as the first ones.
            merge: Whether old groups become one if these rows or earlier ones connect them. The
                smallest number stays, and the others are not used again. `add([], merge=True)`
                accepts all merges that were reported so far.

        Raises:
            ConfigError: `rows` is no list of texts or lacks a column.
        """
        items, new_rows = self._kind.extended(self._items, rows)
        item_of_row = np.append(self._item_of_row, new_rows)
        num_rows = len(item_of_row)
        # Texts that came before may connect groups again.
        added = np.unique(new_rows)
        num_counted = self._num_counted
        partners = self._partners
        if num_counted is not None and num_rows - num_counted > MAX_UNCOUNTED * num_rows:
            self._kind.fit(items, item_of_row)
            num_counted = num_rows
            # All pairs have other scores now.
            added = np.arange(self._kind.count(items))
            partners = None
        old_groups = self._groups
        merges: list[tuple[int, ...]] = []
        if merge:
            merges = self._apart
            old_groups = as_one(old_groups, merges, self._next_id)
        groups = np.append(old_groups, np.full(self._kind.count(items) - len(old_groups), -1))
        if len(added):
            links, partners = self._kind.links(items, item_of_row, added, self.threshold, partners)
            own = join_new(groups, added, links, self.threshold, self._next_id, merge=merge)
            merges = merges + [ids for ids in own if ids not in self._apart]
        self._items = items
        self._partners = partners
        self._apart = [] if merge else sorted({*self._apart, *merges})
        self._groups = groups
        self._next_id = max(self._next_id, int(groups.max(initial=0)) + 1)
        self._item_of_row = item_of_row
        self._num_counted = num_counted
        return Added(groups[new_rows].tolist(), merges)

    def has_last(self, rows: Any, first: int) -> bool:
        """Tells whether these rows were added last.

        Args:
            rows: Texts, or a table with the same columns, as the first ones.
            first: Number of rows before them.
        """
        items, item_of_row = self._kind.extended(self._kind.nothing(), rows)
        given = [self._kind.item(items, place) for place in item_of_row.tolist()]
        last = self._item_of_row[first:].tolist()
        return given == [self._kind.item(self._items, place) for place in last]

    def save(self, path: str | Path) -> None:
        """Writes a folder, whole or not at all; the folder that was saved or loaded is updated.

        Raises:
            ConfigError: The model is an object and not a path or name, or a kind is your own.
            RunError: Another folder exists, or it cannot be written.
        """
        path = Path(path)
        if self._folder == path.resolve():
            self._write_rows(path)
            return
        check_free(path)
        with partial_folder(path) as partial:
            settings = {"format": _FORMAT, "version": _VERSION, "threshold": self.threshold}
            kind = self._kind.save(partial, is_fixed=self._num_counted is None)
            write_json(partial / SETTINGS, {**settings, **kind})
            self._write_rows(partial)
            partial.rename(path)
        self._folder = path.resolve()

    def _write_rows(self, folder: Path) -> None:
        """Writes all that changes as rows are added: the file of rows says which weights count."""
        if self._num_counted is not None:
            self._kind.save_fitted(folder, self._num_counted)
        rows = {
            "items": self._items,
            "item_of_row": self._item_of_row.tolist(),
            "groups": self._groups.tolist(),
            "next_id": self._next_id,
            "apart": self._apart,
            "num_counted": self._num_counted,
            "partners": self._partners and list(map(np.ndarray.tolist, self._partners)),
        }
        with whole_file(folder / _ROWS, "w") as file:
            file.write(json.dumps(rows))
        for older in folder.glob(_FITTED.format("*")):
            if older.name != _FITTED.format(self._num_counted):
                older.unlink()

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Loads a saved folder.

        Raises:
            RunError: The folder is something else or is damaged, or its model cannot be loaded.
        """
        path = Path(path)
        if not (path / SETTINGS).is_file():
            raise RunError(f"{path} has no groups: it has no {SETTINGS}.")
        grouped = cls.__new__(cls)
        try:
            settings = read_json(path / SETTINGS)
            if settings["format"] != _FORMAT or settings["version"] > _VERSION:
                raise ValueError(f"{SETTINGS} has another format or a newer version")
            saved = parse_json((path / _ROWS).read_bytes())
            # Folders of the first version have counts and weights that stay.
            num_counted = saved.get("num_counted")
            load = _Texts.load if "on" in settings else _Columns.load
            kind: _Texts | _Columns = load(path, settings, num_counted)
            grouped._start(kind, settings["threshold"], num_counted is None)
            grouped._items = saved["items"]
            grouped._item_of_row = np.array(saved["item_of_row"], np.int64)
            grouped._groups = np.array(saved["groups"], np.int64)
            grouped._next_id = saved["next_id"]
            grouped._apart = list(map(tuple, saved["apart"]))
            grouped._num_counted = num_counted
            if saved.get("partners"):
                grouped._partners = Partners(*map(np.array, saved["partners"]))
            if isinstance(kind, _Texts) and num_counted is not None:
                kind.fit(grouped._items, grouped._item_of_row[:num_counted])
            if kind.count(grouped._items) != len(grouped._groups):
                raise ValueError(f"{_ROWS} has more groups than rows, or fewer")
            if len(grouped) and max(grouped.groups) >= grouped._next_id:
                raise ValueError(f"{_ROWS} has a group from the future")
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise RunError(f"{path} is damaged: {error}.") from error
        grouped._folder = path.resolve()
        return grouped


class _Texts:
    """Compares texts.

    Args:
        model: The model that compares them, as it was given.
        on: The column of the texts, or nothing for lists of texts.
        lexical: Whether letters are compared.
        scorer: Scores pairs of texts. Default: one of `fit`.
    """

    def __init__(
        self,
        model: str | Path | Embedder | None,
        on: list[str],
        lexical: bool,
        scorer: TextScorer | None,
    ) -> None:
        self._model = model
        self.on = on
        self._lexical = lexical
        if scorer is not None:
            self._use(scorer)

    def _use(self, scorer: TextScorer) -> None:
        self._scorer = scorer
        self._prepared = scorer.prepare([])

    def fit(self, items: list[str], rows: Ids) -> None:
        """Counts the words of rows, which are places of texts."""
        texts = [items[place] for place in rows.tolist()]
        self._use(TextScorer(texts, self._model, lexical=self._lexical))

    def nothing(self) -> list[str]:
        return []

    def count(self, items: list[str]) -> int:
        return len(items)

    def item(self, items: list[str], place: int) -> str:
        return items[place]

    def extended(self, items: list[str], rows: Any) -> tuple[list[str], Ids]:
        """Appends distinct texts; returns all, and the place of each new row among them."""
        texts = list(map(read_whole_text, _texts_of(rows, self.on)))
        all_items = list(items)
        places = {text: place for place, text in enumerate(items)}
        is_blank = lengths_of(WordLists.of_texts(texts).splits) == 0
        numbers = []
        for text, has_no_words in zip(texts, is_blank.tolist(), strict=True):
            if has_no_words or text not in places:
                places[text] = len(all_items)
                all_items.append(text)
            numbers.append(places[text])
        return all_items, np.array(numbers, np.int64)

    def links(
        self,
        items: list[str],
        rows: Ids,
        added: Ids,
        threshold: float,
        known: Partners | None,
    ) -> tuple[NewLinks, Partners]:
        """Finds the partners of the texts in some places.

        Args:
            items: All texts.
            rows: The place of the text of each row.
            added: The places.
            threshold: Minimum score.
            known: The partners of the texts before them.

        Returns:
            The links, and the partners of all texts.
        """
        scorer = self._scorer
        prepared = self._prepare(items)
        whole = WholeTexts(scorer, prepared)
        new = scorer.prepare([items[place] for place in added], prepared.vectors[added])
        least = whole.least_score(threshold)
        pairs, _ = best_pairs(scorer, new, prepared, NUM_CANDIDATES + 1, least)
        pairs[:, 0] = added[pairs[:, 0]]
        is_other = pairs[:, 0] != pairs[:, 1]
        is_text = prepared.num_words > 0
        pairs = pairs[is_other & is_text[pairs].all(axis=1)]
        probabilities = whole.similarities(items, pairs)
        partners = Partners.of(len(items), pairs, probabilities, known)
        counts = np.bincount(rows, minlength=len(items)) * is_text
        prior = list_prior(partners, counts) if scorer.is_lexical else 0.0

        def scores_of(pairs: Ids) -> NDArray[np.floating]:
            return with_prior(whole.similarities(items, pairs), prior)

        return NewLinks(pairs, with_prior(probabilities, prior), scores_of), partners

    def _prepare(self, items: list[str]) -> Texts:
        """Prepares texts, of which only the last ones are new."""
        num_known = len(self._prepared)
        if self._prepared.texts != items[:num_known]:
            # The last texts were not added because of an error.
            self._prepared = self._scorer.prepare([])
            num_known = 0
        if num_known < len(items):
            self._prepared = self._prepared.followed(self._scorer.prepare(items[num_known:]))
        return self._prepared

    def save(self, folder: Path, *, is_fixed: bool) -> dict[str, Any]:
        """Writes counts that stay as they are; returns the settings of `load`."""
        if self._model is not None and not isinstance(self._model, str | Path):
            raise ConfigError("Give `model` as a path or name to save the groups.")
        if is_fixed:
            self._scorer.statistics.save(folder / _STATISTICS)
        model = None if self._model is None else str(self._model)
        return {"on": self.on, "model": model, "scorer": self._scorer.settings()}

    def save_fitted(self, folder: Path, num_counted: int) -> None:
        """Writes nothing: words are counted again in the rows."""

    @classmethod
    def load(cls, folder: Path, settings: dict[str, Any], num_counted: int | None) -> Self:
        """Reads what `save` wrote; without counts that stay, `fit` follows."""
        model = settings["model"]
        scorer = None
        if num_counted is None:
            statistics = TextStatistics.load(folder / _STATISTICS)
            scorer = TextScorer.from_settings(settings["scorer"], statistics, model)
        return cls(model, settings["on"], settings["scorer"]["lexical"], scorer)


def _texts_of(rows: Any, on: Sequence[str]) -> list[str]:
    """Returns texts: the rows, or their cells in a column."""
    return cells_of(rows, on[0], "rows") if on else strings_of(rows, "rows")


class _Columns:
    """Compares rows of tables with the weights of a linker.

    Args:
        linker: The linker, fitted or not.
    """

    def __init__(self, linker: Linker) -> None:
        self._linker = linker
        self.on = linker.on
        # What is not told from values, which will be others.
        self._given = dict(linker.kinds), linker.identifies
        # Links of the rows that it was fitted to last.
        self._fitted: Links | None = None

    def fit(self, items: dict[str, list[str]], rows: Ids) -> None:
        """Fits the weights to all rows."""
        kinds, identifies = self._given
        self._linker.kinds = dict(kinds)
        self._linker.identifies = identifies
        self._fitted = self._linker.fit(items).links

    def nothing(self) -> dict[str, list[str]]:
        return {name: [] for name in self.on}

    def count(self, items: dict[str, list[str]]) -> int:
        return len(items[self.on[0]])

    def item(self, items: dict[str, list[str]], place: int) -> list[str]:
        return [cells[place] for cells in items.values()]

    def extended(self, items: dict[str, list[str]], rows: Any) -> tuple[dict[str, list[str]], Ids]:
        """Appends rows; returns all, and the place of each new row among them."""
        all_items = {name: [*cells, *cells_of(rows, name, "rows")] for name, cells in items.items()}
        if len({len(cells) for cells in all_items.values()}) > 1:
            raise ConfigError("All columns of a table must have the same length.")
        return all_items, np.arange(self.count(items), self.count(all_items))

    def links(
        self,
        items: dict[str, list[str]],
        rows: Ids,
        added: Ids,
        threshold: float,
        known: Partners | None,
    ) -> tuple[NewLinks, None]:
        """Finds the partners of the last rows."""
        links = self._fitted or self._linker.links_of_new(items, int(added[0]))
        self._fitted = None
        return NewLinks(links.pairs, links.probabilities, links.probabilities_of), None

    def save(self, folder: Path, *, is_fixed: bool) -> dict[str, Any]:
        """Writes weights that stay as they are; returns the settings of `load`."""
        if is_fixed:
            self._linker.save(folder / _LINKER)
            return {}
        kinds, identifies = self._given
        names = {name: getattr(kind, "name", kind) for name, kind in kinds.items()}
        return {"kinds": names, "identifies": identifies}

    def save_fitted(self, folder: Path, num_counted: int) -> None:
        """Writes weights that are fitted to so many rows."""
        path = folder / _FITTED.format(num_counted)
        if not path.exists():
            self._linker.save(path)

    @classmethod
    def load(cls, folder: Path, settings: dict[str, Any], num_counted: int | None) -> Self:
        """Reads what `save` and `save_fitted` wrote."""
        if num_counted is None:
            return cls(Linker.load(folder / _LINKER))
        found = cls(Linker.load(folder / _FITTED.format(num_counted)))
        found._given = settings["kinds"], settings["identifies"]
        return found

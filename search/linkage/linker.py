"""`Linker`: matches and deduplicates tables with weights that are saved for the next tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Self

import numpy as np

from tf_charagram._files.json_files import read_json, write_json
from tf_charagram._version import __version__
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.models._storage.choice import Embedder
from tf_charagram.search._pairs.grouping import check_groups
from tf_charagram.search._pairs.learning import Learned
from tf_charagram.search.linkage._columns.columns import read_columns
from tf_charagram.search.linkage._columns.kinds import KINDS, ColumnKind
from tf_charagram.search.linkage._fellegi_sunter.asking import next_pair
from tf_charagram.search.linkage._fellegi_sunter.finding import find_links
from tf_charagram.search.linkage._fellegi_sunter.labels import Label, numbered_labels
from tf_charagram.search.linkage._fellegi_sunter.learned import LearnedWeights
from tf_charagram.search.linkage._fellegi_sunter.linking import (
    Evidence,
    Links,
)
from tf_charagram.search.linkage._fellegi_sunter.mixture import Mixture
from tf_charagram.search.linkage._fellegi_sunter.text_odds import TextOdds
from tf_charagram.search.linkage.answers import (
    Duplicates,
    Matches,
    checked_threshold,
    groups_of,
    matches_of,
)

_FORMAT = "tf_charagram linker"
_VERSION = 1


class Linker:
    """Links the rows of one or two tables, step by step.

    `fit` finds candidates and fits the weights without labels, `learn` adds labels, `match` and
    `deduplicate` answer for the fitted tables or, with the same weights, for others. `save` and
    `load` keep the weights for next month's tables.

    Args:
        on: Names of the columns that are compared, at least two.
        on_right: Their names in the right table. Default: as `on`.
        kinds: Kinds of columns, by name: `text`, `name`, `code`, `number`, `date`, `time`,
            `list`, or a `ColumnKind`. Default: told from the values.
        identifies: Names of the columns that identify a thing, such as given names and dates of
            birth; the others may change. Default: told from names and values.
        threshold: Minimum probability of a match. Default: 0.5.
        groups: `average` or `components`, as in `deduplicate`.
        model: The model that compares the rows as a whole: run folder, model folder or name, or an
            embedder; or `None` to compare letters only.

    Attributes:
        mixture: The fitted weights, or `None`.

    Raises:
        ConfigError: An argument is out of range, or there are fewer than two columns.

    Examples:
        >>> people = {"name": ["Ann Lee", "Bob Ray"], "born": ["1980-02-03", "1971-05-06"]}
        >>> others = {"name": ["Bob Ray", "Ann Leé"], "born": ["6.5.1971", "3.2.1980"]}
        >>> linker = Linker(on=["name", "born"]).fit(people, others)
        >>> sorted(pair[:2] for pair in linker.match().pairs)
        [(0, 1), (1, 0)]
    """

    def __init__(
        self,
        on: Sequence[str],
        *,
        on_right: Sequence[str] | None = None,
        kinds: Mapping[str, str | ColumnKind] | None = None,
        identifies: Iterable[str] | None = None,
        threshold: float | None = None,
        groups: str = "average",
        model: str | Path | Embedder | None = None,
    ) -> None:
        if isinstance(on, str) or len(on) < 2:
            raise ConfigError(
                f"`on` must be a list of at least two columns. Received: {on!r}. `match` and "
                "`deduplicate` compare a single column as a list of texts."
            )
        check_groups(groups)
        self.on = list(on)
        self.on_right = None if on_right is None else list(on_right)
        self.kinds: dict[str, str | ColumnKind] = dict(kinds or {})
        self.identifies = None if identifies is None else list(identifies)
        self.threshold = checked_threshold(threshold)
        self.groups = groups
        self.model = model
        self.mixture: Mixture | TextOdds | None = None
        self._learned: tuple[LearnedWeights, Learned] | None = None
        self._links: Links | None = None
        # Those of `learn`, about the fitted tables.
        self._labels: list[Label] = []

    @property
    def links(self) -> Links:
        """The links of the fitted tables.

        Raises:
            ConfigError: `fit` was not called.
        """
        if self._links is None:
            raise ConfigError("Call `fit` with one or two tables first, or give tables.")
        return self._links

    def fit(self, left: Any, right: Any = None) -> Self:
        """Finds candidates and fits the weights to them, without labels.

        Args:
            left: A data frame of pandas or polars, a table of pyarrow, or a mapping of lists.
            right: Another one, or `None` to link the rows of a single table.

        Raises:
            ConfigError: A column is missing, or a kind is unknown.
        """
        columns = read_columns(left, right, self.on, self.on_right, self.kinds, self.identifies)
        self._links = find_links(columns, model=self.model)
        self.mixture = self._links.mixture
        # Later tables are read in the same way.
        for column in columns:
            self.kinds.setdefault(column.name, column.kind.name)
        self.identifies = [column.name for column in columns if column.is_identifying]
        self._learned = None
        self._labels = []
        return self

    def learn(self, labels: Iterable[Label]) -> Learned | None:
        """Learns from labelled pairs of the fitted tables.

        The weights stay as they are unless held-out labels are answered better: two more are
        right, at least.

        Args:
            labels: Left row, right row, and 1 or 0 each; all labels so far.

        Returns:
            Precision and recall on labels that were held out, or `None` if there are fewer than two
            matches or two others.

        Raises:
            ConfigError: `fit` was not called, a row does not exist, or a label is not 1 or 0.
        """
        links = self.links
        labels = list(labels)
        links.learn_from(numbered_labels(links.columns, labels), self.model)
        self._labels = labels
        self._learned = None
        if links.model is not None and links.learned is not None:
            self._learned = links.model.fitted, links.learned
        return links.learned

    def match(self, left: Any = None, right: Any = None, *, one_to_one: bool = False) -> Matches:
        """Matches the fitted tables, or others with the same weights.

        Args:
            left: A table. Default: the fitted ones.
            right: Another one.
            one_to_one: Whether each row has at most one partner.

        Raises:
            ConfigError: There is one table only, or a column is missing.
        """
        links = self._links_of(left, right)
        if links.columns[0].is_one_table:
            raise ConfigError("`match` compares two tables. Use `deduplicate` for one.")
        return matches_of(links, self.threshold, one_to_one=one_to_one)

    def deduplicate(self, table: Any = None) -> Duplicates:
        """Groups the rows of the fitted table, or of another one with the same weights.

        Raises:
            ConfigError: Two tables were fitted, or a column is missing.
        """
        links = self._links_of(table, None)
        if not links.columns[0].is_one_table:
            raise ConfigError("`deduplicate` groups the rows of one table. Use `match` for two.")
        return groups_of(links, self.threshold, self.groups)

    def links_of_new(self, table: Any, first: int) -> Links:
        """Returns links of the new rows of a table to all of its rows, with the fitted weights.

        Args:
            table: A table.
            first: The first new row; new rows come last.

        Raises:
            ConfigError: `fit` was not called, or a column is missing.
        """
        return self._links_of(table, None, first)

    def _links_of(self, left: Any, right: Any, first: int = 0) -> Links:
        if left is None:
            return self.links
        if self.mixture is None:
            raise ConfigError("Call `fit` first, or `load` a linker that was fitted.")
        columns = read_columns(left, right, self.on, self.on_right, self.kinds, self.identifies)
        links = find_links(columns, model=self.model, fitted=self.mixture, first=first)
        if self._learned is not None:
            links.use_weights(*self._learned, self.model)
        return links

    def explain(self, left: int, right: int) -> list[Evidence]:
        """Returns the evidence of each column about two rows of the fitted tables."""
        return self.links.explain(left, right)

    def ask(self, labels: Iterable[Label] = ()) -> tuple[int, int] | None:
        """Returns the rows of the pair whose label teaches most, or `None` if there is no other.

        Args:
            labels: The labels so far, whose pairs are not asked about again. Default: those of
                `learn`.

        Raises:
            ConfigError: `fit` was not called, a row does not exist, or a label is not 1 or 0.
        """
        rows = numbered_labels(self.links.columns, list(labels) or self._labels).tolist()
        answers = {(left, right): label for left, right, label in rows}
        pair = next_pair(self.links, answers)
        if pair is None:
            return None
        left, right = self.links.pairs[pair].tolist()
        return left, right

    def save(self, path: str | Path) -> None:
        """Writes settings and weights as JSON, whole or not at all.

        Raises:
            ConfigError: `fit` was not called, or the model is an object and not a path or name.
        """
        if self.mixture is None:
            raise ConfigError("Call `fit` first: there are no weights to save.")
        if self.model is not None and not isinstance(self.model, str | Path):
            raise ConfigError("Give `model` as a path or name to save the linker.")
        settings = {
            "on": self.on,
            "on_right": self.on_right,
            "kinds": {name: getattr(kind, "name", kind) for name, kind in self.kinds.items()},
            "identifies": self.identifies,
            "threshold": self.threshold,
            "groups": self.groups,
            "model": None if self.model is None else str(self.model),
        }
        mixture = {}
        for field in fields(self.mixture):
            mixture[field.name] = _packed(getattr(self.mixture, field.name))
        learned = None
        if self._learned is not None:
            fitted, scores = self._learned
            learned = {name: _packed(value) for name, value in fitted._asdict().items()}
            learned["scores"] = scores
        written = {"format": _FORMAT, "version": _VERSION, "tf_charagram": __version__}
        write_json(path, {**written, "settings": settings, "mixture": mixture, "learned": learned})

    @classmethod
    def load(cls, path: str | Path, kinds: Mapping[str, ColumnKind] | None = None) -> Self:
        """Reads a linker that `save` wrote, for `match` and `deduplicate` of further tables.

        Args:
            path: The file.
            kinds: Your own kinds of columns, by the names of the columns.

        Raises:
            RunError: The file cannot be read, is damaged, or is of a newer version.
        """
        try:
            saved = read_json(path)
            form = saved.get("format") if isinstance(saved, dict) else None
            if form != _FORMAT:
                raise ValueError(f"its format is {form!r}")
            if saved["version"] > _VERSION:
                raise ValueError(f"it was written by version {saved['tf_charagram']}")
            settings = saved["settings"]
            settings["kinds"] |= kinds or {}
            linker = cls(**settings)
            for name, kind in linker.kinds.items():
                if isinstance(kind, str) and kind not in KINDS:
                    raise ValueError(f"give the kind {kind!r} of `{name}` in `kinds`")
            values = {name: _unpacked(value) for name, value in saved["mixture"].items()}
            linker.mixture = (TextOdds if "number" in values else Mixture)(**values)
            if saved["learned"] is not None:
                learned = saved["learned"]
                arrays = [_unpacked(learned[name]) for name in LearnedWeights._fields]
                linker._learned = LearnedWeights(*arrays), Learned(*learned["scores"])
        except (OSError, ValueError, LookupError, TypeError, ConfigError) as error:
            raise RunError(f"{path} cannot be read as a linker: {error}") from error
        return linker


def _packed(value: Any) -> Any:
    """Returns arrays, and lists of arrays, as JSON."""
    if isinstance(value, np.ndarray):
        return {"dtype": str(value.dtype), "shape": value.shape, "values": value.ravel().tolist()}
    return [_packed(each) for each in value] if isinstance(value, list) else value


def _unpacked(value: Any) -> Any:
    """Returns the value that `_packed` got."""
    if isinstance(value, dict):
        return np.array(value["values"], value["dtype"]).reshape(value["shape"])
    return [_unpacked(each) for each in value] if isinstance(value, list) else value

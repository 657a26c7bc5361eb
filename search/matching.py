"""`match` finds partners of texts or rows; `deduplicate` groups those that are the same thing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tf_charagram.errors import ConfigError
from tf_charagram.models._storage.choice import Embedder
from tf_charagram.models._storage.locations import read_config
from tf_charagram.search._pairs.grouping import check_groups
from tf_charagram.search.linkage._columns.columns import read_columns
from tf_charagram.search.linkage._columns.kinds import ColumnKind
from tf_charagram.search.linkage._fellegi_sunter.finding import find_links
from tf_charagram.search.linkage._fellegi_sunter.labels import Label
from tf_charagram.search.linkage.answers import (
    Duplicates,
    Matches,
    checked_threshold,
    groups_of,
    matches_of,
)
from tf_charagram.text._algorithm.arguments import strings_of


def match(
    left: Any,
    right: Any,
    model: str | Path | Embedder | None = "english",
    *,
    on: Sequence[str] | None = None,
    on_right: Sequence[str] | None = None,
    kinds: Mapping[str, str | ColumnKind] | None = None,
    identifies: Iterable[str] | None = None,
    lexical: bool = True,
    threshold: float | None = None,
    one_to_one: bool = False,
    labels: Iterable[Label] | None = None,
    shows_progress: bool = False,
) -> Matches:
    """Finds the texts of two lists, or the rows of two tables, that belong together.

    Scores are probabilities. A pair is in the result if it is the best one of its left or of its
    right text or row; those without a partner are left out. A single column of texts is matched as
    a list of its texts is, also beside columns that hardly tell anything; several columns are
    compared one by one.

    Args:
        left: Texts: a list, an array, a column of a data frame. With `on`, a table: a data frame of
            pandas or polars, a table of pyarrow, or a mapping of lists.
        right: Texts, or a table.
        model: Run folder, model folder or name of a model, which compares texts, and the rows as a
            whole where titles tell things apart or there are `labels`; or an embedder; or `None` to
            compare letters only.
        on: Names of the columns that are compared.
        on_right: Their names in the right table. Default: as `on`.
        kinds: Kinds of columns, by name: `text`, `name`, `code`, `number`, `date`, `time`,
            `list`, or a `ColumnKind`. Default: told from the values.
        identifies: Names of the columns that identify a thing, such as given names, dates of birth
            and codes; the others may change, as addresses do. Default: told from the names and
            values of the columns.
        lexical: Whether letters are compared as well as vectors; otherwise a score is the cosine of
            the vectors. Not for several columns.
        threshold: Minimum score. Default: 0.5, or 0.7 without `lexical`.
        one_to_one: Whether a right text or row has at most one partner; pairs with the largest
            scores come first.
        labels: Left row, right row, and 1 or 0 each, to learn from; or texts in place of rows: a
            text of the list, or the cells of a row, joined by spaces. Fewer than two matches or two
            others change nothing.
        shows_progress: Whether progress is shown on standard error, if it is a terminal. Not for
            several columns.

    Raises:
        ConfigError: A list is a single string or contains other values, a column is missing,
            `threshold` is not in [0, 1], there is neither a model nor `lexical`, a label names no
            row, or an argument is given that has no effect with, or without, `on`.
        RunError: The model cannot be loaded.

    Examples:
        >>> match(["sonny hedphones"], ["Bosch Drill", "Sony Headphones"]).pairs[0].right
        1
    """
    threshold = checked_threshold(threshold, lexical)
    if on is None:
        _check_texts_only(on_right=on_right, kinds=kinds, identifies=identifies)
        on = ["text"]
        left = {"text": strings_of(left, "left")}
        right = {"text": strings_of(right, "right")}
    columns = read_columns(left, right, on, on_right, kinds, identifies)
    _check_model(len(on), model, lexical, shows_progress)
    links = find_links(
        columns, labels, model, threshold=threshold, lexical=lexical, shows_progress=shows_progress
    )
    return matches_of(links, threshold, one_to_one=one_to_one)


def deduplicate(
    texts: Any,
    model: str | Path | Embedder | None = "english",
    *,
    on: Sequence[str] | None = None,
    kinds: Mapping[str, str | ColumnKind] | None = None,
    identifies: Iterable[str] | None = None,
    lexical: bool = True,
    threshold: float | None = None,
    labels: Iterable[Label] | None = None,
    groups: str = "average",
    shows_progress: bool = False,
) -> Duplicates:
    """Groups the texts, or the rows of a table, that are the same thing.

    Scores are probabilities. Groups are joined as long as the mean score between two of them is at
    least the threshold; they may have any size. The text or row with the most duplicates is kept.
    Texts without words are in no group. A single column of texts is compared as a list of its texts
    is, also beside columns that hardly tell anything; several columns are compared one by one.

    Args:
        texts: Texts: a list, an array, a column of a data frame. With `on`, a table: a data frame
            of pandas or polars, a table of pyarrow, or a mapping of lists.
        model: Run folder, model folder or name of a model, which compares texts, and the rows as a
            whole where titles tell things apart or there are `labels`; or an embedder; or `None` to
            compare letters only.
        on: Names of the columns that are compared.
        kinds: Kinds of columns, by name: `text`, `name`, `code`, `number`, `date`, `time`,
            `list`, or a `ColumnKind`. Default: told from the values.
        identifies: Names of the columns that identify a thing, such as given names, dates of birth
            and codes; the others may change, as addresses do. Default: told from the names and
            values of the columns.
        lexical: Whether letters are compared as well as vectors; otherwise a score is the cosine of
            the vectors. Not for several columns.
        threshold: Minimum score. Default: 0.5, or 0.7 without `lexical`.
        labels: Two rows, and 1 or 0 each, to learn from; or texts in place of rows: a text of the
            list, or the cells of a row, joined by spaces. Fewer than two matches or two others
            change nothing.
        groups: `average`, so that parts of a group match on average; or `components`, so that
            rows are in the same group if a chain of pairs connects them.
        shows_progress: Whether progress is shown on standard error, if it is a terminal. Not for
            several columns.

    Raises:
        ConfigError: `texts` is a single string or contains other values, a column is missing,
            `threshold` is not in [0, 1], `groups` is unknown, there is neither a model nor
            `lexical`, a label names no row, or an argument is given that has no effect with, or
            without, `on`.
        RunError: The model cannot be loaded.

    Examples:
        >>> deduplicate(["Sony Headphones", "Bosch Drill", "sonny headphones"]).kept
        [0, 1]
    """
    threshold = checked_threshold(threshold, lexical)
    check_groups(groups)
    if on is None:
        _check_texts_only(kinds=kinds, identifies=identifies)
        on = ["text"]
        texts = {"text": strings_of(texts)}
    columns = read_columns(texts, None, on, None, kinds, identifies)
    _check_model(len(on), model, lexical, shows_progress)
    links = find_links(
        columns, labels, model, threshold=threshold, lexical=lexical, shows_progress=shows_progress
    )
    return groups_of(links, threshold, groups)


def _check_model(
    num_columns: int,
    model: str | Path | Embedder | None,
    lexical: bool,
    shows_progress: bool,
) -> None:
    """Checks the arguments for texts.

    Raises:
        ConfigError: One is given for several columns, and would have no effect.
        RunError: There is no such model.
    """
    if num_columns > 1 and (not lexical or shows_progress):
        name = "shows_progress" if lexical else "lexical"
        raise ConfigError(f"`{name}` is for texts. Leave it out, or name one column in `on`.")
    if model is not None and not isinstance(model, Embedder):
        read_config(model)


def _check_texts_only(**given: Any) -> None:
    """Checks that no argument for columns is given without `on`.

    Raises:
        ConfigError: One is given, and would have no effect.
    """
    for name, value in given.items():
        if value is not None:
            raise ConfigError(f"`{name}` is for columns. Name them with `on`, or leave it out.")

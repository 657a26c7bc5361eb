"""Flags of the commands that read and write tables."""

from __future__ import annotations

import csv
import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tf_charagram._files.writing import check_output
from tf_charagram.cli._flags.flags import Parser
from tf_charagram.cli.commands import check_not_read
from tf_charagram.data._tables.lines import STDIN, BadLines
from tf_charagram.errors import ConfigError, DataError, unknown_name

if TYPE_CHECKING:
    from tf_charagram.data._tables.tables import Table


def column_names(text: str) -> list[str]:
    """Splits the value of `--on` at commas; a name with a comma is in double quotes."""
    return next(csv.reader([text], skipinitialspace=True), [])


#: Flags of `add_input_flags`, which say how a table is read.
INPUT_FLAGS = ("no_header", "encoding", "on_bad_line")


def add_input_flags(parser: Parser) -> None:
    """Adds flags about how tables are read."""
    group = parser.add_argument_group("for tables")
    group.add_argument(
        "--no-header",
        action="store_true",
        help="the first line of CSV and TSV is a row, and columns have numbers from 1",
    )
    group.add_argument(
        "--encoding", metavar="NAME", help="such as cp1252 [UTF-8, or a byte order mark tells]"
    )
    group.add_argument(
        "--on-bad-line",
        choices=BadLines.POLICIES,
        default="error",
        help="of another number of columns, or with wrong quotes [error]",
    )


def add_on_right_flag(parser: Parser) -> None:
    """Adds `--on-right`, the columns of the right table."""
    parser.add_argument(
        "--on-right",
        type=column_names,
        metavar="A,B,...",
        help="columns of the right table [as --on]",
    )


def add_output_flags(parser: Parser, default: str | None, text: str) -> None:
    """Adds `--output`, with a default and the text of its help, and `--overwrite`."""
    parser.add_argument("--output", default=default, help=text)
    parser.add_argument("--overwrite", action="store_true", help="replace the output if it exists")


def check_input_flags(values: Namespace, *paths: str) -> None:
    """Checks that `--no-header` and `--encoding` have an effect on at least one of the files.

    Raises:
        ConfigError: None has a first line of names, or none is text.
    """
    from tf_charagram.data._tables.table_reading import JSON, PARQUET, format_of

    formats = {format_of(path) for path in paths}
    if values.no_header and formats <= {*JSON, PARQUET}:
        raise ConfigError("--no-header is for CSV and TSV. Leave it out.")
    if getattr(values, "encoding", None) is not None and formats == {PARQUET}:
        raise ConfigError("--encoding is for files of text, not for Parquet. Leave it out.")


def read_input(path: str, values: Namespace, on: Sequence[str], hint: str = "") -> Table:
    """Reads a table as the flags say, and tells of bad lines on standard error.

    Args:
        path: The file.
        values: The values of the flags.
        on: Columns that it must have.
        hint: What to do if it lacks a column.

    Raises:
        ConfigError: `on` names a column twice.
        DataError: The file cannot be read, has a bad row, or lacks a column of `on`.
    """
    from tf_charagram.data._tables.table_reading import read_table
    from tf_charagram.data._tables.tables import column_position

    bad = BadLines(values.on_bad_line)
    table = read_table(path, header=not values.no_header, encoding=values.encoding, on_bad_line=bad)
    if bad.count:
        sys.stderr.write(f"{bad.summary()}\n")
    positions = [column_position(table.columns, column) for column in on]
    for column, position in zip(on, positions, strict=True):
        if position is None:
            raise DataError(path, unknown_name("column", column, table.columns) + hint)
        if positions.count(position) > 1:
            raise ConfigError(f"--on must name a column once. Received: {','.join(on)}")
    return table


def texts_of(table: Table, on: Sequence[str] = ()) -> list[str]:
    """Returns the texts of some columns, or of one that is named as texts often are."""
    if not on and len(table.columns) > 1:
        chosen = table.text_column()
        sys.stderr.write(f"texts are those of the column {chosen} (to change: --on)\n")
    return table.text_of(on)


def check_table_output(values: Namespace, *inputs: str) -> None:
    """Checks, before a long computation, that the table of `--output` can be written.

    Raises:
        ConfigError: Its suffix is unknown, or it is one of the inputs.
        RunError: It exists, or cannot be written.
    """
    from tf_charagram.data._tables.tables import check_table_file

    if values.output == STDIN and values.overwrite:
        raise ConfigError("--overwrite is for --output. Leave it out.")
    check_not_read(values.output, inputs)
    check_table_file(values.output)
    check_output(values.output, values.overwrite)

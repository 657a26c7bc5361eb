"""Writes a table of rows to a file; its name says the format."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from tf_charagram.errors import ConfigError
from tf_charagram.extras import extra_module
from tf_charagram.files.writing import whole_file

Rows = Sequence[Mapping[str, Any]]


def write_rows(path: str | Path, rows: Rows) -> None:
    """Writes rows with the same columns; the file appears only once it is complete.

    Args:
        path: `FILE.tsv`, with a header, white space inside a text as one space; `FILE.jsonl`, an
            object per line; or `FILE.parquet`.
        rows: Column -> value; at least one row.

    Raises:
        ConfigError: The suffix is none of these, or pyarrow is not installed.
        RunError: The file cannot be written.
    """
    check_rows_file(path)
    write, mode = _FORMATS[Path(path).suffix]
    with whole_file(path, mode) as file:
        write(file, rows)


def check_rows_file(path: str | Path) -> None:
    """Checks that `write_rows` can write such a file here.

    Raises:
        ConfigError: It cannot.
    """
    suffix = Path(path).suffix
    if suffix not in _FORMATS:
        raise ConfigError(f"The file must end in {', '.join(_FORMATS)}. Received: {path}")
    if suffix == ".parquet":
        extra_module("pyarrow.parquet", "parquet")


def _write_tsv(file: IO[str], rows: Rows) -> None:
    for cells in (rows[0], *(row.values() for row in rows)):
        # A tab or a line end inside a text would be read as the next column or row.
        file.write("\t".join(" ".join(str(cell).split()) for cell in cells) + "\n")


def _write_jsonl(file: IO[str], rows: Rows) -> None:
    file.writelines(json.dumps(dict(row), ensure_ascii=False) + "\n" for row in rows)


def _write_parquet(file: IO[bytes], rows: Rows) -> None:
    table = extra_module("pyarrow", "parquet").Table.from_pylist([dict(row) for row in rows])
    extra_module("pyarrow.parquet", "parquet").write_table(table, file, compression="zstd")


_FORMATS: dict[str, tuple[Callable[[IO[Any], Rows], None], str]] = {
    ".tsv": (_write_tsv, "w"),
    ".jsonl": (_write_jsonl, "w"),
    ".parquet": (_write_parquet, "wb"),
}

"""`charagram data` lists public data sets; `charagram data get NAME` downloads one."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.markup import escape

from tf_charagram._common.reporting import make_table, number, table_console
from tf_charagram.cli._flags.flags import Parser
from tf_charagram.errors import ConfigError

_PPDB = "ppdb-{1.0,2.0}-{s,m,l,xl,xxl,xxxl}-{lexical,phrasal,o2m,m2o,all}"


def _make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="charagram data", description=__doc__)
    parser.add_argument(
        "action",
        nargs="*",
        metavar="get NAME",
        help="download these sets [list all]",
    )
    return parser


def data(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    values = _make_parser().parse_args(arguments)
    if not values.action:
        return _list()
    verb, *names = values.action
    if verb != "get" or not names:
        given = " ".join(values.action)
        raise ConfigError(f"Give `charagram data` or `charagram data get NAME`. Received: {given}")
    return _get(names)


def _list() -> int:
    """Prints a table of all sets; of PPDB's sixty files, the first and the downloaded ones."""
    from tf_charagram.data.download import SOURCES, USES, cached

    table = make_table("Data sets", ("name", "kind", "licence", "use"), ("MB",))
    table.columns[3].overflow = "fold"  # Paths are to be copied.
    kinds = list(USES)
    has_ppdb = False
    for name, source in sorted(SOURCES.items(), key=lambda item: kinds.index(item[1].kind)):
        path = cached(name)
        is_ppdb = name.startswith("ppdb-")
        if is_ppdb and has_ppdb and path is None:
            continue
        has_ppdb = has_ppdb or is_ppdb
        use = f"charagram {USES[source.kind]}"
        num_bytes = source.num_bytes
        if path is not None:
            use = use.replace("PATH", str(path))
            files = path.iterdir() if path.is_dir() else [path]
            # The size on disk: archives are unpacked.
            num_bytes = sum(file.stat().st_size for file in files)
        size = number(None if num_bytes is None else num_bytes / 1e6, ",.2f")
        table.add_row(name, source.kind, escape(source.licence), escape(use), size)
    table_console().print(table)
    sys.stdout.write(f"PPDB: {_PPDB}\n")
    sys.stdout.write(
        "Download sets with charagram data get NAME. starter ships with the package.\n"
    )
    return 0


def _get(names: Sequence[str]) -> int:
    from tf_charagram.data.download import SOURCES, fetch

    for name in names:
        path = fetch(name)
        sys.stdout.write(f"{name} -> {path}\n")
        sys.stderr.write(f"{name}: licence: {SOURCES[name].licence}\n")
    return 0

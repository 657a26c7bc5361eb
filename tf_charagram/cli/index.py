"""`charagram index`: prepares a file of texts for `charagram neighbors --index`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tf_charagram.cli.commands import run_command
from tf_charagram.cli.flags import MODEL_HELP, Parser
from tf_charagram.files.writing import check_local
from tf_charagram.reporting import load_tensorflow


def make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="charagram index", description=__doc__)
    parser.add_argument("model", help=MODEL_HELP)
    parser.add_argument(
        "--texts",
        help="file of texts, one per line; - is stdin [those the run was trained on, or the "
        "words of a shipped model]",
    )  # fmt: skip
    parser.add_argument("--out", required=True, help="folder to write")
    return parser


def index(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    values = make_parser().parse_args(arguments)
    check_local(values.out)
    load_tensorflow()
    from tf_charagram.search.text_index import TextIndex, check_free
    from tf_charagram.search.texts import read_vocabulary

    check_free(Path(values.out))
    texts = read_vocabulary(values.texts, values.model)
    built = TextIndex.build(values.model, texts, show_progress=True)
    built.save(values.out)
    sys.stderr.write(f"{len(built):,} texts -> {values.out}\n")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(index, arguments)

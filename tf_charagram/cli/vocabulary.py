"""`charagram vocabulary`: counts n-grams for `charagram train --vocabulary`; any size, exactly.

Memory is bounded, but for the vocabulary itself: what does not fit is spilled to a temporary file
in the folder TMPDIR.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tf_charagram.bulk.counting_settings import VocabularyConfig
from tf_charagram.cli.arguments import repeatable
from tf_charagram.cli.commands import run_command
from tf_charagram.cli.field_flags import add_fields, from_flags, repeatable_flags
from tf_charagram.cli.flags import FlagParser, add_quiet
from tf_charagram.cli.outputs import check_not_read
from tf_charagram.reporting.progress import quiet


def make_parser() -> FlagParser:
    """Returns the command line."""
    parser = FlagParser(prog="charagram vocabulary", description=__doc__)
    add_fields(parser, VocabularyConfig)
    add_quiet(parser)
    return parser


def vocabulary(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    lists = repeatable_flags(VocabularyConfig)
    values = make_parser().parse_args(repeatable(arguments, lists)).as_dict()
    config = from_flags(VocabularyConfig, values)
    from tf_charagram.bulk.text_sources import find_sources
    from tf_charagram.bulk.vocabulary import count_vocabulary
    from tf_charagram.text.vocabulary_file import save_vocabulary

    for source in find_sources(config):
        check_not_read(config.out, source.paths())
    with quiet(values["quiet"]):
        save_vocabulary(config.out, count_vocabulary(config))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(vocabulary, arguments)


if __name__ == "__main__":
    sys.exit(main())

"""`charagram tag`: tags the words in the lines of files and writes CoNLL-U."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from tf_charagram._common.lazy import load_tensorflow
from tf_charagram._files.writing import check_output
from tf_charagram.cli._flags.flags import MODEL_HELP, Parser
from tf_charagram.cli._flags.table_flags import add_output_flags
from tf_charagram.cli.commands import check_not_read
from tf_charagram.tasks.tagging._conllu.data import COLUMNS, to_conllu

_STDOUT = "-"
_BATCH_SIZE = 1000
# Long lines are tagged in smaller batches, because padding takes memory.
_MAX_CHARS = 1_000_000


def _make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="charagram tag", description=__doc__)
    parser.add_argument("model", help=f"{MODEL_HELP}, of a tagger")
    parser.add_argument(
        "--input",
        action="append",
        help="file with a sentence per line, plain or .gz, or a pattern; repeatable [-, stdin]",
    )
    add_output_flags(parser, _STDOUT, "file [-, stdout]")
    parser.add_argument(
        "--tokens", action="store_true", help="lines are words already, with spaces between them"
    )
    parser.add_argument(
        "--column", choices=COLUMNS, default="xpos", help="column for the tags [xpos]"
    )
    return parser


def tag(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    values = _make_parser().parse_args(arguments)
    load_tensorflow()
    from tf_charagram._files.writing import whole_file
    from tf_charagram.bulk._shards.inputs import LineProgress, find_inputs, read_texts, to_text
    from tf_charagram.tasks.tagging.model import Tagger
    from tf_charagram.text._algorithm.batches import bounded_batches

    files = find_inputs(values.input or ["-"])
    check_not_read(values.output, [file.path for file in files])
    check_output(values.output, values.overwrite)
    tagger = Tagger.load(values.model)
    output_file: Any = nullcontext(sys.stdout)
    if values.output != _STDOUT:
        output_file = whole_file(values.output, "w")
    with output_file as output, LineProgress(files) as progress:
        for lines in bounded_batches(read_texts(files), _BATCH_SIZE, _MAX_CHARS):
            sentences = [line.split() for line in lines] if values.tokens else lines
            for line, tokens in zip(lines, tagger.tag(sentences), strict=True):
                output.write(to_conllu(line, tokens, values.column))
            progress.advance(len(lines), len(to_text(lines)))
        # The summary on standard error comes after the last tags.
        output.flush()
    progress.say(progress.summary())
    return 0

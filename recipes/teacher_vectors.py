r"""Embeds the lines of a file with a model of sentence-transformers, for `train --teacher`.

python recipes/teacher_vectors.py data/lines.txt data/minilm.npy \
        --model sentence-transformers/all-MiniLM-L6-v2
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import numpy as np

from tf_charagram._common.reporting import ProgressLine
from tf_charagram.cli._flags.flags import Parser
from tf_charagram.cli.commands import run_command
from tf_charagram.data._tables.lines import read_lines
from tf_charagram.errors import DataError

_CHUNK = 10_000


def make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="python recipes/teacher_vectors.py", description=__doc__)
    parser.add_argument("lines", help="file of texts, one per line")
    parser.add_argument("out", help="file .npy to write, a row of float16 for each line")
    parser.add_argument("--model", required=True, help="its folder, or a name of Hugging Face")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Runs the script; returns its exit status."""
    values = make_parser().parse_args(arguments)
    from sentence_transformers import SentenceTransformer

    # Twice the speed on machines that support it; the vectors differ in the third digit.
    teacher = SentenceTransformer(values.model, model_kwargs={"dtype": "bfloat16"})
    lines = [text for _, text in read_lines(values.lines)]
    # The file gets its name when it is complete, so that a stopped run leaves no zeros.
    partial = f"{values.out}.part"
    out = None
    with ProgressLine(len(lines)) as progress:
        for first in range(0, len(lines), _CHUNK):
            texts = lines[first : first + _CHUNK]
            # Unit vectors fit into float16 at any scale of the teacher.
            vectors = teacher.encode(texts, normalize_embeddings=True)
            if out is None:
                shape = (len(lines), vectors.shape[1])
                out = np.lib.format.open_memmap(partial, "w+", np.float16, shape)
            out[first : first + _CHUNK] = vectors
            progress.update("teacher", [f"{len(lines):,} texts"], advance=len(texts))
    if out is None:
        raise DataError(values.lines, "no texts found: the file is empty")
    out.flush()
    os.replace(partial, values.out)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(run, arguments)


if __name__ == "__main__":
    sys.exit(main())

"""`python -m tf_charagram.embed`: embeds each line of a file; any size, in constant memory."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from tf_charagram.flags import FlagParser, run_command


def make_parser() -> FlagParser:
    """Returns the command line."""
    parser = FlagParser(prog="python -m tf_charagram.embed", description=__doc__)
    parser.add_argument("model", type=str, help="run folder or model folder")
    parser.add_argument("--input", type=str, default="-", help="file, plain or .gz; - is stdin")
    parser.add_argument(
        "--output", type=str, default="-",
        help="FILE.npy, FILE.tsv or FILE.jsonl; - is stdout, as tsv",
    )  # fmt: skip
    parser.add_argument("--batch-size", type=int, default=1000, help="lines embedded at a time")
    return parser


def embed(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    values = make_parser().parse_args(arguments)
    from tf_charagram.data.lines import read_lines
    from tf_charagram.data.vectors import open_vector_writer
    from tf_charagram.models.embedder import TextEmbedder

    embedder = TextEmbedder.load(values.model).folded()
    lines = (text for _, text in read_lines(values.input))
    with open_vector_writer(values.output, embedder.dim) as writer:
        batches = embedder.encode_batches(lines, batch_size=values.batch_size)
        for texts, vectors in _with_progress(batches):
            writer.write(texts, vectors)
    return 0


def _with_progress(batches: Iterator[tuple]) -> Iterator[tuple]:
    columns = SpinnerColumn(), TextColumn("{task.completed:,.0f} lines"), TimeElapsedColumn()
    rate = TextColumn("{task.speed:,.0f} lines/s")
    console = Console(stderr=True)
    with Progress(*columns, rate, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("embed", total=None)
        for batch in batches:
            yield batch
            progress.advance(task, len(batch[0]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(embed, arguments)


if __name__ == "__main__":
    sys.exit(main())

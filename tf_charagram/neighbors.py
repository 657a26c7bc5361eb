"""`python -m tf_charagram.neighbors`: the nearest texts of a list, by exact search."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tf_charagram.flags import FlagParser, run_command

PROMPT = "text> "


def make_parser() -> FlagParser:
    """Returns the command line."""
    parser = FlagParser(prog="python -m tf_charagram.neighbors", description=__doc__)
    parser.add_argument("model", type=str, help="run folder or model folder")
    parser.add_argument("query", type=str, nargs="*", default=[], help="texts; none: a prompt")
    parser.add_argument(
        "--texts", type=str | None, default=None,
        help="file of texts to search, one a line [those the run was trained on]",
    )  # fmt: skip
    parser.add_argument("--k", type=int, default=10, help="neighbours shown")
    parser.add_argument("--json", action="store_true", help="one line of JSON for each query")
    return parser


def neighbors(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    values = make_parser().parse_args(arguments)
    from tf_charagram.data.lines import read_lines
    from tf_charagram.errors import ConfigError
    from tf_charagram.models.embedder import TextEmbedder, unit_rows
    from tf_charagram.runs import RunFolder

    texts_file = Path(values.texts) if values.texts else RunFolder(values.model).texts
    if not values.texts and not texts_file.is_file():
        raise ConfigError(f"{values.model} has no {texts_file.name}: name a file with --texts.")
    embedder = TextEmbedder.load(values.model)
    texts = list(dict.fromkeys(text for _, text in read_lines(texts_file) if text.strip()))
    vectors = unit_rows(embedder.encode(texts))
    for query in values.query or _prompt():
        found = embedder.neighbors(query, texts, values.k, vectors)
        if values.json:
            result = {"query": query, "neighbors": [[text, round(c, 6)] for text, c in found]}
            sys.stdout.write(json.dumps(result, ensure_ascii=False) + "\n")
        else:
            rows = "".join(f"  {cosine:6.3f}  {text}\n" for text, cosine in found)
            sys.stdout.write(f"{query}\n{rows}")
        sys.stdout.flush()
    return 0


def _prompt() -> Iterator[str]:
    """Yields lines that a person types, or that are piped in, until they end."""
    while True:
        if sys.stdin.isatty():
            sys.stderr.write(PROMPT)
            sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            return
        if line.strip():
            yield line.strip("\r\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(neighbors, arguments)


if __name__ == "__main__":
    sys.exit(main())

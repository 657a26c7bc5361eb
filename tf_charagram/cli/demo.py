"""`charagram demo`: a page to try a model on: nearest texts, similarity, typos."""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Sequence

from tf_charagram.cli._flags.flags import MODEL_HELP, Parser


def _make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="charagram demo", description=__doc__)
    parser.add_argument("model", help=MODEL_HELP)
    parser.add_argument("--port", type=int, default=0, help="port to listen on [a free one]")
    parser.add_argument(
        "--texts",
        help="file of texts to search among, one per line [those the run was trained on, or the "
        "words of a shipped model]",
    )
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    return parser


def demo(arguments: Sequence[str]) -> int:
    """Runs the command until Ctrl-C; returns its exit status."""
    values = _make_parser().parse_args(arguments)
    from tf_charagram.demo.answers import Answers, embedder_of
    from tf_charagram.demo.server import DemoServer
    from tf_charagram.search.texts import read_vocabulary

    embedder = embedder_of(values.model)
    texts = read_vocabulary(values.texts, values.model, "--texts")
    answers = Answers(embedder, texts, values.model)
    with DemoServer(answers, values.port) as server:
        sys.stdout.write(f"{values.model}, {len(texts):,} texts: {server.url} (Ctrl-C ends it)\n")
        # A program that started this one may wait for the address.
        sys.stdout.flush()
        if values.open:
            webbrowser.open(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            # The usual end, so the status is 0.
            sys.stderr.write("\n")
    return 0

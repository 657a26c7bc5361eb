"""Tagged sentences as CoNLL-U."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tf_charagram.tasks.tagging.reader import COLUMNS

if TYPE_CHECKING:
    from tf_charagram.tasks.tagging.tagger import TaggedToken

_NUM_COLUMNS = 10
_EMPTY = "_"


def to_conllu(text: str, tokens: Sequence[TaggedToken], column: str = "xpos") -> str:
    """Returns one sentence: its text, a line for each word, and a blank line.

    Where words have offsets, the last column gives them as `TokenRange=start:end`, counted in
    characters, and `SpaceAfter=No` where the next word follows at once.

    Args:
        text: The sentence; shown on one line.
        tokens: Its words.
        column: `"xpos"` or `"upos"`.
    """
    lines = [f"# text = {' '.join(text.split())}"]
    for i, token in enumerate(tokens):
        cells = [_EMPTY] * _NUM_COLUMNS
        cells[0], cells[1] = str(i + 1), token.token
        cells[COLUMNS[column]] = token.tag
        if token.start is not None:
            following = tokens[i + 1].start if i + 1 < len(tokens) else None
            notes = [f"TokenRange={token.start}:{token.end}"]
            cells[-1] = "|".join(["SpaceAfter=No"] * (following == token.end) + notes)
        lines.append("\t".join(cells))
    return "\n".join(lines) + "\n\n"

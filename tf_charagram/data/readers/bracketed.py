"""Trees in brackets, as the Penn Treebank writes them: `( (S (NP (DT the) (NN cat)) ...) )`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

#: A word and its tag.
Token = tuple[str, str]

#: A bracket, or a word or tag.
PIECE = re.compile(r"[()]|[^()\s]+")
_EMPTY_ELEMENT = "-NONE-"


def bracketed_sentences(
    lines: Iterable[tuple[int, str]], report: Callable[[int, str], None]
) -> Iterator[tuple[int, list[Token]]]:
    """Yields the words of each tree with their tags, without empty elements (`-NONE-`).

    A tree may span several lines, and a line may hold several trees. After a bad tree, reading
    resumes at the next line that starts with a bracket.

    Args:
        lines: 1-based line numbers, and texts.
        report: Called with line number and reason for each bad tree.

    Yields:
        The line a tree starts on, and its words, possibly an empty list.
    """
    tree: _Tree | None = None
    is_lost = False
    for number, text in lines:
        if is_lost and not text.startswith("("):
            continue
        is_lost = False
        for piece in PIECE.findall(text):
            if tree is not None and tree.is_at_another(piece):
                report(tree.line, f"the tree is not closed before another starts on line {number}")
                tree = _Tree(number)
                tree.take("(")
            tree = tree or _Tree(number)
            try:
                tree.take(piece)
            except ValueError as error:
                report(number, str(error))
                tree, is_lost = None, True
                break
            if not tree.depth:
                yield tree.line, tree.tokens
                tree = None
    if tree is not None:
        report(tree.line, f"the tree is not closed at the end of the file, depth {tree.depth}")


class _Tree:
    """A tree that is being read, from the line it starts on."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.tokens: list[Token] = []
        # Contents of each open bracket; `None` for a nested bracket.
        self._open: list[list[str | None]] = []

    @property
    def depth(self) -> int:
        return len(self._open)

    def is_at_another(self, piece: str) -> bool:
        """Returns whether a bracket starts a new tree: only the outermost one has no label."""
        return piece == "(" and self.depth > 1 and not self._open[-1]

    def take(self, piece: str) -> None:
        """Takes the next bracket, label or word; raises `ValueError` if it is misplaced."""
        if piece == "(":
            if self._open:
                self._open[-1].append(None)
            self._open.append([])
        elif not self._open:
            raise ValueError(f"expected a bracket that opens a tree, found {piece!r}")
        elif piece == ")":
            self._close(self._open.pop())
        else:
            self._open[-1].append(piece)

    def _close(self, inside: list[str | None]) -> None:
        match inside:
            case [str(tag), str(word)]:
                if tag != _EMPTY_ELEMENT:
                    self.tokens.append((word, tag))
            case [None, *rest] | [str(), None, *rest] if not any(rest):
                pass
            case _:
                content = " ".join("(...)" if part is None else part for part in inside)
                raise ValueError(
                    "expected a tag and a word, or a label and brackets, in a bracket, "
                    f"found ({content})"
                )

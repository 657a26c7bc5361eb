"""Words that their owner knows to be correctly spelled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from tf_charagram.errors import RunError
from tf_charagram.text._algorithm.arguments import texts_of
from tf_charagram.text._algorithm.word_boundaries import words_of
from tf_charagram.text._spelling.dictionary import Dictionary


def kept_words(words: str | Path | Iterable[str] | None) -> Dictionary | None:
    """Returns the words of `keep_words` as a dictionary; `None` if there are no words.

    Args:
        words: Correctly spelled words, or texts made of them; or the path of a UTF-8 file with such
            lines. A mapping of words gives their counts.

    Raises:
        ConfigError: `words` is neither a path nor a list of texts.
        RunError: The file cannot be read.
    """
    if words is None:
        return None
    if isinstance(words, str | Path):
        try:
            words = Path(words).read_text("utf-8", errors="replace").splitlines()
        except OSError as error:
            raise RunError(f"Cannot read {words}: {error.strerror or error}.") from error
    if isinstance(words, Mapping):
        counts = words
    else:
        counts = Counter(words_of(texts_of(words, "keep_words")))
    return Dictionary(counts) if counts else None

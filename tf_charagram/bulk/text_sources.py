"""Where texts to count come from: pairs, or lines of files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tf_charagram.bulk.counting_settings import VocabularyConfig
from tf_charagram.bulk.inputs import InputFile, find_inputs, read_texts
from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.pipeline.sources import pair_corpus, pairs_files


class TextSource(NamedTuple):
    """What one process reads.

    Attributes:
        data: A `--data` value of pairs, or
        lines: a file with one text per line.
    """

    data: str | None = None
    lines: InputFile | None = None

    def paths(self) -> list[str]:
        """Returns the files that are read."""
        if self.lines is not None:
            return [self.lines.path]
        return [str(path) for path in pairs_files(str(self.data))]

    def texts(self, bad_lines: BadLines) -> Iterator[str]:
        """Streams the texts; of pairs those that training would see.

        Raises:
            DataError: A file cannot be read, or has a bad line.
        """
        if self.lines is not None:
            return read_texts([self.lines])
        return pair_corpus([str(self.data)], bad_lines).texts()


def find_sources(config: VocabularyConfig) -> list[TextSource]:
    """Returns the sources that the settings name, downloaded if need be.

    Raises:
        ConfigError: A name is unknown, or a file is given twice.
        DataError: A file is missing or cannot be read.
    """
    for name in config.data:
        pairs_files(name)
    return [
        *(TextSource(data=name) for name in config.data),
        *(TextSource(lines=file) for file in find_inputs(config.input)),
    ]

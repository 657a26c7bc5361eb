"""Settings of counting a vocabulary."""

from __future__ import annotations

from dataclasses import dataclass

from tf_charagram.errors import ConfigError, check_positive, unknown_name
from tf_charagram.settings import option
from tf_charagram.text.validation import UNICODE_FORMS

ENGINES = ("local", "ray")


@dataclass(frozen=True)
class VocabularyConfig:
    """What `charagram vocabulary` is told.

    Raises:
        ConfigError: There is nothing to count or nowhere to write it, the engine is unknown, or
            there are no workers.
    """

    data: tuple[str, ...] = option(
        (), "pairs to count, as for charagram train: a file or `starter`; repeatable", "data"
    )
    input: tuple[str, ...] = option(
        (),
        "texts to count, one per line: file, plain or .gz, or a pattern such as 'logs/*.gz'; "
        "repeatable; - is stdin",
        "data",
    )
    on_bad_line: str = option("error", "of pairs: error or skip", "data", choices=("error", "skip"))
    out: str = option("", "file to write, such as VOCABULARY.npz", "run")
    ngrams: tuple[int, ...] = option((2, 3, 4), "n-gram orders, for instance 2,3,4", "text")
    min_count: int = option(1, "fewest occurrences an n-gram needs for a row", "text")
    max_per_order: int | None = option(
        None, "keep the k most frequent n-grams of each order", "text"
    )
    unicode_form: str | None = option(
        None,
        "normalize first: NFC, NFD, NFKC, NFKD",
        "text",
        choices=UNICODE_FORMS,
    )
    max_chars: int = option(10_000, "characters after which a text is cut", "text")
    engine: str = option("local", "local or ray", "run", choices=ENGINES)
    workers: int | None = option(
        None, "threads, or tasks of ray at the same time; one per core by default", "run"
    )

    def __post_init__(self) -> None:
        """Checks what counting does not check."""
        if not self.data and not self.input:
            raise ConfigError(
                "There is nothing to count. Give pairs with --data or texts with --input."
            )
        if not self.out:
            raise ConfigError("`out` must be the file to write. Give it with --out.")
        if self.engine not in ENGINES:
            raise ConfigError(unknown_name("engine", self.engine, ENGINES))
        if self.workers is not None:
            check_positive(workers=self.workers)
        if self.engine == "ray" and "-" in self.input:
            raise ConfigError("The engine ray reads files on its nodes, not stdin (-).")

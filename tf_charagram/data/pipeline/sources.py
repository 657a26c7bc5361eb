"""Values of `--data` and `--eval-data`: files, the starter set, or names to download."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.download import SOURCES, fetch
from tf_charagram.data.pipeline.corpus import PairCorpus, PairSource
from tf_charagram.data.readers.pairs import Pair, read_aligned, read_pairs
from tf_charagram.data.readers.scored import set_name
from tf_charagram.data.starter import STARTER, train_pairs
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.files.writing import check_is_file

#: Separates the names of two aligned files.
FILES_SEPARATOR = "::"


def pair_corpus(
    names: Sequence[str],
    bad_lines: BadLines,
    *,
    weights: Sequence[float] = (),
    whole_vocabulary: bool = False,
    augment_typos: float = 0.0,
    seed: int = 0,
) -> PairCorpus:
    """Returns the training pairs of some sources, which are not read yet.

    Args:
        names: The `--data` values.
        bad_lines: Policy for bad lines.
        weights: How often the pairs of each source count. Default: 1.
        whole_vocabulary: As for `PairCorpus`.
        augment_typos: As for `PairCorpus`.
        seed: Seed of all random choices.

    Raises:
        ConfigError: A name is unknown.
        DataError: A file is missing, or a download failed.
    """
    weights = weights or (1.0,) * len(names)
    return PairCorpus(
        [
            PairSource(partial(_read_pairs, pairs_files(name)), weight)
            for name, weight in zip(names, weights, strict=True)
        ],
        on_bad_line=bad_lines,
        whole_vocabulary=whole_vocabulary,
        augment_typos=augment_typos,
        seed=seed,
    )


def named_pairs(name: str, bad_lines: BadLines) -> Iterator[Pair]:
    """Returns the pairs of a `--data` value; errors as for `pair_corpus`."""
    return _read_pairs(pairs_files(name), bad_lines)


def _read_pairs(files: Sequence[Path], bad_lines: BadLines) -> Iterator[Pair]:
    if not files:
        return train_pairs()
    if len(files) == 2:
        return read_aligned(*files)
    return read_pairs(files[0], on_bad_line=bad_lines)


def pairs_files(name: str) -> tuple[Path, ...]:
    """Returns the files of a `--data` value of pairs: two for `A::B`, no file for the starter set.

    Raises:
        ConfigError: There is no such file and no such name.
        DataError: There is no such file, or a download failed.
    """
    left, separator, right = name.partition(FILES_SEPARATOR)
    if separator:
        files = Path(left), Path(right)
        for path in files:
            check_is_file(path, f"; {name} means two files that correspond line by line")
        return files
    return () if name == STARTER else (_pairs_file(name),)


def _pairs_file(name: str) -> Path:
    """Returns a file, or that of a data set, which is downloaded if necessary."""
    path = Path(name)
    if path.is_file():
        return path
    source = SOURCES.get(name)
    if source is not None and source.kind == "pairs":
        return fetch(name)
    if path.is_dir() or path.parent != Path(".") or path.suffix in (".tsv", ".txt", ".gz", ".csv"):
        check_is_file(path)
    names = [STARTER, *(key for key, value in SOURCES.items() if value.kind == "pairs")]
    raise ConfigError(unknown_name("file or data set", name, names))


def labelled_file(name: str) -> Path | None:
    """Returns the file of labelled examples; `None` for the starter set.

    Raises:
        DataError: There is no such file.
    """
    if name == STARTER:
        return None
    check_is_file(name)
    return Path(name)


def named_sets(eval_data: Sequence[str], data: Sequence[str]) -> list[tuple[str, str, str]]:
    """Returns the sets of labelled examples to score on: name, file or `starter`, and split.

    `starter` stands for the sets `starter.dev` and `starter.test`, which are also the default if
    only the starter set is trained on. A file is named by its name without suffix, or by its whole
    path if another file has the same name.

    Args:
        eval_data: The `--eval-data` values.
        data: The `--data` values.
    """
    if not eval_data and set(data) == {STARTER}:
        eval_data = (STARTER,)
    names = list(map(set_name, eval_data))
    named: list[tuple[str, str, str]] = []
    for path, name in zip(eval_data, names, strict=True):
        if path == STARTER:
            named += [(f"{STARTER}.{split}", STARTER, split) for split in ("dev", "test")]
        else:
            named.append((path if names.count(name) > 1 else name, path, "test"))
    return named

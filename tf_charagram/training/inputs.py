"""The files a run reads: training pairs by `--data`, and what identifies the run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tf_charagram.config import ParaphraseConfig, RunConfig
from tf_charagram.data import starter
from tf_charagram.data.download.fetch import fetch
from tf_charagram.data.download.sources import SOURCES
from tf_charagram.data.pipeline.corpus import PairSource
from tf_charagram.data.readers.pairs import read_pairs
from tf_charagram.data.readers.scored import SUFFIX
from tf_charagram.errors import ConfigError, DataError, unknown_name
from tf_charagram.evaluation.sets import STARTER
from tf_charagram.serialization.model_folder import model_files


def pair_sources(config: ParaphraseConfig) -> list[PairSource]:
    """Returns where the training pairs come from, with their weights.

    Raises:
        ConfigError: A name is unknown, or there is none.
        DataError: A file is missing, or a download failed.
    """
    names = data_names(config)
    weights = config.data_weights or (1.0,) * len(names)
    return [_source(config, name, weight) for name, weight in zip(names, weights, strict=True)]


def _source(config: ParaphraseConfig, name: str, weight: float) -> PairSource:
    path = data_file(name)
    if path is None:
        return PairSource(lambda _: starter.train_pairs(), weight)
    return PairSource(
        lambda bad_lines: read_pairs(
            path,
            on_bad_line=bad_lines,
            min_score=config.min_score,
            entailment=config.entailment or None,
        ),
        weight,
    )


def input_files(config: RunConfig) -> list[Path]:
    """Returns all files that decide what the weights become; errors as for `pair_sources`."""
    files = [path for name in data_names(config) if (path := data_file(name))]
    if config.word_vectors is not None:
        files.append(Path(config.word_vectors))
    return files if config.init is None else [*files, *model_files(config.init)]


def data_names(config: RunConfig) -> tuple[str, ...]:
    """Returns the `--data` values; all tasks but sentences have a default.

    Raises:
        ConfigError: There is none, and the task has no default.
    """
    if config.data:
        return config.data
    if config.task == "sentences":
        raise ConfigError(
            f"The task '{config.task}' needs --data: files of text pairs, two tab-separated texts "
            "a line. For a first try, `--data starter`: pairs of words."
        )
    return (STARTER,)


def named_sets(eval_data: Sequence[str], data: Sequence[str]) -> list[tuple[str, str, str]]:
    """Returns what labelled examples are scored on: name of the set, file or `starter`, split.

    The starter set stands for two, `starter.dev` and `starter.test`, which are scored where nothing
    else is trained on or asked for. A file has its name without suffix, or its whole path if that
    is the name of another.

    Args:
        eval_data: The `--eval-data` values.
        data: The `--data` values.
    """
    if not eval_data and set(data) == {STARTER}:
        eval_data = (STARTER,)
    names = [SUFFIX.sub("", Path(place).name) for place in eval_data]
    found = []
    for place, name in zip(eval_data, names, strict=True):
        if place == STARTER:
            found += [(f"{STARTER}.{split}", STARTER, split) for split in ("dev", "test")]
        else:
            found.append((place if names.count(name) > 1 else name, place, "test"))
    return found


def labelled_file(name: str) -> Path | None:
    """Returns the file of a `--data` or `--eval-data` of labelled examples; `None` for starter.

    Raises:
        DataError: There is no such file.
    """
    if name == STARTER:
        return None
    path = Path(name)
    if path.is_dir():
        raise DataError(path, "is a folder. Give its files, one --data or --eval-data each")
    if not path.is_file():
        raise DataError(path, "no such file")
    return path


def data_file(name: str) -> Path | None:
    """Returns the file of a `--data` value, downloaded if need be; `None` for the starter set.

    Raises:
        DataError: There is no such file and no such name.
    """
    if name == STARTER:
        return None
    path = Path(name)
    if path.is_file():
        return path
    source = SOURCES.get(name)
    if source is not None and source.kind == "pairs":
        return fetch(name)
    if path.parent != Path(".") or path.suffix in (".tsv", ".txt", ".gz", ".csv"):
        raise DataError(path, "no such file")
    names = [STARTER, *(key for key, value in SOURCES.items() if value.kind == "pairs")]
    raise ConfigError(unknown_name("file or data set", name, names))

"""How tests run, and trained runs that many of them look at; none may change those."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import hypothesis
import pytest

from tests.commands import QUICK, call, leave_out_export
from tests.texts import write_pairs, write_scored

#: Marks of tests that only run where `-m` names them.
_LEFT_OUT = {"campaign", "long", "variant"}

# Several workers of pytest share the cores; threads of one operation would wait for each other.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")


def pytest_configure(config: pytest.Config) -> None:
    """Lets no property fail by its time, and has all runs look at the same examples.

    With the long tests each run looks at others, and slow properties look at more of them.
    """
    hypothesis.settings.register_profile("short", deadline=None, derandomize=True)
    hypothesis.settings.register_profile("long", deadline=None)
    hypothesis.settings.load_profile("long" if "long" in config.option.markexpr else "short")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what takes long, each kind unless `-m` speaks of it."""
    unnamed = _LEFT_OUT - set(re.findall(r"\w+", config.option.markexpr))
    left_out = [item for item in items if unnamed & {mark.name for mark in item.iter_markers()}]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in set(left_out)]


def pytest_collection_finish() -> None:
    """Has the garbage collector pass over what was imported: half a million objects that stay."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def _no_garbage() -> Iterator[None]:
    """Frees the models of a module, which are cycles: Python counts objects, and theirs are large.

    Without, a process comes to hold gigabytes, and each collection then takes seconds. What is left
    is not looked at again: most of it was imported or is kept by TensorFlow.
    """
    yield
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Traces functions without AutoGraph, and runs graphs as they were traced.

    The package has no Python branches or loops on tensors that AutoGraph would have to convert, and
    converting takes a fifth of the time. Most tests run a graph once or twice, and TensorFlow takes
    longer to optimize it than to run it. In tests that most runs leave out, and in processes of
    their own, both are done as users have it.
    """
    if (tensorflow := sys.modules.get("tensorflow")) is None:
        return (yield)
    is_as_users = any(map(item.get_closest_marker, _LEFT_OUT))
    is_optimized = is_as_users or "optimized_graphs" in getattr(item, "fixturenames", ())
    tensorflow.config.optimizer.set_experimental_options(
        {"disable_meta_optimizer": not is_optimized}
    )
    with pytest.MonkeyPatch.context() as patch:
        if not is_as_users:
            module = "tensorflow.python.eager.polymorphic_function.autograph_util"
            as_it_is = lambda function, *_, **__: function  # noqa: E731
            patch.setattr(import_module(module), "py_func_from_autograph", as_it_is)
        return (yield)


@pytest.fixture(scope="module")
def optimized_graphs() -> None:
    """Has graphs optimized as users have it: what is compared to the bit must be computed alike."""


@pytest.fixture(autouse=True)
def ctrl_c():
    """Lets Ctrl-C through as to a command in the foreground, also where `nohup` or cron ignores it.

    A process that a test starts would inherit that it is ignored.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def unexported():
    """Leaves out the SavedModel of the runs of a test, also after it undid its own patches."""
    with pytest.MonkeyPatch.context() as patch:
        leave_out_export(patch)
        yield


@dataclass(frozen=True)
class Trained:
    """A run that was trained with the command line.

    Attributes:
        folder: The run folder.
        data: The pairs.
        scored: The evaluation set.
        arguments: What the command was given, but for `--out`.
    """

    folder: Path
    data: Path
    scored: Path
    arguments: list[str]


@pytest.fixture(scope="session")
def data(tmp_path_factory) -> tuple[Path, Path]:
    """Returns a file of pairs and an evaluation set."""
    folder = tmp_path_factory.mktemp("data")
    return write_pairs(folder / "pairs.tsv"), write_scored(folder / "scored.tsv")


@pytest.fixture(scope="session")
def trained(tmp_path_factory, data) -> Trained:
    """Returns a finished run of the default encoder."""
    folder = tmp_path_factory.mktemp("runs") / "words"
    arguments = ["--data", str(data[0]), "--eval-data", str(data[1]), *QUICK]
    assert call("train", *arguments, "--out", folder) == 0
    return Trained(folder, *data, arguments)

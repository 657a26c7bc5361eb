"""How tests run, and trained runs that many tests share and none may change."""

from __future__ import annotations

import gc
import io
import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import hypothesis
import pytest

from tests.commands import QUICK, call, leave_out_export
from tests.texts import write_pairs, write_scored
from tf_charagram.errors import ConfigError

#: Markers of tests that run only if `-m` names them.
_LEFT_OUT = {"campaign", "long", "variant"}

#: Whether all tests leave TensorFlow as it is for users, which takes about twice as long.
_AS_USERS = os.environ.get("TESTS_AS_USERS") == "1"

#: Tests that have passed in another environment, which CI names in a file.
_PASSED = set(Path(os.environ.get("TESTS_PASSED", os.devnull)).read_text("utf-8").splitlines())

# Tests compile for longer than they compute.
if not _AS_USERS:
    os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
# On a GPU, products in TF32 are good to 1e-3 only, and a process takes the whole memory.
os.environ.setdefault("NVIDIA_TF32_OVERRIDE", "0")
os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")
# Workers of pytest share the cores, so threads of one operation would wait for each other.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")


def pytest_configure(config: pytest.Config) -> None:
    """Removes deadlines of properties, and fixes their examples unless long tests run."""
    hypothesis.settings.register_profile("short", deadline=None, derandomize=True)
    hypothesis.settings.register_profile("long", deadline=None)
    hypothesis.settings.load_profile("long" if "long" in config.option.markexpr else "short")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects the long kinds of tests unless `-m` names them, and those that have passed."""
    unnamed = _LEFT_OUT - set(re.findall(r"\w+", config.option.markexpr))
    left_out = [item for item in items if unnamed & {mark.name for mark in item.iter_markers()}]
    left_out += [item for item in items if item.nodeid in _PASSED]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in set(left_out)]


def pytest_collection_finish() -> None:
    """Excludes imported objects, half a million, from garbage collection."""
    gc.collect()
    gc.freeze()


@contextmanager
def _left_out_without_tensorflow_text() -> Iterator[None]:
    """Skips a test that needs tensorflow-text, which a new Python or TensorFlow does not have."""
    try:
        yield
    except ConfigError as error:
        if find_spec("tensorflow_text") is None and "need tensorflow-text" in str(error):
            pytest.skip(str(error))
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Iterator[None]:
    """Leaves out tests whose fixtures need tensorflow-text."""
    with _left_out_without_tensorflow_text():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Leaves out tests that need tensorflow-text."""
    with _left_out_without_tensorflow_text():
        return (yield)


@pytest.fixture(scope="module", autouse=True)
def _no_garbage() -> Iterator[None]:
    """Frees the models of a module, which are reference cycles, and keeps collections fast."""
    yield
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Traces functions without AutoGraph, and does not optimize graphs, which saves time.

    The package does not branch or loop on tensors in Python, and most tests run a graph only once
    or twice. Long tests, and processes of their own, do both as for users; with TESTS_AS_USERS=1
    in the environment, all tests do.
    """
    if (tensorflow := sys.modules.get("tensorflow")) is None:
        return (yield)
    is_as_users = _AS_USERS or any(map(item.get_closest_marker, _LEFT_OUT))
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
    """Optimizes graphs, for tests that compare bits with another process."""


@pytest.fixture(autouse=True)
def ctrl_c():
    """Makes Ctrl-C work in processes that a test starts, even under `nohup` or cron."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def unexported():
    """Skips the SavedModel of the runs of a test."""
    with pytest.MonkeyPatch.context() as patch:
        leave_out_export(patch)
        yield


@pytest.fixture
def piped(monkeypatch):
    """Returns a function that sets the contents of standard input."""

    def pipe(raw):
        monkeypatch.setattr(
            sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(raw)), "utf-8")
        )

    return pipe


@dataclass(frozen=True)
class Trained:
    """A run trained with the command line.

    Attributes:
        folder: The run folder.
        data: The pairs.
        scored: The evaluation set.
        arguments: Arguments of the command, except `--output`.
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
    """Returns a finished run of the default encoder; skips the test without TensorFlow."""
    pytest.importorskip("tensorflow")
    folder = tmp_path_factory.mktemp("runs") / "words"
    arguments = ["--data", str(data[0]), "--eval-data", str(data[1]), *QUICK]
    assert call("train", *arguments, "--output", folder) == 0
    return Trained(folder, *data, arguments)

"""Contenders in processes of their own, which wait until it is their turn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any


class Contender:
    """A process that does its work each time it is called; ended as a context.

    Its command calls `serve`.

    Args:
        command: What starts it.
        **environment: Variables it gets besides those of this process.

    Attributes:
        facts: What it said when it was ready.

    Raises:
        ContenderError: It ended before it was ready.
    """

    def __init__(self, command: Sequence[str | Path], **environment: str) -> None:
        # Not a pipe: a process that says much would wait for somebody to read it.
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            list(map(str, command)), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._errors, env={**os.environ, **environment},
        )  # fmt: skip
        self.facts: dict[str, Any] = json.loads(self._answer())

    def __enter__(self) -> Contender:
        return self

    def __exit__(self, *error: object) -> None:
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()
        self._errors.close()

    def __call__(self, job: str = "go") -> None:
        """Has the work done, and returns once it is.

        Raises:
            ContenderError: The process ended.
        """
        self._process.stdin.write(f"{job}\n")
        self._process.stdin.flush()
        self._answer()

    def _answer(self) -> str:
        if line := self._process.stdout.readline():
            return line
        status = self._process.wait()
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip() or f"status {status}"
        self.__exit__()
        raise ContenderError(said.splitlines()[-1])


class ContenderError(Exception):
    """A process failed; the text is the last line of its output."""


def protocol_file() -> IO[str]:
    """Returns the stream to the parent; redirects everything else to standard error."""
    kept = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)
    return kept


def serve(facts: dict[str, Any], work: Callable[[str], object], answers: IO[str]) -> None:
    """Says that this process is ready, then does the work of each line until input ends."""
    answers.write(json.dumps(facts) + "\n")
    for line in sys.stdin:
        work(line.strip())
        answers.write("done\n")


def peer_facts(
    python: str, packages: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Looks for the packages of peers.

    Args:
        python: The interpreter that may have them.
        packages: Name of a peer to that of its package.

    Returns:
        The versions by package; and their entries in a result: those `versions`, and the peers
        that are `left_out`, each with the reason, to which benchmarks add what does not start.
    """
    found = versions(python, tuple(dict.fromkeys(packages.values())))
    missing = {name: "not installed" for name, package in packages.items() if package not in found}
    return found, {"versions": found, "left_out": missing}


@cache
def versions(python: str, packages: tuple[str, ...]) -> dict[str, str]:
    """Returns the versions of the packages that an interpreter has; says which it has not."""
    program = (
        "import json, sys\nfrom importlib.metadata import PackageNotFoundError, version\n"
        "found = {}\nfor name in sys.argv[1:]:\n    try:\n        found[name] = version(name)\n"
        "    except PackageNotFoundError:\n        pass\nprint(json.dumps(found))"
    )
    done = subprocess.run(
        [python, "-c", program, *packages], check=True, stdout=subprocess.PIPE, text=True
    )
    found = json.loads(done.stdout)
    for name in packages:
        print(f"{name} {found[name]}" if name in found else f"{name} is not installed: left out")
    return found

"""The servers under load: each in a process of its own, or here.

`python -m tests.campaigns.load.services FOLDER RUNTIME` prints its addresses, and serves the
versions in a folder until its standard input ends.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.commands import environment


@dataclass(frozen=True)
class Service:
    """A server.

    Attributes:
        runtime: What it runs the model by.
        urls: Kind of server -> address of the model.
        pid: The process.
    """

    runtime: str
    urls: dict[str, str]
    pid: int


@contextmanager
def server_here(folder: Path, runtime: str) -> Iterator[Service]:
    """Serves the versions in a folder over REST and gRPC by threads of this process."""
    from tests.export.serving.servers import SERVERS
    from tests.export.serving.versions import RUNTIMES, Versions
    from tf_charagram.export.serving.folder import ServingFolder

    with ExitStack() as stack:
        versions = stack.enter_context(Versions(ServingFolder(folder), RUNTIMES[runtime]))
        urls = {kind: stack.enter_context(serve(versions)) for kind, serve in SERVERS.items()}
        yield Service(runtime, urls, os.getpid())


@contextmanager
def server_process(folder: Path, runtime: str) -> Iterator[Service]:
    """Serves the versions in a folder in a process of its own."""
    command = [sys.executable, "-m", __name__, str(folder), runtime]
    root = Path(__file__).parents[3]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with (
        open(folder.parent / f"{runtime}.err", "wb") as errors,
        subprocess.Popen(
            command,
            cwd=root,
            env=environment(TF_CPP_MIN_LOG_LEVEL="2"),
            stderr=errors,
            text=True,
            **pipes,
        ) as child,  # fmt: skip
    ):
        line = child.stdout.readline()
        if not line:
            raise RuntimeError(f"The server did not start: {Path(errors.name).read_text()[-2000:]}")
        yield Service(runtime, json.loads(line), child.pid)
        child.stdin.close()
        if child.wait():
            raise RuntimeError(f"The server ended with status {child.returncode}.")


def main() -> None:
    with server_here(Path(sys.argv[1]), sys.argv[2]) as service:
        print(json.dumps(service.urls), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()

"""Load on servers of a SavedModel: no good request fails, and memory stays flat.

Clients ask over REST and gRPC, of a server that runs the model by TensorFlow's C library and of one
that runs it by `tf.saved_model.load`, and the C library directly. Versions of the model come and
go; every answer is compared with what the version that answered must give. Some requests are bad,
and each of these must be refused in the way it deserves.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--minutes", type=float, default=1, help="how long to ask, pauses left out [%(default)s]")
    add("--seed", type=int, default=0, help="of texts, requests and pauses [%(default)s]")
    add("--clients", type=int, default=64, help="[%(default)s]")
    add("--rate", type=float, default=60, help="requests per second of all clients [%(default)s]")
    add("--bad", type=float, default=0.05, help="share of bad requests [%(default)s]")
    add("--switch-s", type=float, default=60, help="seconds between versions [%(default)s]")
    add("--log", type=Path, help="file for a JSON line every 10 s, and one per failure")


def run(arguments: argparse.Namespace) -> int:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    from tests.export.serving.allocator import return_large_blocks

    return_large_blocks()
    from tests.campaigns.load.campaign import run_load
    from tests.campaigns.load.report import Log, Plan
    from tests.campaigns.load.services import server_process

    plan = Plan(
        seconds=60 * arguments.minutes,
        seed=arguments.seed,
        num_clients=arguments.clients,
        rate=arguments.rate,
        share_bad=arguments.bad,
        switch_s=arguments.switch_s,
    )
    log = Log(arguments.log)
    with tempfile.TemporaryDirectory() as folder:
        report = run_load(plan, Path(folder), server_process, log)
    log.write(report.as_dict())
    print("\n".join([*log.failures, str(report)]))
    return 1 if report.problems else 0

"""Feeds changed and random bytes to everything that reads bytes."""

from __future__ import annotations

import argparse
import importlib
import logging
import os
from pathlib import Path

#: Modules of targets, those without TensorFlow first: it must not run before processes fork.
MODULES = ("readers", "vectors", "settings", "folders", "servers", "texts")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of the campaign."""
    parser.add_argument("--bytes", type=int, default=1_000_000, help="how many (default: 10^6)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same cases")
    parser.add_argument(
        "--targets", nargs="+", default=[], help="names or groups of targets (default: all)"
    )
    parser.add_argument("--log", type=Path, help="a file that gets a line of JSON per target")
    parser.add_argument(
        "--failures", type=Path, default=Path("fuzz-failures"), help="where wrong cases are kept"
    )


def run(arguments: argparse.Namespace) -> int:
    """Runs the campaign; returns 1 if anything is wrong."""
    # One thread per operation: processor time then tells what a case costs.
    os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    logging.getLogger("tf_charagram").setLevel(logging.ERROR)
    from tests.campaigns.fuzz import report
    from tests.campaigns.fuzz.watch import watched
    from tests.campaigns.fuzz.with_tensorflow import import_tensorflow

    targets = all_targets(arguments.targets)
    whole = sum(target.share for target in targets)
    print(report.header(), flush=True)
    all_findings = []
    for target in sorted(targets, key=lambda target: target.needs_tensorflow):
        if target.needs_tensorflow:
            import_tensorflow()
        findings = watched(target, arguments.seed, int(arguments.bytes * target.share / whole))
        all_findings.append(findings)
        print(report.line(findings), flush=True)
        for problem in report.save_problems(findings, arguments.failures):
            print(problem, flush=True)
        if arguments.log:
            report.log(findings, arguments.log)
    print(report.total(all_findings), flush=True)
    return int(any(findings.problems for findings in all_findings))


def all_targets(names: list[str]) -> list:
    """Returns the targets of some names or groups; all of them if there is none.

    Raises:
        SystemExit: There is no such target.
    """
    modules = (importlib.import_module(f"tests.campaigns.fuzz.targets.{name}") for name in MODULES)
    targets = [target for module in modules for target in module.TARGETS]
    known = {target.name for target in targets} | {t.name.partition(".")[0] for t in targets}
    if unknown := set(names) - known:
        raise SystemExit(f"unknown targets {sorted(unknown)}; there are: {' '.join(sorted(known))}")
    wanted = {*names} or known
    return [t for t in targets if not wanted.isdisjoint((t.name, t.name.partition(".")[0]))]

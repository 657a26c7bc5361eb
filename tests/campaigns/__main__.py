"""`python -m tests.campaigns NAME`: long searches for what a short test may miss."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

#: Each module has `add_arguments(parser)` and `run(arguments)`, which returns the exit status.
CAMPAIGNS = {"load": "tests.campaigns.load"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns", description=__doc__)
    names = parser.add_subparsers(dest="name", required=True, metavar="NAME")
    for name, path in CAMPAIGNS.items():
        module = import_module(path)
        summary = (module.__doc__ or "").partition("\n")[0]
        module.add_arguments(
            names.add_parser(
                name, help=summary, description=module.__doc__,
                formatter_class=argparse.RawDescriptionHelpFormatter,
            )
        )  # fmt: skip
    arguments = parser.parse_args()
    return import_module(CAMPAIGNS[arguments.name]).run(arguments)


if __name__ == "__main__":
    sys.exit(main())

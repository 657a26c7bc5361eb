"""Runs a campaign by its name: `python -m tests.campaigns fuzz --bytes 1000000 --seed 0`."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

#: Name -> module, which has `add_arguments(parser)` and `run(arguments)`.
CAMPAIGNS = {"fuzz": "tests.campaigns.fuzz"}


def main() -> int:
    """Returns the exit status: 0 if nothing was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns")
    commands = parser.add_subparsers(dest="campaign", required=True)
    for name, module in CAMPAIGNS.items():
        campaign = import_module(module)
        campaign.add_arguments(commands.add_parser(name, help=campaign.__doc__))
    arguments = parser.parse_args()
    return import_module(CAMPAIGNS[arguments.campaign]).run(arguments)


if __name__ == "__main__":
    sys.exit(main())

"""`python -m tests.campaigns NAME ...`: long hunts for what no single test finds."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

#: What a campaign is called, its module, and what it does. The module has `add_arguments(parser)`
#: and `run(arguments) -> int`, which returns the exit status.
CAMPAIGNS = {
    "crash": ("tests.campaigns.crash.command", "end commands at random moments, and resume them"),
    "fuzz": ("tests.campaigns.fuzz", "give changed and random bytes to all that reads some"),
    "load": ("tests.campaigns.load", "ask exported models from many clients while versions change"),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns", description=__doc__)
    names = parser.add_subparsers(dest="name", required=True, metavar="NAME")
    for name, (module, purpose) in CAMPAIGNS.items():
        campaign = names.add_parser(name, help=purpose, description=purpose.capitalize() + ".")
        import_module(module).add_arguments(campaign)
    arguments = parser.parse_args()
    return import_module(CAMPAIGNS[arguments.name][0]).run(arguments)


if __name__ == "__main__":
    sys.exit(main())

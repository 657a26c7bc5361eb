"""The command line: the `charagram` command, and what turns settings into flags."""

from tf_charagram.cli.charagram import COMMANDS, main, usage

__all__ = ["COMMANDS", "main", "usage"]

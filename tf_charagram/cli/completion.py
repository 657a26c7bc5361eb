"""`charagram completion SHELL`: prints what makes a shell complete commands, flags and values.

The script calls `charagram` at every key press that asks for it, so that what is offered follows
from the settings, as the flags do. TensorFlow is not imported.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tf_charagram.cli.commands import run_command
from tf_charagram.cli.flags import FlagParser
from tf_charagram.extras import extra_module

SHELLS = ("bash", "zsh", "fish")


def make_parser() -> FlagParser:
    """Returns the command line."""
    parser = FlagParser(
        prog="charagram completion",
        description="Prints what makes a shell complete commands, flags and values. For bash, in "
        '~/.bashrc: eval "$(charagram completion bash)"; for zsh, in ~/.zshrc after compinit: '
        'eval "$(charagram completion zsh)"; for fish: charagram completion fish > '
        "~/.config/fish/completions/charagram.fish",
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell")
    return parser


def completion(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    values = make_parser().parse_args(arguments)
    argcomplete = extra_module("argcomplete", "completion")
    sys.stdout.write(argcomplete.shellcode(["charagram"], shell=values.shell))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(completion, arguments)

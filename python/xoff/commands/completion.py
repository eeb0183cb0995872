"""`xoff completion`: scripts for shells."""

from __future__ import annotations

import argparse

from xoff.commands.arguments import Parser
from xoff.terminal import say

HELP = "print the completion script of a shell"
EXAMPLE = "source <(xoff completion bash)"


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


def call(args: argparse.Namespace) -> int:
    """`xoff completion`: print the completion script of a shell."""
    from argcomplete.shell_integration import shellcode

    say(shellcode(["xoff"], shell=args.shell))
    return 0

"""`xoff doctor`: the state of an installation."""

from __future__ import annotations

import argparse
import json

from xoff.commands.arguments import Parser
from xoff.terminal import say

HELP = "say what is installed, and what is missing"
EXAMPLE = "xoff doctor"


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument("--json", action="store_true", help="print JSON lines")


def call(args: argparse.Namespace) -> int:
    """`xoff doctor`: what is installed; exit code 1 if something that xoff needs is missing."""
    from xoff import doctor as examining

    found = examining.examine()
    if args.json:
        for item in found:
            say(json.dumps(item._asdict()))
    else:
        say(examining.text(found))
    return 0 if all(item.state != examining.MISSING for item in found) else 1

"""`xoff allocator`: Flowtune's allocator for real hosts."""

from __future__ import annotations

import argparse
from contextlib import suppress

from xoff.commands.arguments import Parser
from xoff.terminal import say

HELP = "run Flowtune's allocator for real hosts, or look at it"
EXAMPLE = "xoff allocator /etc/xoff/allocator.toml"
DESCRIPTION = (
    "Runs until Ctrl-C or SIGTERM. The log goes to stderr, one JSON object per line. "
    "docs/deploy.md describes the configuration file."
)


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument("config", metavar="CONFIG", help="configuration file (TOML)")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--check", action="store_true", help="check the file and its keys, and exit"
    )
    instead.add_argument(
        "--view",
        action="store_true",
        help="show the running allocator of this file, each second; not on a terminal: once",
    )


def call(args: argparse.Namespace) -> int:
    """`xoff allocator`: run, check or show an allocator."""
    from xoff import engine

    if args.view:
        from xoff import allocator_view

        allocator_view.show(args.config)
    elif args.check:
        engine.allocator(args.config, only_check=True)
        say(f"{args.config}: good")
    else:
        with suppress(KeyboardInterrupt):  # the way to stop it
            engine.allocator(args.config)
    return 0

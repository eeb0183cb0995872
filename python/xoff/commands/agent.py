"""`xoff agent`: Flowtune's endpoint on this host."""

from __future__ import annotations

import argparse
import signal
from pathlib import Path

from xoff.commands.arguments import Parser
from xoff.errors import UsageError
from xoff.terminal import say

HELP = "pace this host's TCP connections at rates from an allocator (Linux, root)"
DESCRIPTION = (
    "Makes a congestion control with allocated rates the default of this network namespace, until "
    "SIGTERM, Ctrl-C or SIGHUP. See docs/deploy.md."
)
EXAMPLE = "xoff agent /etc/xoff/agent.toml"


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument("config", nargs="?", type=Path, metavar="CONFIG", help="settings (TOML)")
    parser.add_argument(
        "--cleanup",
        action="store_true",
        help="instead, undo what agents left that were killed by `kill -9`",
    )


def call(args: argparse.Namespace) -> int:
    """`xoff agent`: run until a signal, and restore the host; exit code 1 if it failed."""
    from xoff import engine

    if args.cleanup == (args.config is not None):
        raise UsageError("give a CONFIG to run an agent, or --cleanup without one")
    if args.cleanup:
        for name in engine.clean_up_agents():
            say(f"removed {name}")
        return 0
    # The agent handles them itself; Python would report an interruption afterwards.
    for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(kind, signal.SIG_DFL)
    engine.run_agent(args.config)
    return 0

"""`xoff new-scheme`: begin a congestion control outside xoff's sources."""

from __future__ import annotations

import argparse
from pathlib import Path

from xoff.commands.arguments import Parser
from xoff.terminal import say

HELP = "write the crate of a new congestion control"
DESCRIPTION = (
    "Write a Rust crate with a congestion control that works, its tests and a scenario. "
    "Built with Cargo, it is an engine that `xoff` loads when XOFF_ENGINE names it."
)
EXAMPLE = "xoff new-scheme mine"


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument("name", help="name of the scheme, e.g. mine")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder to write (default: NAME)")
    parser.add_argument(
        "--crates",
        type=Path,
        metavar="DIR",
        help="folder `crates` of a checkout of xoff to build against (default: this checkout, or "
        "the published crates)",
    )


def call(args: argparse.Namespace) -> int:
    """`xoff new-scheme`: write the crate, and say what to do next."""
    from xoff import new_scheme

    folder = args.out or Path(args.name)
    crates = args.crates or new_scheme.crates_of_checkout()
    for file in new_scheme.write(args.name, folder, crates):
        say(str(file))
    say(f"next: cd {folder} && cargo test; README.md there says how to run it with xoff")
    return 0

"""`xoff experiment`: experiments of one's own."""

from __future__ import annotations

import argparse

from xoff.commands import reproduce
from xoff.commands.arguments import Parser, place
from xoff.errors import UsageError

HELP = "run experiments of your own and draw their figures"
EXAMPLE = "xoff experiment scenarios/experiments/incast"


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "folder", type=place, help="folder with experiment.toml, or of several such folders"
    )
    reproduce.add_options(parser)


def call(args: argparse.Namespace) -> int:
    """`xoff experiment`: what `xoff reproduce` does, for experiments in a folder."""
    from xoff import papers

    root, name = papers.of_folder(args.folder)
    claims = root / name.split("/")[0] / "claims.toml"
    asked = [
        name
        for name in ("check", "json", "resume", "budget", "results", "page", "sensitivity")
        if getattr(args, name)
    ]
    if asked and not args.list and not claims.is_file():
        raise UsageError(f"--{asked[0]} needs claims, and {claims} does not exist")
    args.experiment = name
    return reproduce.call(args, root)

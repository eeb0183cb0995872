"""`xoff import`: a trace as a scenario."""

from __future__ import annotations

import argparse
from pathlib import Path

from xoff.commands.arguments import Parser
from xoff.errors import UsageError, writing
from xoff.terminal import complain, say

HELP = "turn a trace into a scenario, with comments on what each part became"
DESCRIPTION = (
    "Reads a Chakra execution trace (one of its files, or PREFIX of PREFIX.0.et), a GOAL schedule "
    "in text or binary form, or a CSV file of flows. The scenario has a network of fitting size."
)
EXAMPLE = "xoff import scenarios/pipeline.goal --out pipeline.toml"


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument("trace", type=Path, help="the file of the trace")
    parser.add_argument(
        "--scheme", default="dcqcn", help="the scheme to run it with (default: dcqcn)"
    )
    parser.add_argument(
        "--groups",
        metavar="FILE",
        help="the ranks of each communicator group of a Chakra trace (default: PREFIX.groups.json "
        "or PREFIX.json, if there is one)",
    )
    parser.add_argument(
        "--dscp-map",
        metavar="MAP",
        help='the class of each code point in a list of flows, such as "26:3, 46:5"',
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write the scenario there (default: print it)"
    )


def call(args: argparse.Namespace) -> int:
    """`xoff import`: write the scenario of a trace."""
    from xoff import importing
    from xoff.drafts import replace_text

    options = {"groups": args.groups, "dscp_map": args.dscp_map}
    given = {key: text for key, text in options.items() if text is not None}
    if args.out is None:
        say(importing.scenario_of(args.trace, Path(), args.scheme, given), end="")
        return 0
    if args.out.suffix != ".toml":
        raise UsageError(f"--out {args.out}: name a file that ends in .toml")
    if args.out.exists():
        raise UsageError(f"{args.out} exists: name another file, or remove it")
    text = importing.scenario_of(args.trace, args.out.parent, args.scheme, given)
    with writing(args.out):
        replace_text(args.out, text)
    complain(f"wrote {args.out}; next: xoff run {args.out}")
    return 0

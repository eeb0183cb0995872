"""`xoff check`: a scenario with every default."""

from __future__ import annotations

import argparse

from xoff import api, engine
from xoff.commands.arguments import (
    FILE,
    Parser,
    add_max_memory,
    add_set,
    add_topology,
    scenario_of,
    settings_of,
)
from xoff.errors import UsageError
from xoff.terminal import say

HELP = "validate a scenario, print it with every default"
EXAMPLE = "xoff check scenarios/first.toml --set scheme=hpcc"


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument("file", nargs="?", help=FILE)
    add_topology(parser)
    parser.add_argument(
        "--schema", action="store_true", help="print the JSON schema of scenarios and exit"
    )
    parser.add_argument(
        "--any-link",
        action="store_true",
        help="also look for pause cycles with each link between switches down in turn",
    )
    add_set(parser)
    add_max_memory(parser)


def call(args: argparse.Namespace) -> int:
    """`xoff check`: print the effective scenario and its backpressure graph, or the schema."""
    if args.schema:
        say(engine.schema())
        return 0
    if args.file is None:
        raise UsageError("name a scenario file, or use --schema")
    settings = settings_of(args)
    scenario = scenario_of(args.file)
    say(api.check(scenario, settings, args.max_memory), end="")
    cycles = api.backpressure(scenario, settings, args.any_link, args.max_memory)
    if cycles is not None:
        say("\n" + cycles, end="")
    return 0

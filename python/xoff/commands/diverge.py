"""`xoff diverge`: the first difference of two runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from xoff import source
from xoff.commands.arguments import Parser, add_set, positive
from xoff.progress import Line
from xoff.terminal import say

HELP = "find the first packet that differs between two runs"
EXAMPLE = "xoff diverge scenarios/first.toml --other-set seed=2"


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument("file", help="scenario of the first run")
    parser.add_argument(
        "other", nargs="?", help="scenario of the second run (default: the same file)"
    )
    add_set(parser, "a setting of both runs")
    parser.add_argument(
        "--other-set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a setting of the second run only, e.g. run.partitions=4 (repeatable)",
    )
    for name, run in (("--threads", "first"), ("--other-threads", "second")):
        parser.add_argument(
            name,
            type=positive,
            default=1,
            metavar="N",
            help=f"threads of the {run} run (default: 1)",
        )


def call(args: argparse.Namespace) -> int:
    """`xoff diverge`: report the first difference of two runs; exit code 1 if there is one."""
    from xoff import divergence

    first = source.read(Path(args.file))
    second = source.read(Path(args.other or args.file))
    one = divergence.Side(first.text, first.file, tuple(args.set), args.threads)
    overrides = (*args.set, *args.other_set)
    other = divergence.Side(second.text, second.file, overrides, args.other_threads)
    line = Line()

    def tick(sim_ps: int) -> None:
        if line.due():
            line.show(f"identical until {sim_ps / 1e9:.3f} ms")

    try:
        found = divergence.find(one, other, tick)
    finally:
        line.clear()
    if found is None:
        say("the runs agree: every node has the same events at the same times")
        return 0
    say(divergence.render(found, ("first run", "second run")), end="")
    return 1

"""`xoff timeline`: a run as a trace for Perfetto."""

from __future__ import annotations

import argparse
from pathlib import Path

from xoff.commands.arguments import Parser, place, positive
from xoff.errors import UsageError
from xoff.terminal import say

HELP = "write a finished run as a trace for ui.perfetto.dev"
DESCRIPTION = (
    "Flows are slices by sender, rounds and steps of jobs are slices by job, queues and pauses are "
    "counters. `run.port_samples` records the queues and pauses of all ports."
)
EXAMPLE = "xoff timeline out/first --out first.pftrace"
MOST = 200_000


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument("run", metavar="RUN_DIR", help="directory written by `xoff run`")
    parser.add_argument(
        "--out",
        type=place,
        default=Path("run.pftrace"),
        metavar="FILE",
        help="the trace to write (default: run.pftrace)",
    )
    parser.add_argument(
        "--most",
        type=positive,
        default=MOST,
        metavar="N",
        help=f"most flows, and most values of counters, the first ones (default: {MOST})",
    )


def call(args: argparse.Namespace) -> int:
    """`xoff timeline`: write a run as a trace for Perfetto."""
    from xoff import timeline
    from xoff.result import load

    if args.out.is_dir() or args.out.name in ("", ".."):
        raise UsageError(f"--out {args.out} is a folder; name a file, e.g. --out run.pftrace")
    for left_out in timeline.write(load(args.run), args.out, args.most):
        say(f"left out: {left_out} (--most {args.most})")
    say(str(args.out))
    return 0

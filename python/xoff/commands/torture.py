"""`xoff torture`: random scenarios."""

from __future__ import annotations

import argparse
from pathlib import Path

from xoff.commands.arguments import Parser, place, positive, positive_number
from xoff.cores import cores
from xoff.progress import Line
from xoff.terminal import say

MEMORY_OF_A_WORLD = 4 << 30
HELP = "run random scenarios, partitioned and threaded in ways that must agree"
EXAMPLE = "xoff torture --minutes 10 --seed 7"


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--minutes", type=positive_number, default=2.0, help="duration (default: 2)"
    )
    parser.add_argument("--first", action="store_true", help="stop at the first failure")
    parser.add_argument(
        "--seed", type=int, default=1, help="seed of the random scenarios (default: 1)"
    )
    parser.add_argument(
        "--against",
        metavar="WHEEL_OR_CHECKOUT",
        help="compare digests with another build of xoff instead of partitions and threads",
    )
    parser.add_argument(
        "--world", type=int, metavar="N", help="write random scenario N to a file and exit"
    )
    parser.add_argument(
        "--out",
        type=place,
        default=Path("out/torture"),
        metavar="DIR",
        help="directory of failing scenarios (default: out/torture)",
    )
    parser.add_argument(
        "--jobs",
        type=positive,
        metavar="N",
        help="concurrent scenarios (default: one per core)",
    )
    parser.add_argument(
        "--budget",
        type=positive_number,
        default=10.0,
        metavar="SECONDS",
        help="time limit of one run (default: 10); a scenario that exceeds it is counted "
        "but not compared",
    )


def call(args: argparse.Namespace) -> int:
    """`xoff torture`: run random scenarios; exit code 1 if any fails."""
    from xoff.torture import campaign
    from xoff.torture.pool import unpacked

    with unpacked(args.against) as other:
        limits = campaign.Limits(args.budget, MEMORY_OF_A_WORLD, other)
        found = campaign.Campaign(args.seed, limits, args.out, args.jobs or cores())
        if args.world is not None:
            say(str(found.write(args.world)))
            return 0
        line = Line()

        def tick(tally: campaign.Tally) -> None:
            if line.due():
                refused = tally.statuses["refused"]
                line.show(
                    f"{tally.worlds:,} worlds, {refused:,} refused, {len(tally.failures)} failed"
                )

        try:
            found.run(args.minutes, tick, args.first)
        finally:
            line.clear()
            say(campaign.render(found.tally, args.seed), end="", flush=True)
    return 1 if found.tally.failures else 0

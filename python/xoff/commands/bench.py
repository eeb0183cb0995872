"""`xoff bench`: the speed of the engine."""

from __future__ import annotations

import argparse
import json

from xoff.commands.arguments import Parser, numbers, positive
from xoff.cores import cores
from xoff.errors import UsageError
from xoff.terminal import say

HELP = "measure the speed of the engine"
EXAMPLE = "xoff bench 'bfc-*-128' --threads 1,2 --repeat 5"


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "cases",
        nargs="*",
        metavar="CASE",
        help="case (scheme-traffic-hosts), pattern such as 'bfc-*-128', alloc (Flowtune's "
        "allocator), control (its daemon), or stress (every preset on hard shapes) with patterns "
        "such as 'bfc-*'",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    parser.add_argument("--list", action="store_true", help="list the cases and exit")
    parser.add_argument(
        "--threads",
        type=numbers,
        metavar="N[,N...]",
        help="measure with up to N threads, for each N (default: all cores)",
    )
    parser.add_argument(
        "--estimate",
        action="store_true",
        help="run on one thread and estimate the time with N cores, for each N above 1",
    )
    parser.add_argument(
        "--repeat",
        type=positive,
        default=1,
        metavar="N",
        help="run each case N times, alternating over cases; times are medians",
    )


def call(args: argparse.Namespace) -> int:
    """`xoff bench`: print a table, or one line of JSON per case and number of threads."""
    from xoff import bench as benchmark

    if args.estimate and args.cases[:1] in (["alloc"], ["control"], ["stress"]):
        raise UsageError("`--estimate` is for cases; `xoff bench --list` lists them")
    if args.cases == ["alloc"]:
        return _bench_alloc(args)
    if args.cases == ["control"]:
        return _bench_control(args)
    if args.cases[:1] == ["stress"]:
        return _bench_stress(args)
    if args.list:
        say("\n".join(benchmark.cases(args.cases or ["*"])))
        return 0
    if not args.cases:
        raise UsageError(
            "name a case or a pattern, such as bfc-google-128 or 'bfc-*-128'; "
            "`xoff bench --list` lists the cases"
        )
    if args.estimate and max(args.threads or [cores()]) == 1:
        raise UsageError("`--estimate` needs a number of cores above 1, such as --threads 16")
    measured = benchmark.measure(
        benchmark.cases(args.cases), args.threads or [cores()], args.repeat, args.estimate
    )
    if args.json:
        for found in measured:
            say(json.dumps(found), flush=True)
    else:
        say(benchmark.table_text(measured))
    return 0


def _bench_stress(args: argparse.Namespace) -> int:
    from xoff import bench_stress

    if args.threads not in (None, [1]):
        raise UsageError("bench stress measures on one thread; leave --threads out")
    chosen = bench_stress.cases(args.cases[1:])
    if args.list:
        say("\n".join(f"{preset}-{shape}" for shape, preset in chosen))
        return 0
    measured = bench_stress.measure(chosen, args.repeat)
    if args.json:
        for row in measured:
            say(row.as_json(), flush=True)
    else:
        say(bench_stress.table_text(list(measured)))
    return 0


def _bench_control(args: argparse.Namespace) -> int:
    from xoff import bench_control

    if args.threads not in (None, [1]):
        raise UsageError("bench control measures an allocator on one thread; leave --threads out")
    if args.list:
        say("control")
        return 0
    measured = bench_control.measure(args.repeat)
    if args.json:
        for found in measured:
            say(json.dumps(found), flush=True)
    else:
        say(bench_control.table_text(list(measured)))
    return 0


def _bench_alloc(args: argparse.Namespace) -> int:
    from xoff import bench_alloc

    if args.list:
        say("alloc")
        return 0
    threads = args.threads or list(range(1, cores() + 1))
    measured = bench_alloc.measure(threads, args.repeat)
    if args.json:
        for found in measured:
            say(json.dumps(found), flush=True)
    else:
        say(bench_alloc.table_text(list(measured)))
    return 0

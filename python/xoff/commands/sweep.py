"""`xoff sweep`: a grid of settings."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xoff import extras
from xoff.budget import Budget
from xoff.commands.arguments import (
    Parser,
    add_budget,
    add_jobs,
    add_max_memory,
    add_set,
    place,
    positive,
)
from xoff.errors import UsageError, writing
from xoff.terminal import complain, say
from xoff.text import jsonable

HELP = "run a grid of settings, tabulate and draw the results"
EXAMPLE = "xoff sweep scenarios/sweeps/load.toml --seeds 5"


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument("file", help="sweep (TOML), e.g. scenarios/sweeps/load.toml")
    parser.add_argument(
        "--out", type=place, metavar="DIR", help="folder of the results (default: out/<sweep>)"
    )
    add_set(parser, "a setting of every run", "run.measure=1ms")
    parser.add_argument(
        "--seeds", type=positive, metavar="N", help="run every point with seeds 1 to N"
    )
    add_jobs(parser)
    add_max_memory(parser)
    add_budget(parser, "each run")
    parser.add_argument(
        "--level",
        action="append",
        default=[],
        metavar="MEASURE=VALUE",
        help="find where this measure passes this value, e.g. p99=3 or delay=10us (repeatable)",
    )
    parser.add_argument(
        "--relative-to",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="show measures also relative to the point with this setting, paired by seed "
        "(repeatable)",
    )
    parser.add_argument(
        "--relation",
        choices=("ratio", "difference"),
        help="what to show with --relative-to (default: ratio)",
    )
    parser.add_argument("--x", metavar="KEY", help="draw along this setting")
    parser.add_argument("--y", metavar="MEASURE", help="draw this measure only")
    parser.add_argument("--again", action="store_true", help="run what failed before once more")
    parser.add_argument("--json", action="store_true", help="print the table as JSON lines")
    elsewhere = parser.add_mutually_exclusive_group()
    elsewhere.add_argument("--list", action="store_true", help="list the runs, and exit")
    elsewhere.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="run on the workers of this Dask scheduler (tcp://HOST:PORT or a scheduler file)",
    )
    elsewhere.add_argument(
        "--emit",
        choices=("slurm",),
        help="write the unfinished runs as an array job of Slurm, and exit",
    )


def call(args: argparse.Namespace) -> int:
    """`xoff sweep`: run a grid of settings; exit code 1 if any run failed."""
    from xoff import sweeps as sweeping

    _refuse_unused(args)
    if args.list or args.emit:
        return _sweep_unrun(args)
    for option, value in (("--x", args.x), ("--y", args.y)):
        if value is not None:
            extras.need(extras.PLOT, option)
    options: dict[str, Any] = {
        "set": args.set,
        "seeds": args.seeds,
        "slots": args.jobs,
        "again": args.again,
        "levels": _named(args.level, "--level", "MEASURE=VALUE"),
        "relative_to": _named(args.relative_to, "--relative-to", "KEY=VALUE"),
        "relation": args.relation,
        "x": args.x,
        "y": args.y,
        "max_memory": args.max_memory,
        "max_wall": args.max_wall,
        "max_packet_hops": args.max_packet_hops,
        "progress": not args.json,
    }
    if args.dask is None:
        found = sweeping.sweep(args.file, args.out, **options)
    else:
        from xoff.sweeps import on_dask

        with on_dask.connected(args.dask) as client:
            found = sweeping.sweep(args.file, args.out, client=client, **options)
    if args.json:
        for row in found.table.to_pylist():
            say(json.dumps({key: _json(value) for key, value in row.items()}, allow_nan=False))
        for crossing in found.crossings:
            say(json.dumps({"crossing": crossing.as_json()}, allow_nan=False))
    else:
        say(found.text, end="")
        say("\n" + "\n".join(str(file) for file in found.files))
    for title, failure in found.failures.items():
        complain(f"run `{title}` failed: {failure}")
    return 1 if found.failures else 0


def _named(given: Sequence[str], option: str, form: str) -> dict[str, str]:
    """Parse `NAME=VALUE`; the name ends at the last `=`. Raises `UsageError`."""
    from xoff.strict import refuse_twins

    parts = [one.rpartition("=") for one in given]
    for one, (name, _, value) in zip(given, parts, strict=True):
        if not (name and value):
            raise UsageError(f"{option} {one}: expected {form}")
    refuse_twins((name for name, _, _ in parts), f"{option}: given twice:")
    return {name: value for name, _, value in parts}


def _json(value: Any) -> Any:
    return jsonable(value) if isinstance(value, float) else value


def _sweep_unrun(args: argparse.Namespace) -> int:
    """List the runs, or write them as commands for a batch system."""
    from xoff import sweeps as sweeping

    prepared = sweeping.prepare(Path(args.file), args.out, args.set, args.seeds, args.max_memory)
    prepared.limit(Budget.of(args.max_wall, args.max_packet_hops))
    if args.list:
        prepared.skip_failed(again=False)
        for job in prepared.planned:
            state = "failed" if job.failure else "finished" if job.done else "to run"
            say(f"{state:8}  {', then '.join(point.title for point in job.points)}")
        return 0
    from xoff.sweeps import on_slurm, placing

    with writing(prepared.out, UsageError):
        (prepared.out / placing.RUNS).mkdir(parents=True, exist_ok=True)
    files = on_slurm.emit(prepared.planned, prepared.out, _collect(args, prepared.out))
    say("\n".join(map(str, files)) or "every run is finished: nothing to submit")
    return 0


def _collect(args: argparse.Namespace, out: Path) -> list[str]:
    """Return the command that collects the results of an array."""
    command = ["xoff", "sweep", os.path.abspath(args.file), "--out", str(out)]
    for override in args.set:
        command += ["--set", override]
    for option, value in (("--seeds", args.seeds), ("--max-memory", args.max_memory)):
        if value is not None:
            command += [option, str(value)]
    return [*command, *Budget.of(args.max_wall, args.max_packet_hops).options()]


def _refuse_unused(args: argparse.Namespace) -> None:
    """Refuse options that mean nothing with another one. Raises `UsageError`."""
    unrun = "--list" if args.list else "--emit" if args.emit else None
    given = {
        "--x": args.x,
        "--y": args.y,
        "--json": args.json,
        "--again": args.again,
        "--level": args.level,
        "--relative-to": args.relative_to,
        "--relation": args.relation,
        "--jobs": args.jobs,
    }
    for option, value in given.items():
        if unrun and value:
            raise UsageError(f"{option} has no effect with {unrun}, which runs nothing")
    if args.dask is not None and args.jobs is not None:
        raise UsageError("--jobs has no effect with --dask: the cluster decides how many runs")

"""`xoff lab`: real hosts in network namespaces of this machine."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from xoff import extras
from xoff.commands.arguments import Parser, place, positive
from xoff.drafts import draft_of, replace_text
from xoff.errors import UsageError, writing
from xoff.lab import schemes
from xoff.terminal import complain, say

HELP = "build hosts from network namespaces and run experiments on them (Linux, root)"
DESCRIPTION = (
    "`up` builds hosts around a switch, `run` runs an experiment on them, `plot` draws it, `down` "
    "removes everything that belongs to the laboratory, also what `kill -9` left. See "
    "docs/deploy.md."
)
EXAMPLE = "xoff lab up 8to1"
EXPERIMENTS = ("fig06", "fig07", "settling", "kills", "faults")


def add(parser: Parser) -> None:
    """Add the arguments."""
    actions = parser.add_subparsers(dest="what", metavar="up|run|down|plot", required=True)
    up = actions.add_parser("up", help="build a set-up")
    up.add_argument("setup", metavar="SETUP", help="8to1: eight senders and a receiver, 1 Gb/s")
    run = actions.add_parser("run", help="run an experiment")
    run.add_argument("experiment", choices=EXPERIMENTS, help="what to run")
    run.add_argument(
        "--runs", type=positive, default=5, metavar="N", help="repetitions (default: 5)"
    )
    run.add_argument(
        "--scheme",
        action="append",
        choices=schemes.SCHEMES,
        help="schemes that take turns (repeatable; default: those of them that the kernel has)",
    )
    run.add_argument("--seed", type=int, default=1, help="seed of kills and losses (default: 1)")
    run.add_argument("--out", type=place, metavar="FILE", help="write the results to a JSON file")
    actions.add_parser("down", help="remove the laboratory")
    plot = actions.add_parser("plot", help="draw results next to the simulator's (needs no root)")
    plot.add_argument("fig06", type=Path, metavar="FIG06", help="results of fig06 (JSON)")
    plot.add_argument("fig07", type=Path, metavar="FIG07", help="results of fig07 (JSON)")
    plot.add_argument("out", type=place, metavar="PNG", help="figure to write")


def call(args: argparse.Namespace) -> int:
    """`xoff lab`: exit code 1 if something went wrong in `kills`."""
    if args.what == "plot":
        return _plot(args)
    from xoff.lab import network

    if args.what == "up":
        if args.setup not in network.SETUPS:
            raise UsageError(f"no set-up `{args.setup}`; there is {', '.join(network.SETUPS)}")
        setup = network.up(args.setup)
        say(f"{setup.senders} senders and a receiver are up; `xoff lab down` removes them")
        return 0
    reason = network.unavailable()
    if reason:
        raise UsageError(reason)
    if args.what == "down":
        network.down()
        return 0
    return _run(args)


def _run(args: argparse.Namespace) -> int:
    from xoff.lab import experiments, faults, kills, network, record, stages

    if args.out is not None and not args.out.parent.is_dir():
        raise UsageError(f"cannot write {args.out}: the folder {args.out.parent} does not exist")
    setup = network.current()
    if network.processes():
        raise UsageError("another experiment runs: wait, or call `xoff lab down`")
    result: dict[str, Any]
    before = os.getloadavg()[0]
    try:
        if args.experiment == "kills":
            result = kills.kills(setup, args.runs, args.seed, complain)
        elif args.experiment == "settling":
            result = stages.settling(setup, args.runs, complain)
        elif args.experiment == "faults":
            result = faults.faults(setup, args.runs, args.seed, complain)
        else:
            experiment = getattr(experiments, args.experiment)
            taken = schemes.available(args.scheme, complain)
            result = experiment(setup, taken, args.runs, complain)
    finally:
        network.end_processes()
    _write(record.text(result, _command(args), (before, os.getloadavg()[0])), args.out)
    return 1 if result.get("problems") else 0


def _plot(args: argparse.Namespace) -> int:
    extras.need(extras.PLOT, "`xoff lab plot`")
    from xoff.lab import figure

    results = []
    for path in (args.fig06, args.fig07):
        try:
            results.append(json.loads(path.read_text()))
        except (OSError, ValueError) as error:
            raise UsageError(f"{path}: {error}") from error
    try:
        drawn = figure.figure(*results)
    except KeyError as error:
        raise UsageError(
            f"{args.fig06} and {args.fig07} have no {error} of both schemes"
        ) from error
    with writing(args.out), draft_of(args.out) as draft:
        drawn.savefig(draft, dpi=110)
    return 0


def _command(args: argparse.Namespace) -> str:
    """Return the command without its output file."""
    chosen = "".join(f" --scheme {scheme}" for scheme in args.scheme or ())
    seed = "" if args.seed == 1 else f" --seed {args.seed}"
    return f"xoff lab run {args.experiment} --runs {args.runs}{chosen}{seed}"


def _write(text: str, out: Path | None) -> None:
    if out is None:
        say(text, end="")
        return
    with writing(out):
        replace_text(out, text)

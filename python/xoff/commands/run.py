"""`xoff run`: simulate a scenario."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from xoff import api, engine
from xoff.commands.arguments import (
    FILE,
    Parser,
    add_budget,
    add_max_memory,
    add_set,
    add_topology,
    place,
    port,
    positive,
    scenario_of,
    settings_of,
)
from xoff.errors import EndedEarly, InvariantError, UsageError
from xoff.estimate import Estimate
from xoff.progress import JsonProgress, Line, RunProgress
from xoff.terminal import complain, say

HELP = "simulate a scenario, write a run directory"
EXAMPLE = "xoff run scenarios/first.toml --set scheme=bfc --out out/first-bfc"


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument("file", help=FILE)
    add_topology(parser)
    parser.add_argument(
        "--out", type=place, metavar="DIR", help="run directory (default: out/<scenario>)"
    )
    add_set(parser)
    add_max_memory(parser)
    add_budget(parser)
    parser.add_argument(
        "--check-invariants",
        action="store_true",
        help="check the state of the simulation as it advances (run.check_invariants); a violation "
        "ends the run (exit code 4)",
    )
    parser.add_argument(
        "--threads",
        type=positive,
        metavar="N",
        help="use up to N threads (default: all cores); results are the same for any N",
    )
    parser.add_argument(
        "--live",
        action="store_true",
        help="serve the report of the run on this machine while it advances, at a secret address",
    )
    parser.add_argument(
        "--live-port",
        type=port,
        default=0,
        metavar="PORT",
        help="port of the live report (default: a free one)",
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--quiet", action="store_true", help="print only errors")
    shown.add_argument(
        "--progress-json", action="store_true", help="print progress as JSON lines on stdout"
    )
    parser.set_defaults(lean=True)


def call(args: argparse.Namespace) -> int:
    """`xoff run`: simulate, write the run directory, print the summary."""
    out = args.out or _default_out(Path(args.file))
    line = Line(quiet=args.quiet)
    report = JsonProgress() if args.progress_json else RunProgress(line)
    command = ["xoff", *sys.argv[1:]]
    # The note on the number of threads is only for users who set --threads.
    note = _note_on(line) if args.threads else None
    try:
        with _live_view(args, out, line) as watcher:
            settings = settings_of(args)
            if args.check_invariants:
                settings.append("run.check_invariants=true")
            result = api.run(
                scenario_of(args.file),
                out,
                settings,
                report,
                command,
                threads=args.threads,
                note=note,
                max_memory=args.max_memory,
                watcher=watcher,
                max_wall=args.max_wall,
                max_packet_hops=args.max_packet_hops,
                # What another program reads on stderr are errors.
                expect=None if args.progress_json else _expect_on(line),
            )
    except InvariantError as violation:
        again = shlex.join(command)
        if not args.check_invariants:
            again += " --check-invariants"
        raise InvariantError(f"{violation}\n  reproduce it: {again}") from None
    except EndedEarly as early:
        line.clear()
        if early.result is not None and _shows_results(args):
            from xoff import summary

            say(summary.render(early.result), end="", flush=True)
        raise
    finally:
        line.clear()
    if _shows_results(args):
        from xoff import reference, summary

        say(summary.render(result), end="")
        say(reference.report(Path(args.file), result), end="")
        say(f"\nresults in {result.path}")
    return 0


def _shows_results(args: argparse.Namespace) -> bool:
    return not args.quiet and not args.progress_json


def _live_view(
    args: argparse.Namespace, out: Path, line: Line
) -> AbstractContextManager[engine.Watcher | None]:
    """Return the live page of a run; nothing without `--live`."""
    if not args.live:
        if args.live_port:
            raise UsageError("--live-port requires --live")
        return nullcontext()
    from xoff.html_report.live import LiveView

    def announce(url: str) -> None:
        # Also with --quiet: without the address the page is of no use.
        line.clear()
        complain(f"live report: {url}")

    return LiveView(out, announce, args.live_port)


def _note_on(line: Line) -> Callable[[str], None]:
    return lambda text: line.note(f"xoff: note: {text}")


def _expect_on(line: Line) -> Callable[[Estimate], None]:
    return lambda found: line.note(f"xoff: note: {found.text}")


def _default_out(file: Path) -> Path:
    if str(file) == "-":
        return Path("out") / "stdin"
    # An HPCC case always has a config.txt; the name of the case is that of its folder.
    stem = file.resolve().parent.name if file.name == "config.txt" else file.stem
    return Path("out") / stem

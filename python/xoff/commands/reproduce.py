"""`xoff reproduce`: experiments of the papers."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xoff.commands.arguments import (
    Parser,
    add_budget,
    add_jobs,
    add_max_memory,
    add_set,
    place,
    positive,
    positive_number,
)
from xoff.errors import UsageError
from xoff.progress import Line
from xoff.terminal import say

if TYPE_CHECKING:
    from xoff.reproduce_paper import Keeping

HELP = "run experiments of a paper, or the gallery of all schemes"
EXAMPLE = "xoff reproduce bfc/fig09 --check"


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "experiment",
        nargs="?",
        metavar="PAPER[/EXPERIMENT]",
        help="e.g. bfc (all experiments of the paper), bfc/fig09 or gallery; see --list",
    )
    add_options(parser)


def add_options(again: Parser) -> None:
    """Add the options of experiments, of papers or one's own."""
    again.add_argument(
        "--scale",
        choices=("quick", "paper"),
        default="quick",
        help="quick: shorter runs and fewer sweep points (default); paper: full length",
    )
    again.add_argument(
        "--check", action="store_true", help="compare the paper's claims with the measurements"
    )
    again.add_argument(
        "--json",
        action="store_true",
        help="print the checked claims as JSON (implies --check), or what --list lists",
    )
    again.add_argument(
        "--out",
        type=place,
        metavar="DIR",
        help="output directory (default: out/PAPER, or out/PAPER/EXPERIMENT-SCALE)",
    )
    add_jobs(again)
    add_max_memory(again)
    add_budget(again, "each run")
    again.add_argument(
        "--list",
        action="store_true",
        help="list the experiments with their cost at this scale, and exit",
    )
    again.add_argument(
        "--relative-to",
        metavar="CASE",
        help="add a table of every case relative to this one, paired by seed",
    )
    _add_keeping(again)
    _add_changes(again)


def _add_keeping(again: Parser) -> None:
    again.add_argument(
        "--page",
        type=place,
        metavar="DIR",
        help="write DIR/PAPER.md with all recorded figures and claims of the paper (implies "
        "--check)",
    )
    again.add_argument(
        "--results",
        type=place,
        metavar="FILE",
        help="results file, updated after each experiment (default: out/PAPER/results-SCALE.json; "
        "implies --check)",
    )
    again.add_argument(
        "--resume",
        action="store_true",
        help="leave out experiments that the results file already has (implies --check); finished "
        "runs are never repeated",
    )


def _add_changes(again: Parser) -> None:
    again.add_argument(
        "--seeds", type=positive, metavar="N", help="run every case with at least N seeds"
    )
    again.add_argument(
        "--budget",
        type=positive_number,
        metavar="MINUTES",
        help="add seeds to the cases of undecided claims for up to MINUTES per experiment "
        "(implies --check)",
    )
    add_set(again, "a setting of every case that has it", "run.measure=1ms")
    again.add_argument(
        "--reading",
        action="append",
        default=[],
        metavar="READING=CANDIDATE",
        help="choose another candidate of the paper's readings.toml (repeatable)",
    )
    again.add_argument(
        "--sensitivity",
        action="store_true",
        help="check the claims under every candidate of readings.toml in turn; with --results, "
        "keep the verdicts in that file",
    )


def call(args: argparse.Namespace, root: Path | None = None) -> int:
    """`xoff reproduce`: run experiments, draw them, check their claims."""
    from xoff import catalogue, extras, reproduce_report
    from xoff.reproduce import Outcome
    from xoff.reproduce_paper import Keeping, reproduce_all

    if args.list and args.json:
        say(json.dumps(catalogue.listed(args.experiment, args.scale, root), indent=2))
        return 0
    if args.list:
        say(catalogue.text(args.experiment, args.scale, root), end="")
        return 0
    if args.experiment is None:
        raise UsageError("name a paper or PAPER/EXPERIMENT; `xoff reproduce --list` lists them")
    if args.page is not None:
        extras.need(extras.PLOT, "--page")
    keeping = Keeping(args.results, args.resume, args.page)
    checked = args.check or args.budget is not None or keeping != Keeping()
    options: dict[str, Any] = {
        "scale": args.scale,
        "out": args.out,
        "root": root,
        "check": checked or args.json,
        "slots": args.jobs,
        "max_memory": args.max_memory,
        "max_wall": args.max_wall,
        "max_packet_hops": args.max_packet_hops,
        "settings": tuple(args.set),
        "chosen": _chosen(args.reading),
        "seeds": args.seeds,
        "relative_to": args.relative_to,
        "budget_s": 60.0 * (args.budget or 0.0),
    }
    line = Line()
    if not extras.has(extras.PLOT):
        line.note(extras.without_figures())
    if args.sensitivity:
        return _sensitivity(args, options, keeping, line)

    def show(outcome: Outcome) -> None:
        if args.json:
            return
        say(reproduce_report.table_text(outcome.experiment, outcome.results), end="")
        if checked:
            say("\n" + reproduce_report.claims_text(outcome), end="")
        say("")
        for file in outcome.files:
            say(f"{'table: ' if file.suffix == '.md' else 'figure:'} {file}", flush=True)

    outcomes = reproduce_all(args.experiment, show, line, keeping, **options)
    if args.json:
        found = [reproduce_report.as_json(outcome) for outcome in outcomes]
        one = found[0] if "/" in args.experiment.strip("/") else found
        say(json.dumps(one, indent=2, allow_nan=False))
    return 0


def _chosen(given: Iterable[str]) -> dict[str, str]:
    """Parse `READING=CANDIDATE`. Raises `UsageError`."""
    from xoff.strict import refuse_twins

    for one in given:
        if "=" not in one:
            raise UsageError(f"--reading {one}: expected READING=CANDIDATE")
    parts = [one.partition("=") for one in given]
    refuse_twins((reading for reading, _, _ in parts), "--reading: given twice:")
    return {reading: value for reading, _, value in parts}


def _sensitivity(
    args: argparse.Namespace, options: dict[str, Any], keeping: Keeping, line: Line
) -> int:
    from xoff import sensitivity

    if options["chosen"]:
        raise UsageError("--sensitivity tries every candidate: leave out --reading")
    show = (lambda _text: None) if args.json else (lambda text: say(text, end="", flush=True))
    trials = sensitivity.sensitivity(args.experiment, show, line, keeping, **options)
    if args.json:
        say(json.dumps(sensitivity.as_json(trials), indent=2, allow_nan=False))
    elif not trials:
        say("no reading changes a run of these experiments")
    return 0

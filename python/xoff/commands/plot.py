"""`xoff plot`: runs in one figure."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from xoff import extras
from xoff.commands.arguments import Parser, add_runs, label_of
from xoff.errors import UsageError
from xoff.terminal import say

if TYPE_CHECKING:
    from xoff.result import Result

HELP = "compare finished runs in one figure"
DESCRIPTION = "Runs that differ only in their seed are drawn as one curve, their mean."
EXAMPLE = "xoff plot out/first out/first-bfc --out compare"


def add(parser: Parser) -> None:
    """Add the arguments."""
    add_runs(parser, "plot", "STEM", "write STEM.svg and STEM.png")
    parser.add_argument(
        "--class",
        dest="cls",
        metavar="NAME",
        help="draw the slowdowns of this class (default: the first that is not an incast)",
    )


def call(args: argparse.Namespace) -> int:
    """`xoff plot`: draw finished runs in one figure."""
    from xoff.result import load

    extras.need(extras.PLOT, "`xoff plot`")
    if args.out.name in ("", ".."):
        raise UsageError(f"--out {args.out} is a folder; give the figure's name, e.g. --out plot")
    loaded = {label_of(folder, args.runs): load(folder) for folder in args.runs}
    known = dict.fromkeys(cls for run in loaded.values() for cls in run.classes)
    if args.cls not in (None, *known):
        raise UsageError(f"no run has a class {args.cls}; there are {', '.join(known)}")
    from xoff import plots

    results = _by_seed(loaded)
    stem = args.out.with_suffix("") if args.out.suffix in (".svg", ".png") else args.out
    for file in plots.save(plots.overview(results, args.cls), stem):
        say(str(file))
    return 0


def _by_seed(results: dict[str, Result]) -> dict[str, list[Result]]:
    """Join runs that differ in nothing but their seed: they are drawn as one curve, their mean."""
    from xoff.side_by_side import by_seed

    labels = {id(run): label for label, run in results.items()}
    found = {}
    for group in by_seed(list(results.values())):
        more = f" ({len(group)} seeds)" if len(group) > 1 else ""
        found[labels[id(group[0])] + more] = group
    return found

"""`xoff compare-reference`: cases of other simulators."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from xoff import extras
from xoff.commands.arguments import Parser, place, positive, share
from xoff.progress import Line
from xoff.terminal import say

HELP = "run cases of another simulator, compare every flow"
DESCRIPTION = (
    "Exit status 1 if a flow is missing or its completion time differs by more than the tolerance."
)
EXAMPLE = "xoff compare-reference python/tests/data/htsim"


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "folder",
        type=Path,
        metavar="FOLDER",
        help="case (config.txt and fct.txt of the HPCC simulator, or flows.csv, fct.csv and "
        "params.json), or folder of cases",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per case")
    parser.add_argument(
        "--tolerance",
        type=share,
        default=0.0,
        metavar="SHARE",
        help="largest relative error of a flow's completion time (default: 0, equal)",
    )
    parser.add_argument(
        "--out",
        type=place,
        default=Path("out/compare-reference"),
        metavar="DIR",
        help="folder for the runs (default: out/compare-reference)",
    )
    parser.add_argument(
        "--page",
        type=Path,
        metavar="FILE",
        help="write a page with a table and pictures of the errors; reasons come from the TOML "
        "file of the same name",
    )
    parser.add_argument("--threads", type=positive, metavar="N", help="use up to N threads")


def call(args: argparse.Namespace) -> int:
    """`xoff compare-reference`: print a row per case; 1 if one is not within the tolerance."""
    from xoff import compare_reference as comparing
    from xoff import fidelity_page

    if args.page is not None:
        extras.need(extras.PLOT, "--page")
    reasons = fidelity_page.read_reasons(args.page) if args.page is not None else {}
    line, cases = Line(), []
    for case in comparing.run(args.folder, args.out, args.threads):
        cases.append(case)
        if args.json:
            say(json.dumps(case.figures()), flush=True)
        else:
            line.show(f"compare-reference  {len(cases)} cases done")
    line.clear()
    if args.page is not None:
        fidelity_page.write(cases, args.page, reasons)
    if not args.json:
        say(comparing.table_text(cases))
        for case in cases:
            if case.note:
                say(f"{case.name}: {case.note}")
    return 0 if all(case.within(args.tolerance) for case in cases) else 1

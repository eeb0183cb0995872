"""`xoff report`: runs as one HTML page."""

from __future__ import annotations

import argparse

from xoff.commands.arguments import Parser, add_runs, label_of
from xoff.errors import UsageError, writing
from xoff.terminal import say

HELP = "write finished runs as one HTML page with charts and the fabric over time"
DESCRIPTION = (
    "The page works offline and contains all of its data. `run.port_samples` records what the "
    "fabric over time needs, `run.flow_series` the rates of flows. A run that ended early by its "
    "budget can be shown, too, as DIR.partial; the page says so."
)
EXAMPLE = "xoff report out/first out/first-bfc --out compare.html"


def add(parser: Parser) -> None:
    """Add the arguments."""
    add_runs(parser, "report.html", "FILE", "the page to write")


def call(args: argparse.Namespace) -> int:
    """`xoff report`: write finished runs as one HTML page."""
    from xoff.drafts import replace_text
    from xoff.html_report import document, payload
    from xoff.result import load

    if args.out.is_dir() or args.out.name in ("", ".."):
        raise UsageError(f"--out {args.out} is a folder; name a file, e.g. --out report.html")
    results = {label_of(folder, args.runs): load(folder, partial=True) for folder in args.runs}
    page = document.html(payload.of_results(results))
    with writing(args.out):
        args.out.parent.mkdir(parents=True, exist_ok=True)
        replace_text(args.out, page)
    say(str(args.out))
    return 0

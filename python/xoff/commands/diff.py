"""`xoff diff`: what differs between two scenarios or runs."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from xoff.commands.arguments import Parser
from xoff.terminal import say
from xoff.text import table

HELP = "show in which settings two scenarios or runs differ"
DESCRIPTION = (
    "Compares every setting in force, also defaults and derived values. Exit status 1 if any "
    "differs, or if two runs of the same settings have different digests."
)
EXAMPLE = "xoff diff scenarios/first.toml scenarios/first.toml --other-set scheme=bfc"


def add(parser: Parser) -> None:
    """Add the arguments."""
    for name in ("one", "other"):
        parser.add_argument(
            name, type=Path, help="scenario (TOML), or directory written by `xoff run`"
        )
    for option, which in (("--set", "first"), ("--other-set", "second")):
        parser.add_argument(
            option,
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help=f"override a setting of the {which} scenario (repeatable)",
        )
    parser.add_argument("--json", action="store_true", help="print one JSON object per setting")


def call(args: argparse.Namespace) -> int:
    """Print the settings that differ; return 1 if any does."""
    from xoff.html_report.scenarios import differences

    sides = [_read(args.one, args.set), _read(args.other, args.other_set)]
    rows = differences([effective for effective, _ in sides])
    digests = [digest for _, digest in sides]
    if not rows and None not in digests and len(set(digests)) > 1:
        rows = [{"key": "digest", "values": digests}]
    if args.json:
        for row in rows:
            say(json.dumps(row))
    elif rows:
        names = ("setting", str(args.one), str(args.other))
        say(table(names, [(row["key"], *row["values"]) for row in rows], left=3))
    else:
        say("no setting differs")
    return 1 if rows else 0


def _read(path: Path, overrides: list[str]) -> tuple[str, str | None]:
    """Return the effective scenario, and the digest of a run. Raises `UsageError`."""
    from xoff import api
    from xoff.errors import UsageError
    from xoff.result import load

    if not path.is_dir():
        return api.check(path, overrides), None
    if overrides:
        raise UsageError(f"{path} is a finished run: its settings cannot be overridden")
    result = load(path)
    return result.effective, result.digest

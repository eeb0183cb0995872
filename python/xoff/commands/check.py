"""`xoff check`: a scenario with every default, and what it comes to."""

from __future__ import annotations

import argparse
import json
import re
import textwrap
from pathlib import Path
from typing import Any

from xoff import api, engine, extras
from xoff.commands.arguments import (
    FILE,
    Parser,
    add_max_memory,
    add_set,
    add_topology,
    scenario_of,
    settings_of,
)
from xoff.errors import UsageError
from xoff.terminal import complain, say

HELP = "validate a scenario, print it with every default"
EXAMPLE = "xoff check scenarios/first.toml --set scheme=hpcc"

_DERIVED = re.compile(r"^#   (\S+) = (.*)$", re.MULTILINE)


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument("file", nargs="?", help=FILE)
    add_topology(parser)
    parser.add_argument(
        "--schema", action="store_true", help="print the JSON schema of scenarios and exit"
    )
    parser.add_argument(
        "--any-link",
        action="store_true",
        help="also look for pause cycles with each link between switches down in turn",
    )
    parser.add_argument(
        "--draw",
        type=Path,
        metavar="FILE",
        help="also draw the network, with the links that fail, into FILE.svg or FILE.png",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_set(parser)
    add_max_memory(parser)


def call(args: argparse.Namespace) -> int:
    """`xoff check`: print the effective scenario and what follows from it, or the schema."""
    if args.schema:
        say(engine.schema())
        return 0
    if args.file is None:
        raise UsageError("name a scenario file, or use --schema")
    if args.draw is not None:
        _check_picture(args.draw)
    scenario, settings = scenario_of(args.file), settings_of(args)
    effective = api.check(scenario, settings, args.max_memory)
    explained = api.explain(scenario, settings, args.max_memory)
    text, values = explained or ("", {})
    cycles = api.backpressure(scenario, settings, args.any_link, args.max_memory)
    expected = api.expected(scenario, settings, args.max_memory, explained)
    if args.draw is not None:
        from xoff import picture, plots

        plots.save_as(picture.of(scenario, settings, args.max_memory), args.draw)
        complain(f"the network is drawn in {args.draw}")
    if args.json:
        found = _as_json(effective, values, cycles)
        say(json.dumps({**found, "expected": expected and expected.as_json()}))
        return 0
    cost = expected and comment(f"Cost: {expected.text}.")
    say("\n".join(part for part in (effective, text, cost, cycles) if part), end="")
    for warning in values.get("warnings", []):
        complain(f"warning: {warning}")
    return 0


def _check_picture(file: Path) -> None:
    extras.need(extras.PLOT, "`xoff check --draw`")
    if file.suffix not in (".svg", ".png"):
        raise UsageError(f"--draw {file}: name a file that ends in .svg or .png")


def comment(text: str) -> str:
    """Return lines of comments of TOML with a text."""
    width = 100 - len("# ")
    return "".join(f"# {line}\n" for line in textwrap.wrap(text, width, break_on_hyphens=False))


def _as_json(effective: str, values: dict[str, Any], cycles: str | None) -> dict[str, Any]:
    """Return the settings as TOML, the derived values by name, and what explains them."""
    derived = dict(_DERIVED.findall(effective))
    return {"scenario": effective, "derived": derived, **values, "backpressure": cycles}

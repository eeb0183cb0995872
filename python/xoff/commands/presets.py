"""`xoff presets`: the built-in schemes."""

from __future__ import annotations

import argparse
import json

from xoff import engine
from xoff.commands.arguments import Parser
from xoff.terminal import say
from xoff.text import table

HELP = "list the built-in schemes, or show one"
EXAMPLE = "xoff presets bfc"


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument("name", nargs="?", metavar="PRESET", help="show this preset's settings")
    parser.add_argument("--json", action="store_true", help="print JSON lines")


def call(args: argparse.Namespace) -> int:
    """`xoff presets`: list every preset with its description, or show the settings of one."""
    if args.name is not None:
        text = engine.preset_text(args.name)
        say(json.dumps({"preset": args.name, "toml": text}) if args.json else text.rstrip())
    elif args.json:
        for name, description in engine.presets():
            say(json.dumps({"preset": name, "description": description}))
    else:
        say(table(("preset", "description"), engine.presets(), left=2))
    return 0

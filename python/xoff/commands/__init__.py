"""The subcommands of `xoff`, one module each.

A module has `HELP` (one line), `EXAMPLE` (a command that works), `add` (its arguments) and `call`
(what it does; returns the exit code), and may have a `DESCRIPTION`. Heavy modules are imported
when a command runs.
"""

from __future__ import annotations

import argparse
import textwrap
from types import ModuleType

from xoff import engine
from xoff.commands import (
    agent,
    allocator,
    bench,
    check,
    compare_reference,
    completion,
    diff,
    diverge,
    doctor,
    experiment,
    import_trace,
    lab,
    new_scheme,
    plot,
    presets,
    report,
    reproduce,
    run,
    sweep,
    timeline,
    torture,
)
from xoff.commands.arguments import Parser

# In the order of `xoff --help`.
COMMANDS: dict[str, ModuleType] = {
    "run": run,
    "check": check,
    "import": import_trace,
    "diff": diff,
    "presets": presets,
    "plot": plot,
    "report": report,
    "timeline": timeline,
    "sweep": sweep,
    "experiment": experiment,
    "reproduce": reproduce,
    "compare-reference": compare_reference,
    "diverge": diverge,
    "torture": torture,
    "new-scheme": new_scheme,
    "bench": bench,
    "allocator": allocator,
    "agent": agent,
    "lab": lab,
    "doctor": doctor,
    "completion": completion,
}


def parser() -> Parser:
    """Return the parser of the command line; `args.action` is what to call."""
    top = Parser(
        prog="xoff", description="Packet-level simulator of data-center congestion schemes."
    )
    top.add_argument("--version", action="version", version=f"xoff {engine.version()}")
    sub = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, module in COMMANDS.items():
        own = sub.add_parser(
            name,
            help=module.HELP,
            description=textwrap.fill(getattr(module, "DESCRIPTION", ""), 78),
            epilog=f"example:\n  {module.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add(own)
        own.set_defaults(action=module.call)
    return top

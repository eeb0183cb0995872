"""The command `xoff`: arguments, exit codes, signals.

Exit codes: 0 done, 1 a run failed, 2 usage or scenario, 130 interrupted. A user's mistake
is one clear message on stderr; a traceback means a bug in xoff.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from xoff import commands, engine
from xoff.errors import ScenarioError, XoffError, is_disk_full, reason

INTERRUPTED = 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="xoff", description="Packet-level simulator of data-center congestion schemes."
    )
    parser.add_argument("--version", action="version", version=f"xoff {engine.version()}")
    sub = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_run(sub)
    _add_reproduce(sub)
    _add_check(sub)
    _add_bench(sub)
    plot = sub.add_parser("plot", help="draw finished runs together")
    plot.add_argument("runs", nargs="+", metavar="RUN_DIR")
    plot.add_argument("--out", default="plot", metavar="STEM", help="writes STEM.svg, STEM.png")
    plot.set_defaults(action=commands.plot)
    presets = sub.add_parser("presets", help="list the schemes that come with xoff")
    presets.set_defaults(action=commands.presets)
    return parser


def _add_set(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a setting, e.g. scheme=bfc; may be repeated",
    )


def _add_max_memory(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--max-memory",
        metavar="SIZE",
        help="refuse what needs more memory, e.g. 24GB, before it is taken "
        "(default: what the machine has)",
    )


def _add_run(sub: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    run = sub.add_parser("run", help="run a scenario")
    run.add_argument("file", help="scenario (TOML), or the config.txt of an HPCC ns-3 case")
    run.add_argument("--out", metavar="DIR", help="run directory (default: out/<scenario>)")
    _add_set(run)
    _add_max_memory(run)
    run.add_argument(
        "--threads",
        type=_positive,
        metavar="N",
        help="use up to N threads (default: all cores); results do not depend on it",
    )
    shown = run.add_mutually_exclusive_group()
    shown.add_argument("--quiet", action="store_true", help="print nothing but errors")
    shown.add_argument(
        "--progress-json", action="store_true", help="progress as JSON lines on stdout"
    )
    run.set_defaults(action=commands.run)


def _add_reproduce(sub: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    again = sub.add_parser("reproduce", help="run experiments of a paper, draw their figures")
    again.add_argument("experiment", nargs="?", metavar="PAPER[/EXPERIMENT]")
    again.add_argument("--scale", choices=("quick", "paper"), default="quick")
    again.add_argument("--check", action="store_true", help="check the paper's claims")
    again.add_argument("--json", action="store_true", help="claims as one JSON object")
    again.add_argument(
        "--page",
        metavar="DIR",
        help="write DIR/PAPER.md: each figure and claim of the paper, checked (implies --check)",
    )
    again.add_argument(
        "--out", metavar="DIR", help="default: out/PAPER, out/PAPER/EXPERIMENT-SCALE"
    )
    again.add_argument(
        "--jobs",
        type=_positive,
        metavar="N",
        help="runs at a time, each on one thread (default: all cores)",
    )
    _add_max_memory(again)
    again.add_argument("--list", action="store_true", help="list the experiments")
    again.set_defaults(action=commands.reproduce)


def _add_check(sub: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    check = sub.add_parser("check", help="validate a scenario, print it with every default")
    check.add_argument("file", nargs="?")
    check.add_argument("--schema", action="store_true", help="print the JSON schema")
    check.add_argument(
        "--any-link",
        action="store_true",
        help="look for circles of pauses with any one link between switches down, too",
    )
    _add_set(check)
    _add_max_memory(check)
    check.set_defaults(action=commands.check)


def _add_bench(sub: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    bench = sub.add_parser("bench", help="measure the engine's speed")
    bench.add_argument(
        "cases",
        nargs="*",
        metavar="CASE",
        help="scheme-traffic-hosts, or a pattern such as 'bfc-*-128'; or alloc, the allocator",
    )
    bench.add_argument("--json", action="store_true", help="one JSON object a case and line")
    bench.add_argument("--list", action="store_true", help="only list the cases")
    bench.add_argument(
        "--threads",
        type=_numbers,
        metavar="N[,N...]",
        help="use up to N threads, each number in turn (default: all cores)",
    )
    bench.add_argument(
        "--repeat",
        type=_positive,
        default=1,
        metavar="N",
        help="run each case N times, case after case; times are medians",
    )
    bench.set_defaults(action=commands.bench)


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, not {text!r}")
    return number


def _numbers(text: str) -> list[int]:
    """Read `1,2,4`; a number given twice counts once."""
    return list(dict.fromkeys(_positive(part) for part in text.split(",")))


def _interrupt(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _drop_stdout() -> None:
    """Send what is left in stdout's buffer nowhere, so that the exit does not fail on it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    # Also where the parent ignores SIGINT (a shell's background job), an interrupt counts.
    for kind in (signal.SIGINT, signal.SIGTERM):
        signal.signal(kind, _interrupt)
    try:
        args = _parser().parse_args(argv)
        code: int = args.action(args)
        sys.stdout.flush()
    except KeyboardInterrupt as stop:
        print(f"\nxoff: {stop or 'interrupted'}", file=sys.stderr)
        return INTERRUPTED
    except ScenarioError as error:
        # The engine renders these whole: the place, the text underlined, the hint.
        print(str(error).rstrip(), file=sys.stderr)
        return error.exit_code
    except XoffError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        _drop_stdout()  # its reader (`| head`) has gone
        return 1
    except OSError as error:
        if not is_disk_full(error):
            raise
        _drop_stdout()
        print(f"error: cannot write the output: {reason(error)}", file=sys.stderr)
        return 1
    return code

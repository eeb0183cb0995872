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
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

from xoff import commands, engine
from xoff.errors import ScenarioError, XoffError, is_disk_full, reason
from xoff.terminal import complain, escaped, open_standard_streams

INTERRUPTED = 130


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Show usage and message, which may quote an argument, and exit."""
        super().error(escaped(message))


def _parser() -> _Parser:
    parser = _Parser(
        prog="xoff", description="Packet-level simulator of data-center congestion schemes."
    )
    parser.add_argument("--version", action="version", version=f"xoff {engine.version()}")
    sub = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_run(sub)
    _add_reproduce(sub)
    _add_check(sub)
    _add_diverge(sub)
    _add_torture(sub)
    _add_bench(sub)
    plot = sub.add_parser("plot", help="draw finished runs together")
    plot.add_argument("runs", nargs="+", metavar="RUN_DIR")
    plot.add_argument(
        "--out", type=_place, default=Path("plot"), metavar="STEM", help="writes STEM.svg, STEM.png"
    )
    plot.set_defaults(action=commands.plot)
    presets = sub.add_parser("presets", help="list the schemes that come with xoff")
    presets.set_defaults(action=commands.presets)
    return parser


def _add_set(parser: _Parser) -> None:
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a setting, e.g. scheme=bfc; may be repeated",
    )


def _add_max_memory(parser: _Parser) -> None:
    parser.add_argument(
        "--max-memory",
        metavar="SIZE",
        help="refuse what needs more memory, e.g. 24GB, before it is taken "
        "(default: what the machine has)",
    )


def _add_run(sub: argparse._SubParsersAction[_Parser]) -> None:
    run = sub.add_parser("run", help="run a scenario")
    run.add_argument("file", help="scenario (TOML), or the config.txt of an HPCC ns-3 case")
    run.add_argument(
        "--out", type=_place, metavar="DIR", help="run directory (default: out/<scenario>)"
    )
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


def _add_reproduce(sub: argparse._SubParsersAction[_Parser]) -> None:
    again = sub.add_parser("reproduce", help="run experiments of a paper, draw their figures")
    again.add_argument("experiment", nargs="?", metavar="PAPER[/EXPERIMENT]")
    again.add_argument("--scale", choices=("quick", "paper"), default="quick")
    again.add_argument("--check", action="store_true", help="check the paper's claims")
    again.add_argument("--json", action="store_true", help="claims as one JSON object")
    again.add_argument(
        "--page",
        type=_place,
        metavar="DIR",
        help="write DIR/PAPER.md: each figure and claim of the paper, checked (implies --check)",
    )
    again.add_argument(
        "--out",
        type=_place,
        metavar="DIR",
        help="default: out/PAPER, out/PAPER/EXPERIMENT-SCALE",
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


def _add_check(sub: argparse._SubParsersAction[_Parser]) -> None:
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


def _add_diverge(sub: argparse._SubParsersAction[_Parser]) -> None:
    diverge = sub.add_parser(
        "diverge", help="find the first packet in which two runs that should agree differ"
    )
    diverge.add_argument("file", help="scenario of both runs")
    diverge.add_argument("other", nargs="?", help="scenario of the second run, if another")
    _add_set(diverge)
    diverge.add_argument(
        "--other-set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a setting in the second run only, e.g. run.partitions=4; may be repeated",
    )
    for name, run in (("--threads", "first"), ("--other-threads", "second")):
        diverge.add_argument(
            name, type=_positive, default=1, metavar="N", help=f"threads of the {run} run"
        )
    diverge.set_defaults(action=commands.diverge)


def _add_torture(sub: argparse._SubParsersAction[_Parser]) -> None:
    torture = sub.add_parser(
        "torture", help="run random scenarios in several ways that must give the same results"
    )
    torture.add_argument("--minutes", type=_positive_number, default=2.0, help="default: 2")
    torture.add_argument("--first", action="store_true", help="stop at the first failure")
    torture.add_argument("--seed", type=int, default=1, help="seed of the worlds (default: 1)")
    torture.add_argument(
        "--against",
        metavar="WHEEL_OR_CHECKOUT",
        help="compare the digests of another build of xoff, instead of cuts and threads",
    )
    torture.add_argument(
        "--world", type=int, metavar="N", help="write world N to a file; run nothing"
    )
    torture.add_argument(
        "--out",
        type=_place,
        default=Path("out/torture"),
        metavar="DIR",
        help="where failures go (default: out/torture)",
    )
    torture.add_argument(
        "--jobs", type=_positive, metavar="N", help="worlds at a time (default: one a core)"
    )
    torture.add_argument(
        "--budget",
        type=_positive_number,
        default=10.0,
        metavar="SECONDS",
        help="longest time of one run; a world that takes longer is counted, not compared",
    )
    torture.set_defaults(action=commands.torture)


def _add_bench(sub: argparse._SubParsersAction[_Parser]) -> None:
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


def _positive_number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number above 0, not {text!r}")
    return number


def _place(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("is empty; leave it out or name a place")
    return Path(text)


def _numbers(text: str) -> list[int]:
    """Read `1,2,4`; a number given twice counts once."""
    return list(dict.fromkeys(_positive(part) for part in text.split(",")))


def _interrupt(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _catch_signals() -> None:
    # Also where the parent ignores SIGINT (a shell's background job), an interrupt counts.
    for kind in (signal.SIGINT, signal.SIGTERM):
        signal.signal(kind, _interrupt)
    # But `nohup` ignores the end of the session, and means it. Windows has no such signal.
    hang_up = getattr(signal, "SIGHUP", None)
    if hang_up is not None and signal.getsignal(hang_up) is not signal.SIG_IGN:
        signal.signal(hang_up, _interrupt)


def _drop_stdout() -> None:
    """Send what is left in stdout's buffer nowhere, so that the exit does not fail on it."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _flush_or_drop_stdout() -> None:
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _drop_stdout()  # the terminal has gone


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    open_standard_streams()
    _catch_signals()
    try:
        args = _parser().parse_args(argv)
        code: int = args.action(args)
        sys.stdout.flush()
    except KeyboardInterrupt as stop:
        complain(f"\nxoff: {stop or 'interrupted'}")
        _flush_or_drop_stdout()
        return INTERRUPTED
    except ScenarioError as error:
        # The engine renders these whole: the place, the text underlined, the hint.
        complain(str(error).rstrip())
        return error.exit_code
    except XoffError as error:
        complain(f"error: {error}")
        return error.exit_code
    except BrokenPipeError:
        _drop_stdout()  # its reader (`| head`) has gone
        return 1
    except OSError as error:
        if not is_disk_full(error):
            raise
        _drop_stdout()
        complain(f"error: cannot write the output: {reason(error)}")
        return 1
    return code

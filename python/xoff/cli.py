"""The command `xoff`: arguments, exit codes, signals.

Exit codes: 0 success, 1 a run failed, 2 usage or scenario error, 130 interrupted. A user's
mistake prints one message on stderr; a traceback means a bug in xoff.
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

from xoff import commands, engine, lean
from xoff.errors import ScenarioError, XoffError, is_disk_full, reason
from xoff.terminal import complain, escaped, open_standard_streams

INTERRUPTED = 130


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Print the usage and the message, escaped because it may quote an argument, and exit."""
        super().error(escaped(message))


def _parser() -> _Parser:
    parser = _Parser(
        prog="xoff", description="Packet-level simulator of data-center congestion schemes."
    )
    parser.add_argument("--version", action="version", version=f"xoff {engine.version()}")
    sub = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_run(sub)
    _add_sweep(sub)
    _add_reproduce(sub)
    _add_check(sub)
    _add_diverge(sub)
    _add_torture(sub)
    _add_bench(sub)
    _add_compare_reference(sub)
    plot = sub.add_parser(
        "plot",
        help="compare finished runs in one figure",
        description="Runs that differ only in their seed are drawn as one curve, their mean.",
    )
    plot.add_argument("runs", nargs="+", metavar="RUN_DIR", help="directory written by `xoff run`")
    plot.add_argument(
        "--out",
        type=_place,
        default=Path("plot"),
        metavar="STEM",
        help="write STEM.svg and STEM.png (default: plot)",
    )
    plot.add_argument(
        "--class",
        dest="cls",
        metavar="NAME",
        help="draw the slowdowns of this class (default: the first that is not an incast)",
    )
    plot.set_defaults(action=commands.plot)
    _add_report(sub)
    _add_presets(sub)
    _add_help_with_the_installation(sub)
    for name, one in sub.choices.items():
        one.formatter_class = argparse.RawDescriptionHelpFormatter
        one.epilog = f"example:\n  {EXAMPLES[name]}"
    return parser


# One for each subcommand.
EXAMPLES = {
    "run": "xoff run scenarios/first.toml --set scheme=bfc --out out/first-bfc",
    "sweep": "xoff sweep scenarios/sweeps/load.toml --seeds 5",
    "reproduce": "xoff reproduce bfc/fig09 --check",
    "experiment": "xoff experiment scenarios/experiments/incast",
    "check": "xoff check scenarios/first.toml --set scheme=hpcc",
    "diverge": "xoff diverge scenarios/first.toml --other-set seed=2",
    "torture": "xoff torture --minutes 10 --seed 7",
    "bench": "xoff bench 'bfc-*-128' --threads 1,2 --repeat 5",
    "compare-reference": "xoff compare-reference python/tests/data/hpcc_ns3",
    "plot": "xoff plot out/first out/first-bfc --out compare",
    "report": "xoff report out/first out/first-bfc --out compare.html",
    "presets": "xoff presets bfc",
    "doctor": "xoff doctor",
    "completion": "source <(xoff completion bash)",
}


def _add_presets(sub: argparse._SubParsersAction[_Parser]) -> None:
    presets = sub.add_parser("presets", help="list the built-in schemes, or show one")
    presets.add_argument("name", nargs="?", metavar="PRESET", help="show this preset's settings")
    presets.add_argument("--json", action="store_true", help="print JSON lines")
    presets.set_defaults(action=commands.presets)


def _add_help_with_the_installation(sub: argparse._SubParsersAction[_Parser]) -> None:
    doctor = sub.add_parser("doctor", help="say what is installed, and what is missing")
    doctor.add_argument("--json", action="store_true", help="print JSON lines")
    doctor.set_defaults(action=commands.doctor)
    completion = sub.add_parser("completion", help="print the completion script of a shell")
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))
    completion.set_defaults(action=commands.completion)


def _add_report(sub: argparse._SubParsersAction[_Parser]) -> None:
    report = sub.add_parser(
        "report",
        help="write finished runs as one HTML page with charts and the fabric over time",
        description="The page works offline and contains all of its data. `run.port_samples` "
        "records what the fabric over time needs, `run.flow_series` the rates of flows.",
    )
    report.add_argument(
        "runs", nargs="+", metavar="RUN_DIR", help="directory written by `xoff run`"
    )
    report.add_argument(
        "--out",
        type=_place,
        default=Path("report.html"),
        metavar="FILE",
        help="the page to write (default: report.html)",
    )
    report.set_defaults(action=commands.report)


def _add_set(parser: _Parser, setting: str = "a setting") -> None:
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help=f"override {setting}, e.g. scheme=bfc (repeatable)",
    )


_FILE = "scenario (TOML), config.txt of an HPCC ns-3 case, or connection matrix of htsim (.cm)"


def _add_topology(parser: _Parser) -> None:
    parser.add_argument(
        "--topology",
        metavar="FILE",
        help="network of htsim (.topo) for a connection matrix (default: a fat-tree of its nodes)",
    )


def _add_max_memory(parser: _Parser) -> None:
    parser.add_argument(
        "--max-memory",
        metavar="SIZE",
        help="refuse a scenario whose estimated memory exceeds SIZE, e.g. 24GB "
        "(default: the memory available)",
    )


def _add_run(sub: argparse._SubParsersAction[_Parser]) -> None:
    run = sub.add_parser("run", help="simulate a scenario, write a run directory")
    run.add_argument("file", help=_FILE)
    _add_topology(run)
    run.add_argument(
        "--out", type=_place, metavar="DIR", help="run directory (default: out/<scenario>)"
    )
    _add_set(run)
    _add_max_memory(run)
    run.add_argument(
        "--threads",
        type=_positive,
        metavar="N",
        help="use up to N threads (default: all cores); results are the same for any N",
    )
    run.add_argument(
        "--live",
        action="store_true",
        help="serve the report of the run on this machine while it advances, at a secret address",
    )
    run.add_argument(
        "--live-port",
        type=_port,
        default=0,
        metavar="PORT",
        help="port of the live report (default: a free one)",
    )
    shown = run.add_mutually_exclusive_group()
    shown.add_argument("--quiet", action="store_true", help="print only errors")
    shown.add_argument(
        "--progress-json", action="store_true", help="print progress as JSON lines on stdout"
    )
    run.set_defaults(action=commands.run, lean=True)


def _add_sweep(sub: argparse._SubParsersAction[_Parser]) -> None:
    sweep = sub.add_parser("sweep", help="run a grid of settings, tabulate and draw the results")
    sweep.add_argument("file", help="sweep (TOML), e.g. scenarios/sweeps/load.toml")
    sweep.add_argument(
        "--out", type=_place, metavar="DIR", help="folder of the results (default: out/<sweep>)"
    )
    _add_set(sweep, "a setting of every run")
    sweep.add_argument(
        "--seeds", type=_positive, metavar="N", help="run every point with seeds 1 to N"
    )
    _add_jobs(sweep)
    _add_max_memory(sweep)
    sweep.add_argument("--x", metavar="KEY", help="draw along this setting")
    sweep.add_argument("--y", metavar="MEASURE", help="draw this measure only")
    sweep.add_argument("--again", action="store_true", help="run what failed before once more")
    sweep.add_argument("--json", action="store_true", help="print the table as JSON lines")
    elsewhere = sweep.add_mutually_exclusive_group()
    elsewhere.add_argument("--list", action="store_true", help="list the runs, and exit")
    elsewhere.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="run on the workers of this Dask scheduler (tcp://HOST:PORT or a scheduler file)",
    )
    elsewhere.add_argument(
        "--emit",
        choices=("slurm",),
        help="write the unfinished runs as an array job of Slurm, and exit",
    )
    sweep.set_defaults(action=commands.sweep)


def _add_jobs(parser: _Parser) -> None:
    parser.add_argument(
        "--jobs",
        type=_positive,
        metavar="N",
        help="concurrent runs, one thread each (default: one per core)",
    )


def _add_reproduce(sub: argparse._SubParsersAction[_Parser]) -> None:
    again = sub.add_parser("reproduce", help="run experiments of a paper and draw their figures")
    again.add_argument(
        "experiment",
        nargs="?",
        metavar="PAPER[/EXPERIMENT]",
        help="e.g. bfc (all experiments of the paper) or bfc/fig09; see --list",
    )
    _add_experiments(again)
    again.set_defaults(action=commands.reproduce)
    own = sub.add_parser("experiment", help="run experiments of your own and draw their figures")
    own.add_argument(
        "folder", type=_place, help="folder with experiment.toml, or of several such folders"
    )
    _add_experiments(own)
    own.set_defaults(action=commands.experiment)


def _add_experiments(again: _Parser) -> None:
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
        "--json", action="store_true", help="print the checked claims as JSON (implies --check)"
    )
    again.add_argument(
        "--out",
        type=_place,
        metavar="DIR",
        help="output directory (default: out/PAPER, or out/PAPER/EXPERIMENT-SCALE)",
    )
    _add_jobs(again)
    _add_max_memory(again)
    again.add_argument(
        "--list",
        action="store_true",
        help="list the experiments with their cost at this scale, and exit",
    )
    _add_keeping(again)
    _add_changes(again)


def _add_keeping(again: _Parser) -> None:
    again.add_argument(
        "--page",
        type=_place,
        metavar="DIR",
        help="write DIR/PAPER.md with all recorded figures and claims of the paper (implies "
        "--check)",
    )
    again.add_argument(
        "--results",
        type=_place,
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


def _add_changes(again: _Parser) -> None:
    again.add_argument(
        "--seeds", type=_positive, metavar="N", help="run every case with at least N seeds"
    )
    again.add_argument(
        "--budget",
        type=_positive_number,
        metavar="MINUTES",
        help="add seeds to the cases of undecided claims for up to MINUTES per experiment "
        "(implies --check)",
    )
    _add_set(again, "a setting of every case that has it")
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


def _add_check(sub: argparse._SubParsersAction[_Parser]) -> None:
    check = sub.add_parser("check", help="validate a scenario, print it with every default")
    check.add_argument("file", nargs="?", help=_FILE)
    _add_topology(check)
    check.add_argument(
        "--schema", action="store_true", help="print the JSON schema of scenarios and exit"
    )
    check.add_argument(
        "--any-link",
        action="store_true",
        help="also look for pause cycles with each link between switches down in turn",
    )
    _add_set(check)
    _add_max_memory(check)
    check.set_defaults(action=commands.check)


def _add_diverge(sub: argparse._SubParsersAction[_Parser]) -> None:
    diverge = sub.add_parser("diverge", help="find the first packet that differs between two runs")
    diverge.add_argument("file", help="scenario of the first run")
    diverge.add_argument(
        "other", nargs="?", help="scenario of the second run (default: the same file)"
    )
    _add_set(diverge, "a setting of both runs")
    diverge.add_argument(
        "--other-set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a setting of the second run only, e.g. run.partitions=4 (repeatable)",
    )
    for name, run in (("--threads", "first"), ("--other-threads", "second")):
        diverge.add_argument(
            name,
            type=_positive,
            default=1,
            metavar="N",
            help=f"threads of the {run} run (default: 1)",
        )
    diverge.set_defaults(action=commands.diverge)


def _add_torture(sub: argparse._SubParsersAction[_Parser]) -> None:
    torture = sub.add_parser(
        "torture", help="run random scenarios, partitioned and threaded in ways that must agree"
    )
    torture.add_argument(
        "--minutes", type=_positive_number, default=2.0, help="duration (default: 2)"
    )
    torture.add_argument("--first", action="store_true", help="stop at the first failure")
    torture.add_argument(
        "--seed", type=int, default=1, help="seed of the random scenarios (default: 1)"
    )
    torture.add_argument(
        "--against",
        metavar="WHEEL_OR_CHECKOUT",
        help="compare digests with another build of xoff instead of partitions and threads",
    )
    torture.add_argument(
        "--world", type=int, metavar="N", help="write random scenario N to a file and exit"
    )
    torture.add_argument(
        "--out",
        type=_place,
        default=Path("out/torture"),
        metavar="DIR",
        help="directory of failing scenarios (default: out/torture)",
    )
    torture.add_argument(
        "--jobs",
        type=_positive,
        metavar="N",
        help="concurrent scenarios (default: one per core)",
    )
    torture.add_argument(
        "--budget",
        type=_positive_number,
        default=10.0,
        metavar="SECONDS",
        help="time limit of one run (default: 10); a scenario that exceeds it is counted "
        "but not compared",
    )
    torture.set_defaults(action=commands.torture)


def _add_compare_reference(sub: argparse._SubParsersAction[_Parser]) -> None:
    compare = sub.add_parser(
        "compare-reference",
        help="run cases of another simulator, compare every flow",
        description="Exit status 1 if a flow is missing or its completion time differs by more "
        "than the tolerance. Example: xoff compare-reference cases/ --json",
    )
    compare.add_argument(
        "folder",
        type=Path,
        metavar="FOLDER",
        help="case (config.txt and fct.txt of the HPCC simulator, or flows.csv, fct.csv and "
        "params.json), or folder of cases",
    )
    compare.add_argument("--json", action="store_true", help="print one JSON object per case")
    compare.add_argument(
        "--tolerance",
        type=_share,
        default=0.0,
        metavar="SHARE",
        help="largest relative error of a flow's completion time (default: 0, equal)",
    )
    compare.add_argument(
        "--out",
        type=_place,
        default=Path("out/compare-reference"),
        metavar="DIR",
        help="folder for the runs (default: out/compare-reference)",
    )
    compare.add_argument(
        "--page",
        type=Path,
        metavar="FILE",
        help="write a page with a table and pictures of the errors; reasons come from the TOML "
        "file of the same name",
    )
    compare.add_argument("--threads", type=_positive, metavar="N", help="use up to N threads")
    compare.set_defaults(action=commands.compare_reference)


def _add_bench(sub: argparse._SubParsersAction[_Parser]) -> None:
    bench = sub.add_parser("bench", help="measure the speed of the engine")
    bench.add_argument(
        "cases",
        nargs="*",
        metavar="CASE",
        help="case (scheme-traffic-hosts), pattern such as 'bfc-*-128', alloc (Flowtune's "
        "allocator), or stress (every preset on hard shapes) with patterns such as 'bfc-*'",
    )
    bench.add_argument("--json", action="store_true", help="print one JSON object per line")
    bench.add_argument("--list", action="store_true", help="list the cases and exit")
    bench.add_argument(
        "--threads",
        type=_numbers,
        metavar="N[,N...]",
        help="measure with up to N threads, for each N (default: all cores)",
    )
    bench.add_argument(
        "--estimate",
        action="store_true",
        help="run on one thread and estimate the time with N cores, for each N above 1",
    )
    bench.add_argument(
        "--repeat",
        type=_positive,
        default=1,
        metavar="N",
        help="run each case N times, alternating over cases; times are medians",
    )
    bench.set_defaults(action=commands.bench)


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number >= 1, found {text!r}")
    return number


def _port(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = -1
    if not 0 <= number <= 65_535:
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, found {text!r}")
    return number


def _positive_number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number > 0, found {text!r}")
    return number


def _share(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number >= 0, found {text!r}")
    return number


def _place(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("the path is empty; omit the option or give one")
    return Path(text)


def _numbers(text: str) -> list[int]:
    """Parse `1,2,4` without duplicates."""
    return list(dict.fromkeys(_positive(part) for part in text.split(",")))


def _interrupt(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _catch_signals() -> None:
    # A background job inherits an ignored SIGINT from its shell; handle the signal anyway.
    for kind in (signal.SIGINT, signal.SIGTERM):
        signal.signal(kind, _interrupt)
    # `nohup` ignores SIGHUP on purpose: keep that. Windows has no SIGHUP.
    hang_up = getattr(signal, "SIGHUP", None)
    if hang_up is not None and signal.getsignal(hang_up) is not signal.SIG_IGN:
        signal.signal(hang_up, _interrupt)


def _drop_stdout() -> None:
    """Discard the rest of stdout's buffer, so that flushing it at exit does not fail."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _flush_or_drop_stdout() -> None:
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _drop_stdout()  # the terminal is gone


def _complete(parser: _Parser) -> _Parser:
    """Answer the shell's completion, and exit, if it asks."""
    if "_ARGCOMPLETE" in os.environ:
        import argcomplete

        argcomplete.autocomplete(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    open_standard_streams()
    _catch_signals()
    try:
        args = _complete(_parser()).parse_args(argv)
        if argv is None and "lean" in args and not args.live:
            lean.import_pyarrow()
        code: int = args.action(args)
        sys.stdout.flush()
    except KeyboardInterrupt as stop:
        complain(f"\nxoff: {stop or 'interrupted'}")
        _flush_or_drop_stdout()
        return INTERRUPTED
    except ScenarioError as error:
        # The engine renders the whole diagnostic: location, underlined text, hint.
        complain(str(error).rstrip())
        return error.exit_code
    except XoffError as error:
        complain(f"error: {error}")
        return error.exit_code
    except BrokenPipeError:
        _drop_stdout()  # the reader (`| head`) is gone
        return 1
    except OSError as error:
        if not is_disk_full(error):
            raise
        _drop_stdout()
        complain(f"error: cannot write the output: {reason(error)}")
        return 1
    return code

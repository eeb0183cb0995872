"""Arguments that several subcommands share: their types and options."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NoReturn, TypeVar

from xoff import budget
from xoff.errors import UsageError
from xoff.source import Source, read_standard_input
from xoff.terminal import escaped

FILE = (
    "scenario (TOML), config.txt of an HPCC ns-3 case, or connection matrix of htsim (.cm); "
    "- reads a scenario from standard input"
)

Number = TypeVar("Number", int, float)


class Parser(argparse.ArgumentParser):
    """A parser whose errors cannot control the terminal."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and the message, escaped because it may quote an argument, and exit."""
        super().error(escaped(message))


def add_set(parser: Parser, setting: str = "a setting", example: str = "scheme=bfc") -> None:
    """Add `--set KEY=VALUE`."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help=f"override {setting}, e.g. {example} (repeatable)",
    )


def add_topology(parser: Parser) -> None:
    """Add `--topology FILE`."""
    parser.add_argument(
        "--topology",
        metavar="FILE",
        help="network of htsim (.topo) for a connection matrix (default: a fat-tree of its nodes)",
    )


def add_max_memory(parser: Parser) -> None:
    """Add `--max-memory SIZE`."""
    parser.add_argument(
        "--max-memory",
        metavar="SIZE",
        help="refuse a scenario whose estimated memory exceeds SIZE, e.g. 24GB "
        "(default: the memory available)",
    )


def add_budget(parser: Parser, what: str = "the run") -> None:
    """Add `--max-wall TIME` and `--max-packet-hops N`."""
    parser.add_argument(
        "--max-wall",
        type=_checked(budget.seconds),
        metavar="TIME",
        help=f"end {what} early after this wall-clock time, e.g. 30s, 10m, 2h; where it ends "
        "depends on the machine (exit code 3)",
    )
    parser.add_argument(
        "--max-packet-hops",
        type=_checked(budget.count),
        metavar="N",
        help=f"end {what} early after N packet-hops, e.g. 500M; where it ends is the same "
        "for any number of threads (exit code 3)",
    )


def add_jobs(parser: Parser) -> None:
    """Add `--jobs N`."""
    parser.add_argument(
        "--jobs",
        type=positive,
        metavar="N",
        help="concurrent runs, one thread each (default: one per core)",
    )


def add_runs(parser: Parser, out: str, metavar: str, help_out: str) -> None:
    """Add the run directories, and `--out` with its default."""
    parser.add_argument(
        "runs", nargs="+", metavar="RUN_DIR", help="directory written by `xoff run`"
    )
    parser.add_argument(
        "--out",
        type=place,
        default=Path(out),
        metavar=metavar,
        help=f"{help_out} (default: {out})",
    )


def positive(text: str) -> int:
    """Parse a whole number of at least 1."""
    return _number(int, text, lambda number: number >= 1, "a whole number >= 1")


def port(text: str) -> int:
    """Parse the number of a port."""
    return _number(int, text, lambda number: 0 <= number <= 65_535, "a port from 0 to 65535")


def positive_number(text: str) -> float:
    """Parse a finite number above 0."""
    return _number(float, text, lambda number: 0 < number < math.inf, "a number > 0")


def share(text: str) -> float:
    """Parse a finite number of at least 0."""
    return _number(float, text, lambda number: 0 <= number < math.inf, "a number >= 0")


def _checked(parse: Callable[[str], Number]) -> Callable[[str], Number]:
    """Return a parser whose errors argparse reports."""

    def parsed(text: str) -> Number:
        try:
            return parse(text)
        except UsageError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parsed


def _number(
    kind: Callable[[str], Number], text: str, fits: Callable[[Number], bool], expected: str
) -> Number:
    try:
        number = kind(text)
    except ValueError:
        number = None
    if number is None or not fits(number):
        raise argparse.ArgumentTypeError(f"expected {expected}, found {text!r}")
    return number


def place(text: str) -> Path:
    """Parse a path that is not empty."""
    if not text:
        raise argparse.ArgumentTypeError("the path is empty; omit the option or give one")
    return Path(text)


def numbers(text: str) -> list[int]:
    """Parse `1,2,4` without duplicates."""
    return list(dict.fromkeys(positive(part) for part in text.split(",")))


def scenario_of(file: str) -> Path | Source:
    """Return the scenario that an argument names. Raises `UsageError`."""
    return read_standard_input() if file == "-" else Path(file)


def settings_of(args: argparse.Namespace) -> list[str]:
    """Return the overrides of a run, with the network of a connection matrix."""
    if args.topology is None:
        return list(args.set)
    if Path(args.file).suffix.lower() != ".cm":
        raise UsageError(
            f"--topology is the network of a connection matrix (.cm), and {args.file} is none: a "
            "scenario has its network in [network]"
        )
    return [f"topology={args.topology}", *args.set]


def label_of(folder: str, among: Iterable[str]) -> str:
    """Return the run's folder name, or the whole path where two runs share the name."""
    name = Path(folder).resolve().name
    return folder if [Path(f).resolve().name for f in among].count(name) > 1 else name

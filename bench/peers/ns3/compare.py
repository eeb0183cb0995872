#!/usr/bin/env python3
"""Compare the speed of xoff and ns-3 on the same fabric with the same flows.

Requires xoff in this Python, g++, and ns-3.37 (on Debian: apt install libns3-dev g++).
README.md in this folder lists the differences between the two simulations.
"""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MODULES = ("core", "network", "point-to-point", "internet", "traffic-control", "applications")
MODELS = {"lean": "ns-3, devices and links only", "tcp": "ns-3, TCP/IP stack"}
LIST_COLUMNS = ("src", "dst", "size_bytes", "start_ps")
LIST_FILE = "flows.csv"
NO_XOFF = (
    f"xoff is not installed for {sys.executable}. In a checkout, run `make .venv/built`, then\n"
    "this script with .venv/bin/python."
)


class Trouble(Exception):
    """A failed comparison; `str()` is ready to print."""


@dataclass
class Program:
    """One of the compared programs, with the figures of its runs."""

    name: str
    command: list[str]
    runs: list[dict[str, Any]] = field(default_factory=list)

    def ns_per_packet_hop(self) -> list[float]:
        """Return the time of each run per packet-hop, without set-up."""
        return [run["wall_s"] * 1e9 / run["packet_hops"] for run in self.runs]

    def median(self) -> float:
        """Return the median time per packet-hop (ns)."""
        return statistics.median(self.ns_per_packet_hop())

    def fastest(self) -> float:
        """Return the shortest time per packet-hop (ns), the least affected by other load."""
        return min(self.ns_per_packet_hop())

    def run(self) -> None:
        """Run once more and store the figures. Raises `Trouble` if packets were dropped."""
        self.runs.append(json.loads(output_of(self.command)))
        dropped = self.runs[-1].get("dropped", 0)
        if dropped:
            raise Trouble(f"{self.name} dropped {dropped} packets, so it is not comparable to xoff")

    def as_json(self) -> dict[str, Any]:
        """Return everything for `--json`."""
        costs = self.ns_per_packet_hop()
        return {
            "name": self.name,
            "ns_per_packet_hop": {
                "median": statistics.median(costs),
                "min": min(costs),
                "max": max(costs),
            },
            "runs": self.runs,
        }


def output_of(command: Sequence[str]) -> str:
    """Run a command to its end and return its stdout. Raises `Trouble` if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Trouble(f"{command[0]} failed:\n{(done.stderr or done.stdout).strip()}")
    return done.stdout


def core_library(prefix: Path) -> Path | None:
    """Find the library of ns-3's core under `prefix`, for any build profile."""
    for folder in ("lib", "lib64", "lib/*-linux-gnu"):
        for found in sorted(prefix.glob(f"{folder}/libns3*-core*.so")):
            return found
    return None


def missing(prefix: Path) -> str | None:
    """Return a message about missing software; None if nothing is missing."""
    lacks = []
    if shutil.which("g++") is None:
        lacks.append("the compiler g++")
    has_headers = (prefix / "include" / "ns3" / "core-module.h").exists()
    if not has_headers or core_library(prefix) is None:
        lacks.append(f"the libraries of ns-3 (looked for in {prefix})")
    if not lacks:
        return None
    return (
        f"This comparison needs {' and '.join(lacks)}. On Debian or Ubuntu:\n\n"
        "    sudo apt install libns3-dev g++\n\n"
        "For an ns-3 built from source, give --ns3-prefix FOLDER (the folder with `include`\n"
        "and `lib`)."
    )


def compile_command(core: Path, prefix: Path, program: Path) -> list[str]:
    """Return the command that builds our ns-3 program."""
    # Debian's libraries are called libns3-core.so, others libns3.37-core-optimized.so.
    before, after = core.name.removeprefix("lib").removesuffix(".so").split("core", 1)
    sources = [str(file) for file in sorted(HERE.glob("*.cc"))]
    return [
        *("g++", "-O2", "-std=c++17", f"-I{prefix / 'include'}", *sources, "-o", str(program)),
        *(f"-L{core.parent}", f"-Wl,-rpath,{core.parent}"),
        *(f"-l{before}{module}{after}" for module in MODULES),
    ]


def build(prefix: Path, folder: Path) -> Path:
    """Build our ns-3 program into `folder`."""
    core = core_library(prefix)
    assert core is not None, "missing() has looked"
    program = folder / "peer"
    output_of(compile_command(core, prefix, program))
    return program


def scenario(args: argparse.Namespace, flows: str, traffic: Mapping[str, object]) -> str:
    """Return a scenario on the default fabric with one traffic source."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in traffic.items()]
    return "\n".join(
        [
            'name = "ns-3 comparison"',
            f"scheme = {json.dumps(args.scheme)}",
            f"seed = {args.seed}",
            "[run]",
            'warmup = "0us"',
            f"measure = {json.dumps(args.arrivals)}",
            f"flows = {json.dumps(flows)}",
            "[[traffic]]",
            *lines,
            "",
        ]
    )


def open_loop(args: argparse.Namespace) -> dict[str, object]:
    """Return the traffic of the case `*-hadoop-128` of `xoff bench`."""
    return {
        "kind": "open-loop",
        "sizes": "hadoop",
        "load": args.load,
        "arrivals": "lognormal",
        "stop": args.arrivals,
    }


def list_text(columns: Mapping[str, Sequence[int]]) -> str:
    """Convert the columns of a run's flows to a CSV flow list, in the order of arrival."""
    order = sorted(range(len(columns["flow"])), key=lambda row: columns["flow"][row])
    lines = [",".join(str(columns[name][row]) for name in LIST_COLUMNS) for row in order]
    return "\n".join([",".join(LIST_COLUMNS), *lines, ""])


def write_flows(args: argparse.Namespace, folder: Path) -> Path:
    """Write the flow list and a scenario that uses it; return the scenario's path."""
    import xoff

    flows = xoff.run(scenario(args, "all", open_loop(args))).flows
    columns = flows.select(["flow", *LIST_COLUMNS]).to_pydict()
    (folder / LIST_FILE).write_text(list_text(columns), encoding="utf-8")
    file = folder / "flows.toml"
    text = scenario(args, "none", {"kind": "list", "file": LIST_FILE})
    file.write_text(text, encoding="utf-8")
    return file


def run_xoff(file: Path) -> dict[str, Any]:
    """Run a scenario in this process and return the times of set-up and run.

    `wall_s` of a run directory's manifest would include writing the files.
    """
    from xoff import engine

    began = time.perf_counter()
    run = engine.open_run(file.read_text(encoding="utf-8"), str(file), [], threads=1)
    built = time.perf_counter()
    engine.drive(run, engine.Nowhere())
    done = time.perf_counter()
    progress = run.progress()
    return {
        "flows": progress["flows_finished"],
        "packet_hops": progress["packet_hops"],
        "sim_ps": progress["sim_ps"],
        "setup_s": built - began,
        "wall_s": done - built,
    }


HEADER = (
    "program",
    "packet-hops",
    "events",
    "set-up (s)",
    "run (s)",
    "ns/packet-hop",
    "fastest",
    "slowest",
)


def row(program: Program) -> list[str]:
    """Return a program's row of the table; times are medians."""
    costs = program.ns_per_packet_hop()
    events = program.runs[0].get("events")
    return [
        program.name,
        f"{program.runs[0]['packet_hops']:,}",
        "-" if events is None else f"{events:,}",
        f"{statistics.median(run['setup_s'] for run in program.runs):.3f}",
        f"{statistics.median(run['wall_s'] for run in program.runs):.3f}",
        f"{statistics.median(costs):,.0f}",
        f"{min(costs):,.0f}",
        f"{max(costs):,.0f}",
    ]


def ratio_lines(ours: Program, peers: Sequence[Program]) -> list[str]:
    """Format the ratio of each peer's time per packet-hop to xoff's."""
    return [
        f"{peer.name}: {peer.median() / ours.median():.1f} times xoff's time per packet-hop "
        f"(medians; {peer.fastest() / ours.fastest():.1f} for the fastest runs)"
        for peer in peers
    ]


def report(ours: Program, peers: Sequence[Program]) -> str:
    """Return the table and the ratios."""
    from xoff.text import table

    rows = [row(program) for program in (ours, *peers)]
    return "\n".join([table(HEADER, rows), "", *ratio_lines(ours, peers)])


def as_json(args: argparse.Namespace, ours: Program, peers: Sequence[Program]) -> dict[str, Any]:
    """Return everything for `--json`, including settings and versions."""
    import xoff

    core = core_library(args.ns3_prefix)
    assert core is not None, "missing() has looked"
    return {
        "settings": {key: getattr(args, key) for key in ("arrivals", "load", "scheme", "seed")},
        "xoff": xoff.__version__,
        "ns3": core.resolve().name,
        "g++": output_of(["g++", "-dumpfullversion"]).strip(),
        "platform": platform.platform(),
        "programs": [program.as_json() for program in (ours, *peers)],
        "ratios": {
            peer.name: {
                "medians": peer.median() / ours.median(),
                "fastest": peer.fastest() / ours.fastest(),
            }
            for peer in peers
        },
    }


def programs(args: argparse.Namespace, folder: Path) -> tuple[Program, list[Program]]:
    """Write the flows, build the ns-3 program, and return xoff's and ns-3's programs."""
    file = write_flows(args, folder)
    print("building the ns-3 program", file=sys.stderr)
    peer = build(args.ns3_prefix, folder)
    ours = Program("xoff", [sys.executable, str(HERE / "compare.py"), "--run-xoff", str(file)])
    models = list(MODELS) if args.model == "both" else [args.model]
    flows = f"--flows={folder / LIST_FILE}"
    return ours, [
        Program(MODELS[model], [str(peer), f"--model={model}", flows]) for model in models
    ]


def compare(args: argparse.Namespace) -> None:
    """Run all programs and print the table. Raises `Trouble`."""
    problem = missing(args.ns3_prefix)
    if problem is not None:
        raise Trouble(problem)
    folder = HERE / "build"
    folder.mkdir(exist_ok=True)
    ours, peers = programs(args, folder)
    for number in range(args.runs):
        for program in (ours, *peers):
            print(f"run {number + 1} of {args.runs}: {program.name}", file=sys.stderr)
            program.run()
    print(report(ours, peers))
    if args.json is not None:
        text = json.dumps(as_json(args, ours, peers), indent=2)
        args.json.write_text(text + "\n", encoding="utf-8")


def positive(text: str) -> int:
    """Parse a count of at least 1."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", 1)[0])
    parser.add_argument("--runs", type=positive, default=5, help="runs per program (default: 5)")
    parser.add_argument("--model", choices=(*MODELS, "both"), default="both", help="ns-3's model")
    parser.add_argument("--arrivals", default="500us", help="duration of flow arrivals")
    parser.add_argument("--load", type=float, default=0.6, help="load on the core links")
    parser.add_argument("--scheme", default="dctcp", help="xoff's scheme (default: dctcp)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures as JSON")
    parser.add_argument("--ns3-prefix", type=Path, default=Path("/usr"), metavar="FOLDER")
    # Each run of xoff is a separate process, like each run of ns-3.
    parser.add_argument("--run-xoff", type=Path, help=argparse.SUPPRESS)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    args = parser().parse_args(argv)
    try:
        from xoff.errors import XoffError
    except ModuleNotFoundError:
        print(NO_XOFF, file=sys.stderr)
        return 1
    try:
        if args.run_xoff is not None:
            print(json.dumps(run_xoff(args.run_xoff)))
        else:
            compare(args)
    except (Trouble, XoffError) as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

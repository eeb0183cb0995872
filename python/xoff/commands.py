"""What each subcommand does. Heavy imports wait until a command wants them."""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from xoff import api, engine
from xoff.counters import Instructions
from xoff.errors import RunError, UsageError, XoffError
from xoff.progress import JsonProgress, Line, RunProgress
from xoff.text import fixed, suggestion, table


def run(args: argparse.Namespace) -> int:
    """`xoff run`: run, write the run directory, print the summary."""
    out = Path(args.out) if args.out else _default_out(Path(args.file))
    line = Line(quiet=args.quiet)
    report = JsonProgress() if args.progress_json else RunProgress(line)
    command = ["xoff", *sys.argv[1:]]
    # Who did not ask for threads need not hear how many there are.
    note = _note_on(line) if args.threads else None
    try:
        result = api.run(
            Path(args.file), out, args.set, report, command, threads=args.threads, note=note
        )
    finally:
        line.clear()
    if not args.quiet and not args.progress_json:
        from xoff import reference, summary

        print(summary.render(result), end="")
        print(reference.report(Path(args.file), result), end="")
        print(f"\nresults in {result.path}")
    return 0


def _note_on(line: Line) -> Callable[[str], None]:
    return lambda text: line.note(f"xoff: note: {text}")


def _default_out(file: Path) -> Path:
    # The config of an HPCC case is always called config.txt: its folder has the name.
    stem = file.resolve().parent.name if file.name == "config.txt" else file.stem
    return Path("out") / stem


def reproduce(args: argparse.Namespace) -> int:
    """`xoff reproduce`: run an experiment, draw it, check its claims."""
    from xoff import papers
    from xoff import reproduce as experiments

    if args.list:
        print("\n".join(papers.experiments()))
        return 0
    if args.experiment is None:
        raise UsageError("name an experiment, PAPER/EXPERIMENT (`--list` shows them)")
    outcome = experiments.reproduce(
        args.experiment,
        scale=args.scale,
        out=Path(args.out) if args.out else None,
        check=args.check or args.json,
        slots=args.jobs,
        line=Line(),
    )
    if args.json:
        print(experiments.as_json(outcome))
        return 0
    print(experiments.table_text(outcome), end="")
    if args.check:
        print("\n" + experiments.claims_text(outcome), end="")
    print(f"\nfigure: {outcome.out / 'figure.svg'}\n        {outcome.out / 'figure.png'}")
    print(f"table:  {outcome.out / 'table.md'}")
    return 0


def check(args: argparse.Namespace) -> int:
    """`xoff check`: print the effective scenario, or the schema."""
    if args.schema:
        print(engine.schema())
        return 0
    if args.file is None:
        raise UsageError("name a scenario file, or ask for --schema")
    print(api.check(Path(args.file), args.set), end="")
    return 0


def presets(args: argparse.Namespace) -> int:
    """`xoff presets`: list every preset with what it is."""
    print(table(("preset", "what it is"), engine.presets(), left=2))
    return 0


def plot(args: argparse.Namespace) -> int:
    """`xoff plot`: draw finished runs in one figure."""
    from xoff.result import load

    results = {_label(folder, args.runs): load(folder) for folder in args.runs}
    from xoff import plots

    stem = Path(args.out)
    if stem.suffix in (".svg", ".png"):
        stem = stem.with_suffix("")
    for file in plots.save(plots.overview(results), stem):
        print(file)
    return 0


def _label(folder: str, among: Iterable[str]) -> str:
    """Name a run by its folder, with as much of the path as tells it from the others."""
    name = Path(folder).resolve().name
    return folder if [Path(f).resolve().name for f in among].count(name) > 1 else name


def bench(args: argparse.Namespace) -> int:
    """`xoff bench`: measure; a line of JSON a case, or a table."""
    if args.list:
        print("\n".join(_bench_cases(args.cases or ["*"])))
        return 0
    if not args.cases:
        raise UsageError(
            "name a case or a pattern, such as bfc-google-128 or 'bfc-*-128' "
            "(`xoff bench --list` shows the cases)"
        )
    cases, rows = _bench_cases(args.cases), []
    for case in cases:
        alone = len(cases) == 1
        found = _bench_here(case, args.threads) if alone else _bench_apart(case, args.threads)
        if args.json:
            print(json.dumps(found), flush=True)
        rows.append(_bench_row(case, found))
    if not args.json:
        print(table(BENCH_HEADER, rows))
    return 0


def _bench_cases(patterns: Iterable[str]) -> list[str]:
    """Return the cases that any of the patterns names, each once, in the order of the patterns."""
    known = engine.bench_cases()
    chosen: dict[str, None] = {}
    for pattern in patterns:
        matches = fnmatch.filter(known, pattern)
        if not matches:
            raise UsageError(f"no bench case is called `{pattern}`{suggestion(pattern, known)}")
        chosen.update(dict.fromkeys(matches))
    return list(chosen)


BENCH_HEADER = (
    "case",
    "packet-hops",
    "flows",
    "build (s)",
    "wall (s)",
    "ns/packet-hop",
    "instructions/packet-hop",
    "peak RSS (MB)",
    "threads",
    "digest",
)


def _bench_row(case: str, found: dict[str, Any]) -> list[str]:
    rss = found.get("peak_rss_bytes")
    return [
        case,
        f"{found.get('packet_hops', 0):,}",
        f"{found.get('flows', 0):,}",
        fixed(found.get("build_s"), 3),
        fixed(found.get("wall_s")),
        fixed(found.get("ns_per_packet_hop"), 1),
        fixed(found.get("instructions_per_packet_hop"), 0),
        fixed(None if rss is None else rss / 1e6, 0),
        str(found.get("threads", "-")),
        str(found.get("digest", "-")),
    ]


def _bench_here(case: str, threads: int) -> dict[str, Any]:
    """Run a case in a thread, so that Ctrl-C is heard while the engine is busy."""
    answer: list[dict[str, Any]] = []
    failure: list[BaseException] = []

    def work() -> None:
        try:
            counter = Instructions()
            found = dict(json.loads(engine.bench(case, threads)))
            instructions = counter.read()
            if instructions is not None:
                found["instructions_per_packet_hop"] = instructions / found["packet_hops"]
            answer.append(found)
        except BaseException as error:
            failure.append(error)

    line, began = Line(), time.monotonic()
    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    try:
        while worker.is_alive():
            worker.join(0.1)
            if line.due() and worker.is_alive():
                line.show(f"bench {case}  {time.monotonic() - began:.0f} s")
    except KeyboardInterrupt:
        line.clear()
        print("xoff: interrupted", file=sys.stderr, flush=True)
        os._exit(130)  # the engine's thread cannot be stopped, and has nothing to tidy up
    line.clear()
    if failure:
        raise failure[0]
    return answer[0]


def _bench_apart(case: str, threads: int) -> dict[str, Any]:
    """Run a case in a process of its own: peak memory is counted a process."""
    command = [sys.executable, "-m", "xoff", "bench", case, "--json", "--threads", str(threads)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode == 130:
        raise KeyboardInterrupt
    if done.returncode != 0:
        kind: type[XoffError] = UsageError if done.returncode == 2 else RunError
        raise kind(f"bench {case} failed")
    return dict(json.loads(done.stdout))

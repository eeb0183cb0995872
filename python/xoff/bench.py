"""`xoff bench`: measures cases, repeatedly and on several numbers of threads."""

from __future__ import annotations

import fnmatch
import itertools
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from xoff import engine
from xoff.counters import Instructions
from xoff.errors import RunError, UsageError, XoffError
from xoff.progress import Line
from xoff.terminal import complain
from xoff.text import fixed, suggestion, table

Figures = dict[str, Any]

# Figures that vary between runs; reported as median, minimum and maximum.
TIMES = ("wall_s", "ns_per_packet_hop")

HEADER = (
    "case",
    "packet-hops",
    "flows",
    "build (s)",
    "wall (s)",
    "ns/packet-hop",
    "instructions/packet-hop",
    "peak RSS (MB)",
    "threads",
    "speed-up",
    "digest",
)


def cases(patterns: Iterable[str]) -> list[str]:
    """Return the cases that match a pattern, each once, in the order of the patterns.

    Raises `UsageError` if a pattern matches nothing.
    """
    known, stress = engine.bench_cases(), _stress_cases()
    chosen: dict[str, None] = {}
    for pattern in patterns:
        matches = [pattern] if pattern in stress else fnmatch.filter(known, pattern)
        if not matches:
            raise UsageError(f"no bench case matches `{pattern}`{suggestion(pattern, known)}")
        chosen.update(dict.fromkeys(matches))
    return list(chosen)


def _stress_cases() -> set[str]:
    shapes, factors = engine.stress_shapes()
    parts = itertools.product(engine.presets(), shapes, factors)
    return {f"{preset}-{shape}-x{factor}" for (preset, _), (shape, _), factor in parts}


def measure(
    names: Sequence[str], threads: Sequence[int], repeat: int, estimate: bool = False
) -> Iterator[Figures]:
    """Yield the figures of each case and number of threads once it has run `repeat` times.

    With `estimate` all run on one thread, and times are those expected with N cores.
    The runs alternate over cases and threads, so that machine noise affects all alike.
    Raises `RunError` if a run fails or two runs of a case have different digests.
    """
    pairs = list(itertools.product(names, threads))
    # Peak memory is measured per process.
    run = _here if len(pairs) * repeat == 1 else _apart
    runs: dict[tuple[str, int], list[Figures]] = {pair: [] for pair in pairs}
    firsts: dict[str, Figures] = {}
    for _ in range(repeat):
        for case, count in pairs:
            found = run(case, count, estimate and count > 1)
            _compare(case, firsts.setdefault(case, found), found)
            so_far = runs[case, count]
            so_far.append(found)
            if len(so_far) == repeat:
                yield _median(so_far)


def _compare(case: str, first: Figures, other: Figures) -> None:
    if first["digest"] != other["digest"]:
        told = [f"{run['digest']} with threads = {run['threads']}" for run in (first, other)]
        raise RunError(
            f"two runs of bench {case} differ: digest {' and '.join(told)}; this is a bug in xoff"
        )


def _median(runs: Sequence[Figures]) -> Figures:
    """Return the figures of the run with the median wall time, with extremes of the times."""
    found = dict(sorted(runs, key=lambda run: run["wall_s"])[(len(runs) - 1) // 2])
    found["runs"] = len(runs)
    for key in TIMES:
        values = [run[key] for run in runs]
        found[key] = round(statistics.median(values), 6)
        found[f"{key}_min"], found[f"{key}_max"] = min(values), max(values)
    return found


def table_text(measured: Iterable[Figures]) -> str:
    """Format the figures as a table; speed-up is relative to the first row of the same case."""
    firsts: dict[str, Figures] = {}
    return table(HEADER, [_row(firsts.setdefault(f["case"], f), f) for f in measured])


def _row(first: Figures, found: Figures) -> list[str]:
    speed_up = first["ns_per_packet_hop"] / found["ns_per_packet_hop"]
    rss = found.get("peak_rss_bytes")
    return [
        found["case"],
        f"{found['packet_hops']:,}",
        f"{found['flows']:,}",
        fixed(found["build_s"], 3),
        fixed(found["wall_s"]),
        fixed(found["ns_per_packet_hop"], 1),
        fixed(found.get("instructions_per_packet_hop"), 0),
        fixed(None if rss is None else rss / 1e6, 0),
        f"{found['threads']}{' (estimate)' if 'one_thread_s' in found else ''}",
        fixed(None if found is first else speed_up),
        found["digest"],
    ]


def _here(case: str, threads: int, estimate: bool) -> Figures:
    """Run a case in a thread, so that Ctrl-C takes effect while the engine is busy."""
    answer: list[Figures] = []
    failure: list[BaseException] = []

    def work() -> None:
        try:
            answer.append(_run(case, threads, estimate))
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
        complain("xoff: interrupted")
        os._exit(130)  # the engine's thread cannot be stopped and needs no cleanup
    line.clear()
    if failure:
        raise failure[0]
    return answer[0]


def _run(case: str, threads: int, estimate: bool) -> Figures:
    counter, began = Instructions(), time.thread_time()
    found: Figures = json.loads(engine.bench(case, threads, estimate))
    instructions, processor_s = counter.read(), time.thread_time() - began
    # Both count this thread only.
    if found["threads"] == 1:
        found["processor_s"] = round(processor_s - found["build_s"], 6)
    if instructions is not None and found["threads"] == 1:
        found["instructions_per_packet_hop"] = instructions / found["packet_hops"]
    return found


def _apart(case: str, threads: int, estimate: bool) -> Figures:
    """Run a case in a process of its own."""
    command = [sys.executable, "-m", "xoff", "bench", case, "--json", "--threads", str(threads)]
    command += ["--estimate"] if estimate else []
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode == 130:
        raise KeyboardInterrupt
    if done.returncode != 0:
        kind: type[XoffError] = UsageError if done.returncode == 2 else RunError
        raise kind(f"bench {case} failed")
    return dict(json.loads(done.stdout))

#!/usr/bin/env python3
"""Guards the engine's speed: counts instructions per packet-hop and compares them with a table.

Wall-clock time depends on the machine and its neighbours; instructions repeat. Each case runs
under callgrind for two lengths of time, and the difference leaves out what setting up costs. More
than 5 % above bench/instructions.json fails; `--update` writes that table anew. Counts depend on
the compiler, so the table says which one it is for; with another, differences are only shown.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_suffix(".json")
CASES = (
    "dctcp-hadoop-128",
    "bfc-hadoop-128",
    "hpcc-hadoop-128",
    "dcqcn-hadoop-128",
    "pfc-hadoop-128",
    "dctcp-google-128",
)
SHORT_US, LONG_US = 100, 250
TOLERANCE = 0.05


def main() -> int:
    """Count, then compare or update; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="write the table anew")
    parser.add_argument("--required", action="store_true", help="fail if valgrind is missing")
    args = parser.parse_args()
    if shutil.which("valgrind") is None:
        print(("error" if args.required else "skipped") + ": valgrind is not installed")
        return int(args.required)
    engine = build()
    found = {"compiler": compiler(), "cases": {case: count(engine, case) for case in CASES}}
    if args.update:
        TABLE.write_text(json.dumps(found, indent=2) + "\n")
        print(f"wrote {TABLE.relative_to(ROOT)}")
        return 0
    text, good = compare(json.loads(TABLE.read_text()), found)
    print(text)
    return 0 if good else 1


def build() -> str:
    """Build the engine's runner as it ships; return where it is."""
    command = ["cargo", "build", "--release", "-p", "xoff-scenario", "--example", "scenario"]
    messages = output([*command, "--message-format=json-render-diagnostics"]).splitlines()
    built = [json.loads(line).get("executable") for line in messages]
    return str(next(path for path in built if path))


def compiler() -> str:
    """Return what instruction counts depend on: the compiler and the kind of processor."""
    said = dict(re.findall(r"^(\S+): (.*)$", output(["rustc", "--version", "--verbose"]), re.M))
    return f"rustc {said['release']} ({said['commit-hash'][:9]}) for {said['host']}"


def count(engine: str, case: str) -> float:
    """Return the instructions that one more packet-hop of a case takes."""
    print(f"counting {case}", file=sys.stderr, flush=True)
    (few, few_hops), (many, many_hops) = (callgrind(engine, case, us) for us in (SHORT_US, LONG_US))
    return round((many - few) / (many_hops - few_hops), 1)


def callgrind(engine: str, case: str, us: int) -> tuple[int, int]:
    """Run a case for so long; return its instructions and its packet-hops."""
    length = [f"run.measure={us}us", f"traffic.0.stop={us}us"]
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = subprocess.run(
        [*valgrind, engine, case, *length], capture_output=True, text=True, check=False
    )
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or collected is None:
        sys.exit(f"error: {case} did not run under valgrind:\n{done.stderr}")
    return int(collected[1]), int(json.loads(done.stdout)["packet_hops"])


def output(command: list[str]) -> str:
    """Run a command at the root of the repository; return what it prints."""
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def compare(table: dict[str, Any], found: dict[str, Any]) -> tuple[str, bool]:
    """Return what to print, and whether nothing has become slower than the table allows."""
    update = "bench/instructions.py --update"
    if table["cases"].keys() != found["cases"].keys():
        return f"the table has other cases than are counted: run {update}", False
    lines = [f"{'instructions per packet-hop':<28}{'table':>8}{'found':>8}{'change':>9}"]
    changes = {case: found["cases"][case] / table["cases"][case] - 1 for case in table["cases"]}
    for case, change in changes.items():
        before, now = table["cases"][case], found["cases"][case]
        lines.append(f"{case:<28}{before:>8.1f}{now:>8.1f}{100 * change:>+7.1f} %")
    slower = max(changes.values()) > TOLERANCE
    if table["compiler"] != found["compiler"]:
        lines.append(
            f"warning: the table is for {table['compiler']}, but this is {found['compiler']}; "
            "differences are only shown"
        )
        return "\n".join(lines), True
    if slower:
        lines.append(f"error: more than 5 % above the table. If that is meant, run {update}")
    elif min(changes.values()) < -TOLERANCE:
        lines.append(f"more than 5 % below the table: run {update} to keep what was won")
    return "\n".join(lines), not slower


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Guards the engine's speed: counts instructions per packet-hop and holds them below ceilings.

Wall-clock time depends on the machine and its load; instruction counts repeat. Each case runs
under callgrind for two lengths of time, and the difference excludes the cost of setup. A case above
its ceiling in bench/instructions.json fails. `--update` lowers ceilings to the new counts.
`--raise REASON` also raises them and records the reason beside the case. Counts depend on the
compiler, so the table names its compiler; with another one, differences are only shown.
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
# A count above its ceiling by no more than this share passes: counts are rounded to a tenth, which
# is 0.02 %, and set-up does not cancel to the last instruction.
REPEATABILITY = 0.001


def main() -> int:
    """Count, then compare or update; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="lower ceilings to the new counts")
    parser.add_argument(
        "--raise", dest="reason", metavar="REASON", help="like --update, and raise ceilings too"
    )
    parser.add_argument("--required", action="store_true", help="fail if valgrind is missing")
    args = parser.parse_args()
    if args.reason is not None and not args.reason.strip():
        parser.error("--raise needs a reason")
    if shutil.which("valgrind") is None:
        print(("error" if args.required else "skipped") + ": valgrind is not installed")
        return int(args.required)
    engine = build()
    found = {"compiler": compiler(), "cases": {case: count(engine, case) for case in CASES}}
    table = json.loads(TABLE.read_text())
    text, good = compare(table, found)
    print(text)
    if args.update or args.reason:
        text, good = update(table, found, args.reason)
        print(text)
    return 0 if good else 1


def build() -> str:
    """Build the engine's runner as it ships; return where it is.

    Naming the Python package gives the crates its features, so that those it has built serve here.
    """
    packages = ["-p", "xoff-run", "-p", "xoff-python", "--features", "xoff-python/extension-module"]
    command = ["cargo", "build", "--release", *packages, "--bin", "scenario"]
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


def above(ceilings: dict[str, Any], counts: dict[str, float]) -> list[str]:
    """Return the cases whose count is above their ceiling."""
    allowed = {case: entry["ceiling"] * (1 + REPEATABILITY) for case, entry in ceilings.items()}
    return [case for case, count in counts.items() if count > allowed.get(case, count)]


def compare(table: dict[str, Any], found: dict[str, Any]) -> tuple[str, bool]:
    """Return what to print, and whether no case is above its ceiling."""
    ceilings, counts = table["cases"], found["cases"]
    if ceilings.keys() != counts.keys():
        return (
            "the table has other cases than are counted: run bench/instructions.py --update",
            False,
        )
    lines = [f"{'instructions per packet-hop':<28}{'ceiling':>8}{'found':>8}{'change':>9}"]
    for case, now in counts.items():
        ceiling = ceilings[case]["ceiling"]
        lines.append(f"{case:<28}{ceiling:>8.1f}{now:>8.1f}{100 * (now / ceiling - 1):>+7.1f} %")
    if table["compiler"] != found["compiler"]:
        lines.append(
            f"warning: the table is for {table['compiler']}, but this is {found['compiler']}; "
            "differences are only shown"
        )
        return "\n".join(lines), True
    slower = above(ceilings, counts)
    if slower:
        lines.append(
            f"error: above the ceiling: {', '.join(slower)}. Make the engine faster, or run "
            'bench/instructions.py --raise "REASON"'
        )
    elif any(now < ceilings[case]["ceiling"] * (1 - REPEATABILITY) for case, now in counts.items()):
        lines.append("below the ceiling: run bench/instructions.py --update to lower it")
    return "\n".join(lines), not slower


def update(table: dict[str, Any], found: dict[str, Any], reason: str | None) -> tuple[str, bool]:
    """Write the counts as the new ceilings; without a reason, only if none of them rises."""
    ceilings, counts = table["cases"], found["cases"]
    slower = above(ceilings, counts)
    if slower and reason is None:
        return (
            f'error: not written; --raise "REASON" raises the ceiling of {", ".join(slower)}',
            False,
        )
    cases = {}
    for case, now in counts.items():
        entry = dict(ceilings.get(case, {"ceiling": now}))
        if case in slower:
            raised = {"from": entry["ceiling"], "to": now, "reason": reason}
            entry = {"ceiling": now, "raised": [*entry.get("raised", []), raised]}
        else:
            # A count that only the allowance lets pass leaves the ceiling where it is.
            entry["ceiling"] = min(now, entry["ceiling"])
        cases[case] = entry
    TABLE.write_text(json.dumps({"compiler": found["compiler"], "cases": cases}, indent=2) + "\n")
    return f"wrote {TABLE.name}", True


if __name__ == "__main__":
    sys.exit(main())

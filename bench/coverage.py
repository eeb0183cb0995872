#!/usr/bin/env python3
"""Shows which share of the lines the tests run, and fails if it is too low.

Reads `rust.json` of `cargo llvm-cov --json --summary-only` and `python.json` of `coverage json`
from a folder, where `make coverage` puts them. Fails if less than 85 % of Rust or of Python is run,
or less than 75 % of a file on the path of packets.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEAST_SHARE = 0.85
LEAST_SHARE_OF_PATH = 0.75
# Where packets, flows and their events are handled.
PACKET_PATH = (
    "crates/xoff-core/src/wheel",
    "crates/xoff-net/src/",
    "crates/xoff-host/src/",
    "crates/xoff-sim/src/partition",
)
# Settings, topologies and programs, which run before a simulation.
APART = ("crates/xoff-net/src/topo",)

Lines = tuple[int, int]


def main() -> int:
    """Print the shares; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where rust.json and python.json are")
    folder = parser.parse_args().folder
    rust, python = rust_files(folder / "rust.json"), python_files(folder / "python.json")
    failed = [part for part in (report("Rust", rust), report("Python", python)) if part]
    for name, (run, lines) in sorted(rust.items()):
        on_path = name.startswith(PACKET_PATH) and not name.startswith(APART)
        if on_path and run < LEAST_SHARE_OF_PATH * lines:
            failed.append(f"{name}: {run} of {lines} lines, less than 75 %")
    for text in failed:
        print(f"error: {text}")
    return 1 if failed else 0


def rust_files(path: Path) -> dict[str, Lines]:
    """Return the lines that were run and all lines of each source file, without tests."""
    found = {}
    for file in json.loads(path.read_text())["data"][0]["files"]:
        lines = file["summary"]["lines"]
        name = str(Path(file["filename"]).resolve().relative_to(ROOT))
        if not name.endswith("tests.rs") and "/tests/" not in name:
            found[name] = lines["covered"], lines["count"]
    return found


def python_files(path: Path) -> dict[str, Lines]:
    """Return the same for the modules of the package."""
    found = {}
    for name, file in json.loads(path.read_text())["files"].items():
        summary = file["summary"]
        found[name] = summary["covered_lines"], summary["num_statements"]
    return found


def report(language: str, files: dict[str, Lines]) -> str:
    """Print the share of each crate or folder and of all; return what is wrong with it, or ''."""
    parts: dict[str, list[Lines]] = defaultdict(list)
    for name, lines in files.items():
        folders = Path(name).parts[:-1]
        parts["/".join(folders[:2])].append(lines)
    for part, found in sorted(parts.items()):
        print(f"{part:32} {share(found):6.1%} of {sum(lines for _, lines in found):6} lines")
    whole = share(files.values())
    print(f"{language + ', all':32} {whole:6.1%}\n")
    return "" if whole >= LEAST_SHARE else f"{language}: {whole:.1%} of the lines, less than 85 %"


def share(files: Iterable[Lines]) -> float:
    """Return the share of lines that were run."""
    pairs = list(files)
    return sum(run for run, _ in pairs) / max(1, sum(lines for _, lines in pairs))


if __name__ == "__main__":
    raise SystemExit(main())

"""`xoff doctor`: what this installation has, and what is missing for which command."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from xoff import engine, extras
from xoff.cores import cores
from xoff.errors import UsageError, XoffError
from xoff.papers import experiments
from xoff.text import byte_text, table

# Packages that xoff does not work without, besides the engine.
NEEDED = ("numpy", "pyarrow", "argcomplete")
TRIAL = """
scheme = "bfc"
network.topology = "star"
star.hosts = 4
run = { warmup = "0us", measure = "20us" }
[[traffic]]
kind = "open-loop"
sizes = "google"
load = 0.5
load_on = "hosts"
"""
# Below this, runs with rows per flow may fill the disk.
LITTLE_SPACE = 2_000_000_000


OK, OPTIONAL, MISSING = "ok", "optional", "MISSING"
"""States: found; not found, and only some commands need it; not found, and xoff needs it."""


class Item(NamedTuple):
    """Something examined: what was found, what to do about it, and its state."""

    what: str
    found: str
    advice: str = ""
    state: str = OK


def examine() -> list[Item]:
    """Examine the engine, the packages, the papers, the machine and the disk."""
    return [
        Item("xoff", engine.version(), str(Path(__file__).resolve().parent)),
        Item("python", platform.python_version(), platform.platform()),
        _engine(),
        *(_package(name, "reinstall xoff", MISSING) for name in NEEDED),
        *(
            _package(name, f"{extras.PURPOSES[extra]}: {extras.advice(extra)}", OPTIONAL)
            for extra, name in extras.PACKAGES.items()
        ),
        _papers(),
        _agent(),
        Item("cores", str(cores())),
        _memory(),
        _disk("output", Path.cwd()),
        _disk("temporary files", Path(tempfile.gettempdir())),
    ]


def text(found: list[Item]) -> str:
    """Format one line per item."""
    rows = [(item.state, item.what, item.found, item.advice) for item in found]
    return table(("", "what", "found", ""), rows, left=4)


def _engine() -> Item:
    """Run a scenario of a few microseconds."""
    from xoff import api

    try:
        digest = api.run(TRIAL, progress=False).digest
    except (XoffError, ImportError) as error:
        return Item("engine", str(error).strip().splitlines()[0], "reinstall xoff", MISSING)
    return Item("engine", f"runs, digest {digest}")


def _package(name: str, advice: str, without: str) -> Item:
    """Examine a package; `without` is the state where it is not installed."""
    if find_spec(name) is None:
        return Item(name, "not installed", advice, without)
    return Item(name, metadata.version(name))


def _papers() -> Item:
    try:
        return Item("papers", f"{len(experiments())} experiments")
    except UsageError as error:
        return Item("papers", "none", str(error), MISSING)


def _agent() -> Item:
    planes = engine.agent_planes()
    if not planes:
        return Item("agent", "not on this system", "`xoff agent` needs Linux", OPTIONAL)
    without = "`xoff agent` without eBPF: install libelf and zlib with headers, build xoff again"
    return Item("agent", f"data planes {', '.join(planes)}", "" if "bpf" in planes else without)


def _memory() -> Item:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return Item("memory", "unknown")
    return Item("memory", byte_text(size))


def _disk(what: str, folder: Path) -> Item:
    free = shutil.disk_usage(folder).free
    if not os.access(folder, os.W_OK):
        return Item(what, f"{folder} is not writable", "choose another folder with --out", MISSING)
    advice = 'little space: `run.flows = "none"` keeps runs small' if free < LITTLE_SPACE else ""
    return Item(what, f"{byte_text(free)} free in {folder}", advice)

"""The Python API: `xoff.run` and `xoff.check`, as in the command."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

from xoff import engine
from xoff.cores import cores
from xoff.engine import Report, Watcher
from xoff.errors import UsageError, as_path
from xoff.manifest import needed_tables
from xoff.result import Result

Scenario = str | os.PathLike[str]


def read_scenario(scenario: Scenario) -> tuple[str, str]:
    """Return (text, file name) of a scenario given as a path or as TOML text.

    A string with a newline is TOML text; so is one with an equals sign that names no file.
    Raises `UsageError` if a file cannot be read.
    """
    if isinstance(scenario, str) and ("\n" in scenario or "=" in scenario):
        is_text = "\n" in scenario or not os.path.exists(scenario)
        if is_text:
            return scenario, "scenario.toml"
    path = as_path(scenario, "a scenario")
    if os.path.isdir(path):
        raise UsageError(f"{path} is a folder; name the scenario file in it")
    try:
        return path.read_text(encoding="utf-8"), str(path)
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None


def _overrides(given: Iterable[str]) -> list[str]:
    """Return overrides as a list; a text is a single one."""
    return [given] if isinstance(given, str) else list(given)


def check(scenario: Scenario, set: Iterable[str] = (), max_memory: str | int | None = None) -> str:
    """Validate a scenario; return the effective scenario as TOML: all defaults and derived values.

    `set` holds overrides `key=value` as on the command line. `max_memory` is the largest estimated
    memory, in bytes or as a size such as `"24GB"` (None: the memory available).
    Raises `ScenarioError`, or `UsageError` if `max_memory` is not a size.
    """
    text, file = read_scenario(scenario)
    return engine.check(text, file, _overrides(set), max_memory)


def backpressure(
    scenario: Scenario,
    set: Iterable[str] = (),
    any_link: bool = False,
    max_memory: str | int | None = None,
) -> str | None:
    """Report, as TOML comments, whether pauses can form a cycle between switches.

    Returns None if the scenario's switches do not pause each other. `any_link` also checks the
    network with each one link down. `max_memory` is as in `check`. Raises `ScenarioError`.
    """
    text, file = read_scenario(scenario)
    return engine.backpressure(text, file, _overrides(set), any_link, max_memory)


def explain(
    scenario: Scenario, set: Iterable[str] = (), max_memory: str | int | None = None
) -> tuple[str, dict[str, Any]] | None:
    """Explain a scenario, as TOML comments and as values; None for an engine without packets.

    The values are `thresholds` (bytes, or picoseconds where the name ends in `_ps`),
    `offered_load` and `warnings`, settings that cannot matter. `max_memory` is as in `check`.
    Raises `ScenarioError`.
    """
    text, file = read_scenario(scenario)
    return engine.explain(text, file, _overrides(set), max_memory)


class _Memory:
    """Collects the rows of a run that writes no run directory."""

    def __init__(self) -> None:
        self._batches: dict[str, list[Any]] = {table: [] for table in needed_tables()}

    def rows(self, table: str, batch: Any) -> None:
        from xoff.tables import as_batch

        self._batches.setdefault(table, []).append(as_batch(batch))

    def tables(self) -> dict[str, Any]:
        """Return what was collected, as tables."""
        from xoff.tables import as_table, empty_schema

        found = self._batches.items()
        return {table: as_table(batches, empty_schema(table)) for table, batches in found}

    def file(self, name: str, data: bytes) -> None:
        """Discard what exists only as a file of a run directory."""


def run(
    scenario: Scenario,
    out: str | os.PathLike[str] | None = None,
    set: Iterable[str] = (),
    progress: Report | None = None,
    command: list[str] | None = None,
    threads: int | None = None,
    note: Callable[[str], None] | None = None,
    max_memory: str | int | None = None,
    watcher: Watcher | None = None,
) -> Result:
    """Run a scenario to its end and return its result.

    - `scenario`: a path or TOML text.
    - `out`: the run directory to write (None: the result stays in memory).
    - `set`: overrides such as `"scheme=bfc"`, or a single one.
    - `progress`: called a few times a second with a dict: `sim_ps`, `end_ps`, `flows_started`,
      `flows_finished`, `packet_hops`, `phase`, `drain_end_ps`, `measured_flows`, `missing_flows`,
      `measured_requests`, `missing_requests` (`xoff.Progress` documents them).
    - `command`: recorded in the manifest (None: `sys.argv`).
    - `threads`: the largest number of threads (None: one per core); results are the same for
      any number.
    - `note`: called before the run starts with the reason why it uses fewer threads, if it does.
    - `max_memory`: as in `check`.
    - `watcher`: looks at the run while it advances, such as `xoff run --live`.

    The GIL is released while the engine runs. Ctrl-C takes effect within a second: it raises
    `Interrupted` (a `KeyboardInterrupt`) and leaves partial results in `<out>.partial`.
    Raises `ScenarioError` (nothing ran), `UsageError` (`out` cannot be written, `threads` below
    1), `RunError` (the run failed or the disk is full).
    """
    place = None if out is None else as_path(out, "a run directory")
    text, file = read_scenario(scenario)
    most = cores() if threads is None else threads
    native = engine.open_run(text, file, _overrides(set), most, max_memory)
    if watcher is not None and not hasattr(native, "ports"):
        raise UsageError("a live report requires a run with packets; this engine has none")
    if note is not None and native.threads_note is not None:
        note(native.threads_note)
    if place is None:
        return _run_in_memory(native, progress, watcher)
    from xoff.rundir import RunDir

    with RunDir(place, command or sys.argv) as folder:
        folder.begin(native)
        engine.drive(native, folder, progress, watcher)
        return folder.finish(native)


def _run_in_memory(native: Any, progress: Report | None, watcher: Watcher | None) -> Result:
    memory = _Memory()
    engine.drive(native, memory, progress, watcher)
    summary = json.loads(native.summary())
    return Result(summary, native.effective(), native.digest(), tables=memory.tables())

"""`xoff.run` and `xoff.check`: what the command does, from Python."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

from xoff import engine
from xoff.cores import cores
from xoff.engine import Report
from xoff.errors import UsageError, as_path
from xoff.manifest import needed_tables
from xoff.result import Result

Scenario = str | os.PathLike[str]


def read_scenario(scenario: Scenario) -> tuple[str, str]:
    """Return (text, file name) of a scenario given as a path or as TOML text.

    A string with a newline or an equals sign that is no file is taken as text.
    Raises `UsageError` where a file cannot be read.
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


def check(scenario: Scenario, set: Iterable[str] = (), max_memory: str | int | None = None) -> str:
    """Validate a scenario; return it as TOML with every default and derived value.

    `set` holds overrides `key=value` as on the command line. A scenario that needs more memory
    than `max_memory`, a size such as `"24GB"` or a number of bytes (None: what the machine has),
    is refused. Raises `ScenarioError`, and `UsageError` if `max_memory` is no size.
    """
    text, file = read_scenario(scenario)
    return engine.check(text, file, list(set), max_memory)


def backpressure(
    scenario: Scenario,
    set: Iterable[str] = (),
    any_link: bool = False,
    max_memory: str | int | None = None,
) -> str | None:
    """Say, as TOML comments, whether a scenario's pauses can go round in circles.

    `any_link` asks for its network with any one link down, too. None: its switches do not pause
    each other. `max_memory` is as in `check`. Raises `ScenarioError`.
    """
    text, file = read_scenario(scenario)
    return engine.backpressure(text, file, list(set), any_link, max_memory)


class _Memory:
    """Collects a run's rows for a result that is never written."""

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

    def capture(self, data: bytes) -> None:
        """Leave it: a capture is a file of a run directory."""


def run(
    scenario: Scenario,
    out: str | os.PathLike[str] | None = None,
    set: Iterable[str] = (),
    progress: Report | None = None,
    command: list[str] | None = None,
    threads: int | None = None,
    note: Callable[[str], None] | None = None,
    max_memory: str | int | None = None,
) -> Result:
    """Run a scenario to its end.

    `scenario` is a path or TOML text, `set` overrides (`"scheme=bfc"`), `out` the run
    directory to write (None: the result stays in memory). `progress` is called a few times
    a second with a dict: `sim_ps`, `end_ps`, `flows_started`, `flows_finished`,
    `packet_hops`, `phase`. `command` is recorded in the manifest. `threads` is the number of
    threads to use at most (None: one a core); results do not depend on it. `note` is told,
    before the run begins, why fewer are used. `max_memory` is as in `check`.

    The GIL is released while the engine works; Ctrl-C is answered within a second and
    raises `Interrupted` (a `KeyboardInterrupt`), with what was done in `<out>.partial`.
    Raises `ScenarioError` (nothing was run), `UsageError` (`out` cannot be written, no thread),
    `RunError` (the run failed or the disk filled).
    """
    place = None if out is None else as_path(out, "a run directory")
    text, file = read_scenario(scenario)
    most = cores() if threads is None else threads
    native = engine.open_run(text, file, list(set), most, max_memory)
    if note is not None and native.threads_note is not None:
        note(native.threads_note)
    if place is None:
        return _run_in_memory(native, progress)
    from xoff.rundir import RunDir

    with RunDir(place, command or sys.argv) as folder:
        folder.begin(native)
        engine.drive(native, folder, progress)
        return folder.finish(native)


def _run_in_memory(native: Any, progress: Report | None) -> Result:
    memory = _Memory()
    engine.drive(native, memory, progress)
    summary = json.loads(native.summary())
    return Result(summary, native.effective(), native.digest(), tables=memory.tables())

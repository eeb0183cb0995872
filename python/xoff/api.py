"""The Python API: `xoff.run`, `xoff.check` and the others, as in the command."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from xoff import engine, estimate, source
from xoff.budget import Budget
from xoff.cores import cores
from xoff.engine import Report, Watcher
from xoff.errors import EndedEarly, UsageError, as_path
from xoff.estimate import Estimate, Explanation
from xoff.manifest import needed_tables
from xoff.progress import RunProgress, line_for
from xoff.result import Result
from xoff.source import Given

if TYPE_CHECKING:
    from xoff.declared_settings import Preset


# A run that is expected to take less needs no word about it.
LONG_RUN_S = 60.0


def check(scenario: Given, set: Iterable[str] = (), max_memory: str | int | None = None) -> str:
    """Validate a scenario; return the effective scenario as TOML: all defaults and derived values.

    `set` holds overrides `key=value` as on the command line. `max_memory` is the largest estimated
    memory, in bytes or as a size such as `"24GB"` (None: the memory available).
    Raises `ScenarioError`, or `UsageError` if `max_memory` is not a size.
    """
    given = source.read(scenario)
    return given.asked(set, lambda sets: engine.check(given.text, given.file, sets, max_memory))


def backpressure(
    scenario: Given,
    set: Iterable[str] = (),
    any_link: bool = False,
    max_memory: str | int | None = None,
) -> str | None:
    """Report, as TOML comments, whether pauses can form a cycle between switches.

    Returns None if the scenario's switches do not pause each other. `any_link` also checks the
    network with each one link down. `max_memory` is as in `check`. Raises `ScenarioError`.
    """
    given = source.read(scenario)
    return given.asked(
        set,
        lambda sets: engine.backpressure(given.text, given.file, sets, any_link, max_memory),
    )


def explain(
    scenario: Given, set: Iterable[str] = (), max_memory: str | int | None = None
) -> tuple[str, dict[str, Any]] | None:
    """Explain a scenario, as TOML comments and as values; None for an engine without packets.

    The values are `thresholds` (bytes, or picoseconds where the name ends in `_ps`),
    `offered_load` and `warnings`, settings that cannot matter. `max_memory` is as in `check`.
    Raises `ScenarioError`.
    """
    given = source.read(scenario)
    return given.asked(set, lambda sets: engine.explain(given.text, given.file, sets, max_memory))


def network(
    scenario: Given, set: Iterable[str] = (), max_memory: str | int | None = None
) -> dict[str, Any] | None:
    """Describe the network of a scenario; None for an engine without packets.

    - `name`: of the scenario.
    - `nodes`: hosts, then switches: `name` (as in scenarios) and `layer`.
    - `links`: each once, the same in both directions: `ends` (places among `nodes`), `rate_bps`,
      `delay_ps`, both as `speed`, and `faults` in words.
    - `grid`: rows, columns and planes of the switches, None if they are no grid.

    `max_memory` is as in `check`. Raises `ScenarioError`.
    """
    given = source.read(scenario)
    return given.asked(set, lambda sets: engine.network(given.text, given.file, sets, max_memory))


def expected(
    scenario: Given,
    set: Iterable[str] = (),
    max_memory: str | int | None = None,
    explained: Explanation = None,
) -> Estimate | None:
    """Estimate what a run costs; None where that cannot be known.

    Arguments as in `check`; `explained` is what `explain` returned for them, if it was asked.
    Raises `ScenarioError`.
    """
    given = source.read(scenario)
    sets = source.overrides_of(set)
    native = given.asked(
        sets, lambda sets: engine.open_run(given.text, given.file, sets, 1, max_memory)
    )
    return estimate.of(native, lambda: explained or explain(given, sets, max_memory))


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
    scenario: Given,
    out: str | os.PathLike[str] | None = None,
    set: Iterable[str] = (),
    progress: Report | bool | None = None,
    command: list[str] | None = None,
    threads: int | None = None,
    note: Callable[[str], None] | None = None,
    max_memory: str | int | None = None,
    watcher: Watcher | None = None,
    max_wall: str | float | None = None,
    max_packet_hops: str | int | None = None,
    expect: Callable[[Estimate], None] | None = None,
) -> Result:
    """Run a scenario to its end and return its result.

    - `scenario`: a `Scenario`, a path or TOML text.
    - `out`: the run directory to write (None: the result stays in memory).
    - `set`: overrides such as `"scheme=bfc"`, or a single one.
    - `progress`: None shows a line in notebooks and on terminals, True everywhere, False nowhere.
      A function is called a few times a second with a dict (`xoff.Progress` documents it).
    - `command`: recorded in the manifest (None: `sys.argv`).
    - `threads`: the largest number of threads (None: one per core); results are the same for
      any number.
    - `note`: called before the run starts with the reason why it uses fewer threads, if it does.
    - `max_memory`: as in `check`.
    - `watcher`: looks at the run while it advances, such as `xoff run --live`.
    - `max_wall`: end the run early after this wall-clock time, with building the network: `"10m"`,
      or seconds. Where it ends depends on the machine.
    - `max_packet_hops`: end the run early after the step of the time grid in which its packet-hops
      reach this number. Where it ends is the same for any number of threads.
    - `expect`: called before a run of a minute or more with what it is expected to cost.

    The GIL is released while the engine runs. Ctrl-C takes effect within a second: it raises
    `Interrupted` (a `KeyboardInterrupt`) and leaves partial results in `<out>.partial`.
    Raises `ScenarioError` (nothing ran), `UsageError` (`out` cannot be written, `threads` below
    1), `RunError` (the run failed or the disk is full), `EndedEarly` (`.result` has its part).
    """
    budget = Budget.of(max_wall, max_packet_hops)
    place = None if out is None else as_path(out, "a run directory")
    given = source.read(scenario)
    most = cores() if threads is None else threads
    sets = source.overrides_of(set)
    native = given.asked(
        sets, lambda sets: engine.open_run(given.text, given.file, sets, most, max_memory)
    )
    _check_packets(native, watcher, budget)
    if note is not None and native.threads_note is not None:
        note(native.threads_note)
    if expect is not None:
        found = estimate.of(native, lambda: explain(given, sets, max_memory), LONG_RUN_S)
        if found is not None:
            expect(found)
    if callable(progress):
        return _driven(native, place, command, progress, watcher, budget)
    line = line_for(progress)
    try:
        return _driven(native, place, command, RunProgress(line), watcher, budget)
    finally:
        line.clear()


def _check_packets(native: Any, watcher: Watcher | None, budget: Budget) -> None:
    """Raise `UsageError` if packets are asked for and the engine has none."""
    if watcher is not None and not hasattr(native, "ports"):
        raise UsageError("a live report requires a run with packets; this engine has none")
    budget.check(native)


def _driven(
    native: Any,
    place: Path | None,
    command: list[str] | None,
    report: Report,
    watcher: Watcher | None,
    budget: Budget,
) -> Result:
    """Advance a run to its end, in memory or into a run directory."""
    if place is None:
        memory = _Memory()
        early = engine.drive(native, memory, report, watcher, budget)
        summary = json.loads(native.summary())
        if early is not None:
            summary = early.marked(summary)
        result = Result(summary, native.effective(), native.digest(), tables=memory.tables())
        if early is not None:
            raise EndedEarly(early.text, result)
        return result
    from xoff.rundir import RunDir

    with RunDir(place, command or sys.argv) as folder:
        folder.begin(native)
        early = engine.drive(native, folder, report, watcher, budget)
        if early is None:
            return folder.finish(native)
        result = folder.finish_early(native, early)
    raise EndedEarly(f"{early.text}\n{folder.left()}", result)


def presets() -> dict[Preset, str]:
    """Return the built-in schemes: a line about each, by its name.

    `xoff.scenario(name)` is a scenario of one.
    """
    return cast("dict[Preset, str]", dict(engine.presets()))

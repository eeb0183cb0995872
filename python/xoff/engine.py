"""The one place that talks to the Rust engine: errors translated, time sliced.

Nothing else uses the module of the engine, so tests can put a stand-in here.
"""

from __future__ import annotations

import hashlib
import json
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

from xoff.budget import Budget, EarlyEnd
from xoff.errors import InvariantError, RunError, ScenarioError, UsageError
from xoff.native import load
from xoff.text import suggestion

if TYPE_CHECKING:
    from xoff import _native
    from xoff._native import DeclaredTable, Run
else:
    _native = load()


class Progress(TypedDict):
    """How far a run is. Times in picoseconds of simulated time."""

    sim_ps: int
    """Simulated time."""
    end_ps: int
    """End of the measurement."""
    flows_started: int
    """Flows begun."""
    flows_finished: int
    """Flows finished."""
    packet_hops: int
    """Packets of any kind sent on links."""
    phase: str
    """`measure`, or `drain` while the run waits for the last measured flows."""
    drain_end_ps: int
    """The latest end of the drain, at which the run ends in any case."""
    measured_flows: int
    """Measured flows begun."""
    missing_flows: int
    """Measured flows that have not ended."""
    measured_requests: int
    """Measured web requests begun."""
    missing_requests: int
    """Measured web requests that have not ended."""


Report = Callable[[Progress], None]
"""A progress callback: called about five times a second while a run advances."""

# Ctrl-C is seen between slices, so a slice is well below the second we promise.
STEP_MS = 150

# More than any machine has. What a number that large means is a mistake.
MOST_THREADS = 65_536

NO_BUDGET = Budget()


class Sink(Protocol):
    """Where a run's rows go while it advances."""

    def rows(self, table: str, batch: Any) -> None:
        """Take a record batch of rows of a table."""

    def file(self, name: str, data: bytes) -> None:
        """Take the bytes that follow in a file of this name."""


class Watcher(Protocol):
    """Looks at a run while it advances, from the thread that drives it."""

    def begin(self, run: Run) -> None:
        """The run is built and has not advanced."""

    def rows(self, table: str, batch: Any) -> None:
        """Take a record batch of rows of a table."""

    def tick(self, at: Progress) -> None:
        """The run has advanced for a slice of time."""


class Nowhere:
    """Takes the rows of a run whose results are not wanted."""

    def rows(self, table: str, batch: Any) -> None:
        """Drop them."""

    def file(self, name: str, data: bytes) -> None:
        """Drop them."""


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except _native.ScenarioError as error:
        raise ScenarioError(str(error)) from None
    except _native.InvariantError as error:
        raise InvariantError(str(error)) from None
    except _native.RunError as error:
        raise RunError(str(error)) from None
    except UnicodeEncodeError as error:
        raise UsageError(
            f"{error.object!r:.60} is not valid Unicode at character {error.start}"
        ) from None
    except ValueError as error:
        raise UsageError(str(error)) from None


def version() -> str:
    """Return the version of the engine, which is the version of xoff."""
    return _native.version


@cache
def build_id() -> str:
    """Return the version and a hash of the engine's binary.

    A rebuilt engine may answer differently under the same version, so cached results are
    kept apart by both.
    """
    file = getattr(_native, "__file__", None)
    digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16] if file else "builtin"
    return f"{_native.version}+{digest}"


def check(
    text: str, file: str, overrides: Sequence[str], max_memory: str | int | None = None
) -> str:
    """Return the effective scenario as TOML.

    Raises `ScenarioError` with rendered diagnostics.
    """
    with _translated():
        return _native.check(text, file, list(overrides), size(max_memory))


def backpressure(
    text: str,
    file: str,
    overrides: Sequence[str],
    any_link: bool,
    max_memory: str | int | None = None,
) -> str | None:
    """Return, as TOML comments, whether pauses can form cycles; None without pauses.

    `any_link` asks for the routes with any one link down, too. Raises `ScenarioError`.
    """
    with _translated():
        return _native.backpressure(text, file, list(overrides), any_link, size(max_memory))


def explain(
    text: str, file: str, overrides: Sequence[str], max_memory: str | int | None = None
) -> tuple[str, dict[str, Any]] | None:
    """Return what a scenario comes to, as TOML comments and as values; None without packets.

    The values are `thresholds`, `offered_load` and `warnings`. Raises `ScenarioError`.
    """
    with _translated():
        found = _native.explain(text, file, list(overrides), size(max_memory))
    return None if found is None else (found[0], json.loads(found[1]))


def network(
    text: str, file: str, overrides: Sequence[str], max_memory: str | int | None = None
) -> dict[str, Any] | None:
    """Return the network of a scenario; None for an engine without packets.

    Raises `ScenarioError`.
    """
    with _translated():
        found = _native.network(text, file, list(overrides), size(max_memory))
    return None if found is None else json.loads(found)


def open_run(
    text: str,
    file: str,
    overrides: Sequence[str],
    threads: int,
    max_memory: str | int | None = None,
    delay_seed: int | None = None,
) -> Run:
    """Build a run, by the engine its scenario names, that uses up to so many threads.

    `max_memory` is a size such as `24GB`, or bytes; None: what the machine has. With a `delay_seed`
    threads wait for random times, so that they meet in other orders. Raises `ScenarioError`,
    `UsageError` where that is no number of threads, or no size.
    """
    _check_threads(threads)
    with _translated():
        memory = size(max_memory)
        return _native.open_run(text, file, list(overrides), threads, memory, delay_seed)


def _check_threads(threads: int) -> None:
    if type(threads) is not int or not 1 <= threads <= MOST_THREADS:
        raise UsageError(
            f"threads must be a whole number from 1 to {MOST_THREADS}, not {threads!r}"
        )


def size(memory: str | int | None) -> str | None:
    """Return a size of memory as text; a number, also one of NumPy, is in bytes.

    Raises `UsageError` if it is neither.
    """
    if memory is None or isinstance(memory, str):
        return memory
    try:
        return f"{operator.index(memory)}B"
    except TypeError:
        raise UsageError(
            f"max_memory must be a size such as '24GB', or whole bytes, not {memory!r}"
        ) from None


def drive(
    run: Run,
    sink: Sink,
    report: Report | None = None,
    watcher: Watcher | None = None,
    budget: Budget = NO_BUDGET,
) -> EarlyEnd | None:
    """Advance `run` to its end, handing rows to `sink` as they come.

    A `watcher` sees the run from its beginning. Returns where the run ended early if it reached
    its `budget`. Raises `RunError` if the engine gives up, `InvariantError` if an invariant
    does not hold, `KeyboardInterrupt` between slices.
    """
    more, early = True, None
    if watcher is not None:
        watcher.begin(run)
    while more and early is None:
        with _translated():
            more = budget.step(run, STEP_MS)
        early = budget.early_end(run.progress()) if more else None
        for table, batch in run.take_tables():
            sink.rows(table, batch)
            if watcher is not None:
                watcher.rows(table, batch)
        for name, data in run.take_files():
            sink.file(name, data)
        if report is not None:
            report(run.progress())
        if watcher is not None:
            watcher.tick(run.progress())
    if early is not None and hasattr(run, "ports"):
        # The engine gives them at the end of the scenario only.
        sink.rows("ports", run.ports())
    return early


def schema() -> str:
    """Return the JSON schema of scenario files."""
    return _native.schema()


def top_level() -> Mapping[str, Mapping[str, Any]]:
    """Return what the schema has of each key and section of a scenario, in their order."""
    return _top_level(_native)


@cache
def _top_level(native: Any) -> Mapping[str, Mapping[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(native.schema()).get("properties", {})
    return found


def presets() -> list[tuple[str, str]]:
    """Return every preset as (name, one-line description)."""
    return _native.presets()


def preset_text(name: str) -> str:
    """Return a preset's settings as TOML; later ones override earlier ones.

    Raises `UsageError` if no preset has this name.
    """
    text = _native.preset_text(name)
    if text is None:
        known = [one for one, _ in presets()]
        raise UsageError(
            f"no preset is called `{name}`{suggestion(name, known)}; `xoff presets` lists them"
        )
    return text


def tables() -> list[DeclaredTable]:
    """Return the tables that a run may have.

    A name comes several times where engines have different columns under it.
    """
    return _native.tables()


def size_table(name: str) -> list[tuple[float, float]]:
    """Return a flow-size table: each size in bytes with the share of flows up to it.

    Raises `UsageError` where no table is called so.
    """
    try:
        return _native.size_table(name)
    except ValueError as error:
        raise UsageError(str(error)) from None


def bench_cases() -> list[str]:
    """Return the names of the benchmark cases."""
    return _native.bench_cases()


def stress_shapes() -> tuple[list[tuple[str, str]], list[int]]:
    """Return the shapes of stress cases, with what grows in each, and the factors of growth.

    The cases of `bench` are called `PRESET-SHAPE-xFACTOR`.
    """
    return _native.stress_shapes()


def bench(case: str, threads: int, estimate: bool) -> str:
    """Run one benchmark case on up to so many threads; return its result as a JSON object.

    With `estimate` it runs on one thread, and the times are those expected with `threads` cores.
    """
    _check_threads(threads)
    with _translated():
        return _native.bench(case, threads, estimate)


def bench_alloc(
    nodes: int, flows: int, blocks: int, threads: int, iterations: int
) -> tuple[int, float, float, float, int]:
    """Measure iterations of the parallel allocator.

    Return the number of threads, the median, the least and the most nanoseconds of an iteration,
    and a hash of the rates.
    """
    _check_threads(threads)
    return _native.bench_alloc(nodes, flows, blocks, threads, iterations)


def run_agent(config: Path) -> None:
    """Run Flowtune's endpoint of this host until SIGTERM, SIGINT or SIGHUP. Raises `RunError`."""
    try:
        _native.run_agent(config)
    except _native.AgentError as error:
        raise RunError(str(error)) from None


def clean_up_agents() -> list[str]:
    """Undo what killed agents left; return congestion controls and limits of sockets by name.

    Raises `RunError`.
    """
    try:
        return _native.clean_up_agents()
    except _native.AgentError as error:
        raise RunError(str(error)) from None


def agent_planes() -> list[str]:
    """Return the data planes of `xoff agent` that this build has."""
    return _native.agent_planes()


def allocator(path: str, only_check: bool = False) -> None:
    """Run the allocator of a configuration file until Ctrl-C or SIGTERM, or check the file.

    Raises `UsageError` if the configuration is wrong, `RunError` if a socket fails.
    """
    with _translated():
        _native.allocator(path, only_check)


def bench_control(
    endpoints: int, flowlets: int, events: int, iteration: int, *, polls: bool, seconds: float
) -> str:
    """Measure the allocator's daemon under a load; return the result as a JSON object.

    `events` are starts and ends per second; `iteration` is in nanoseconds.
    """
    with _translated():
        return _native.bench_control(endpoints, flowlets, events, iteration, polls, seconds)

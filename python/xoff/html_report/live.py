"""`xoff run --live`: the page of a run, renewed while the run advances."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from xoff.errors import EndedEarly, RunError
from xoff.html_report import document, payload
from xoff.html_report.recorder import Recorder, columns
from xoff.html_report.server import Server, State
from xoff.progress import drain_text, draining, fraction
from xoff.result import load
from xoff.tables import as_batch, names_of_nodes
from xoff.text import time_text

if TYPE_CHECKING:
    from xoff._native import Run
    from xoff.engine import Progress

RENEW_S = 1.0
"""Least time between two states of the page."""
SHARE_OF_TIME = 0.1
"""Largest share of the run's time that is spent on states of the page."""
LAST_STATE_S = 3.0
"""Longest time that the end of a run waits for a page to fetch the last state."""
MOST_ROWS = 400_000
"""Rows of flows over time that are kept in memory."""


class LiveView:
    """Serves the page of one run; use as a context manager around the run.

    `out` is the run directory. `announce` gets the address. The end of the block publishes the
    last state, waits a moment for an open page to fetch it, and stops the server.
    """

    def __init__(self, out: Path, announce: Callable[[str], None], port: int = 0) -> None:
        self._out = out
        self._announce = announce
        self._port = port
        self._state = State()
        self._server: Server | None = None
        self._run: Run | None = None
        self._recorder: Recorder | None = None
        self._data: dict[str, Any] = {}
        self._began = time.monotonic()
        self._next = 0.0
        self._version = 0

    def begin(self, run: Run) -> None:
        """Publish the first state, start the server and announce its address."""
        self._run = run
        ports = columns(as_batch(run.ports()), payload.PORT_COLUMNS)
        names = names_of_nodes(as_batch(run.nodes()))
        self._recorder = Recorder(run.effective(), ports, names, most_rows=MOST_ROWS)
        self._collect()
        self._publish("running", "The run begins.")
        assert self._server is not None
        self._announce(self._server.url)

    def rows(self, table: str, batch: Any) -> None:
        """Take rows of the run."""
        if self._recorder is not None:
            self._recorder.add(table, batch)

    def tick(self, at: Progress) -> None:
        """Renew the page if it is due."""
        now = time.monotonic()
        if now < self._next:
            return
        self._collect()
        self._publish("running", self._text(at))
        spent = time.monotonic() - now
        self._next = now + max(RENEW_S, spent / SHARE_OF_TIME)

    def _text(self, at: Progress) -> str:
        elapsed = time.monotonic() - self._began
        if draining(at):
            return f"Running: {drain_text(at, elapsed)}"
        return (
            f"Running: {time_text(at['sim_ps'])} of {time_text(at['end_ps'])} simulated "
            f"({fraction(at):.0%}), {at['flows_finished']:,} of {at['flows_started']:,} flows done"
        )

    def _collect(self, running: bool = True) -> None:
        """Read the run's present results."""
        assert self._run is not None
        assert self._recorder is not None
        summary = json.loads(self._run.summary())
        ports = columns(as_batch(self._run.ports()), payload.PORT_COLUMNS)
        run = payload.of_run(self._out.name, summary, self._recorder, ports, running)
        self._data = payload.page_data([run], [""])

    def _publish(self, state: str, text: str) -> None:
        self._version += 1
        live = {"version": self._version, "state": state, "text": text}
        self._state.publish(self._version, document.as_json({**self._data, "live": live}))

    def __enter__(self) -> LiveView:
        """Start the server. Raises `UsageError` if its port is taken."""
        self._server = Server(self._state, self._port)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Publish the last state and stop the server."""
        if self._server is None:
            return
        try:
            if self._run is not None:
                self._end(error)
        finally:
            self._server.close()

    def _end(self, error: BaseException | None) -> None:
        if error is None:
            self._collect(running=False)
            if self._recorder is not None and self._recorder.rates.is_cut and self._out.is_dir():
                self._data = payload.of_results({self._out.name: load(self._out)})
            self._publish("done", f"The run is complete. `xoff report {self._out}` writes it down.")
        elif isinstance(error, EndedEarly):
            self._collect()
            self._publish("stopped", f"The run {error}. This is its last state.")
        elif isinstance(error, RunError):
            self._publish("failed", f"The run failed: {error}")
        else:
            self._publish("stopped", "The run was interrupted. This is its last state.")
        if self._state.was_read:
            self._state.wait_until_fetched(self._version, LAST_STATE_S)

"""Progress on stderr: one rewritten line on a terminal, occasional lines elsewhere."""

from __future__ import annotations

import json
import shutil
import sys
import time
from typing import TYPE_CHECKING, Any, TextIO

from xoff.errors import Interrupted
from xoff.terminal import escaped, escaped_line, say, write
from xoff.text import clock_text, count_text, time_text

if TYPE_CHECKING:
    from xoff.engine import Progress

TERMINAL_S = 0.2
SPARSE_S = 10.0
JSON_S = 0.3


class Line:
    """A status line: rewritten in place on a terminal, printed every 10 s elsewhere."""

    def __init__(self, stream: TextIO | None = None, quiet: bool = False) -> None:
        self._stream: TextIO | None = stream or sys.stderr  # None if it is closed
        self._quiet = quiet or self._stream is None
        self._terminal = self._stream is not None and self._stream.isatty()
        self._last = time.monotonic() if not self._terminal else 0.0
        self._shown = False

    def due(self) -> bool:
        """Return whether the line is due for an update."""
        period = TERMINAL_S if self._terminal else SPARSE_S
        return not self._quiet and time.monotonic() - self._last >= period

    def show(self, text: str) -> None:
        """Show `text` now."""
        if self._quiet:
            return
        self._last = time.monotonic()
        if self._terminal:
            width = shutil.get_terminal_size().columns - 1
            self._write(f"\r{escaped_line(text)[:width]}\x1b[K")
            self._shown = True
        else:
            self._write(escaped_line(text) + "\n")

    def note(self, text: str) -> None:
        """Print a permanent line above the status line."""
        if not self._quiet:
            self.clear()
            self._write(escaped(text) + "\n")

    def clear(self) -> None:
        """Erase the status line, so that other output starts on an empty line."""
        if self._shown:
            self._write("\r\x1b[K")
            self._shown = False

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            write(self._stream, text)
            self._stream.flush()
        except (OSError, ValueError):
            # A closed terminal is no reason to end the run.
            self._stream, self._quiet = None, True


class NotebookLine(Line):
    """A status line in the output of a notebook's cell, updated in place."""

    def __init__(self) -> None:
        super().__init__()
        self._terminal = True
        # A short run leaves no line.
        self._last = time.monotonic()
        self._handle: Any = None

    def show(self, text: str) -> None:
        """Show `text` now."""
        self._last = time.monotonic()
        self._put(escaped_line(text))

    def note(self, text: str) -> None:
        """Leave a permanent line in the output."""
        self.clear()
        self._handle = None
        self._put(escaped(text))
        self._handle = None

    def clear(self) -> None:
        """Empty the line."""
        if self._handle is not None:
            self._put("")

    def _put(self, text: str) -> None:
        # Text and not HTML: a name of a scenario stays a name.
        shown = {"text/plain": text}
        if self._handle is None:
            display = sys.modules["IPython"].display.display
            self._handle = display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)


def in_notebook() -> bool:
    """Return whether this process runs the cells of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return hasattr(shell, "kernel")


def line_for(shown: bool | None) -> Line:
    """Return a status line, shown everywhere, nowhere, or (None) where a person looks at it."""
    if shown is not False and in_notebook():
        return NotebookLine()
    if shown is None:
        shown = sys.stderr is not None and sys.stderr.isatty()
    return Line(quiet=not shown)


class RunProgress:
    """Status line of one run: phase, simulated time, flows, packet-hops per second, time left."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._began = time.monotonic()
        self._mark = (self._began, 0)

    def __call__(self, at: Progress) -> None:
        """Show the engine's progress if the line is due."""
        if self._line.due():
            self._line.show(self.text(at))

    def text(self, at: Progress) -> str:
        """Format the status line."""
        now = time.monotonic()
        since, hops = self._mark
        rate = (at["packet_hops"] - hops) / max(now - since, 1e-9)
        self._mark = (now, at["packet_hops"])
        if draining(at):
            return f"{drain_text(at, now - self._began)}  {count_text(rate)} packet-hops/s"
        share = fraction(at)
        left = time_left(now - self._began, share)
        return (
            f"{at['phase']}  {at['sim_ps'] / 1e9:.3f} of {at['end_ps'] / 1e9:.3f} ms simulated "
            f"({share:.0%})  {at['flows_finished']:,} of {at['flows_started']:,} flows  "
            f"{count_text(rate)} packet-hops/s  {left} left"
        )


def draining(at: Progress) -> bool:
    """Return whether the run waits for the last measured flows."""
    return at["phase"] == "drain"


def drain_text(at: Progress, elapsed_s: float) -> str:
    """Format the missing flows and web requests, and the longest time that the drain may take.

    The wall-clock time in parentheses assumes the speed of the run so far.
    """
    missing = f"{at['missing_flows']:,} of {at['measured_flows']:,} measured flows"
    if at["measured_requests"]:
        missing += (
            f" and {at['missing_requests']:,} of {at['measured_requests']:,} measured web requests"
        )
    left_ps = max(0, at["drain_end_ps"] - at["sim_ps"])
    left_s = elapsed_s * left_ps / max(1, at["sim_ps"])
    return f"draining: {missing} missing, at most {time_text(left_ps)} more ({clock_text(left_s)})"


def missing(at: Progress) -> int:
    """Return the number of measured flows and web requests that have not ended."""
    return at["missing_flows"] + at["missing_requests"]


def fraction_at_least(at: Progress) -> float:
    """Return the completed share of the simulated time if the drain takes as long as it may."""
    if not draining(at):
        return fraction(at)
    return min(1.0, at["sim_ps"] / at["drain_end_ps"]) if at["drain_end_ps"] > 0 else 0.0


def fraction(at: Progress) -> float:
    """Return the completed share of the simulated time without the drain, 0 to 1."""
    return min(1.0, at["sim_ps"] / at["end_ps"]) if at["end_ps"] > 0 else 0.0


def time_left(elapsed_s: float, share: float) -> str:
    """Estimate the remaining wall-clock time from the completed share; `?` at the start."""
    if share <= 0.005:
        return "?"
    return clock_text(elapsed_s * (1 - share) / share)


class JsonProgress:
    """Progress as JSON lines on stdout, for the program that started this run."""

    def __init__(self) -> None:
        self._last = 0.0

    def __call__(self, at: Progress) -> None:
        """Write the engine's progress, at most once per 0.3 s."""
        if time.monotonic() - self._last < JSON_S:
            return
        self._last = time.monotonic()
        try:
            say(json.dumps(at), flush=True)
        except BrokenPipeError:
            # The reader is gone, so no process waits for the rest of this run.
            raise Interrupted("the program that started this run has ended") from None

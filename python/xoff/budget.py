"""Budgets: how long a run may take, and how many packet-hops, before it ends early.

A run that reaches its budget ends in order, with rows and a summary that say so. It is no finished
run: it stays in `<out>.partial`, and nothing takes it for whole.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xoff.errors import UsageError
from xoff.text import count_text, time_text

if TYPE_CHECKING:
    from xoff._native import Run
    from xoff.engine import Progress

KEY = "ended_early"
"""Key of the summary and of the manifest of a run that ended early."""

WALL, HOPS = "max_wall_s", "max_packet_hops"
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_COUNTS = {"": 1, "k": 1_000, "M": 1_000_000, "G": 1_000_000_000}


def seconds(text: str) -> float:
    """Parse a wall-clock time such as `30s`, `10m` or `2h`. Raises `UsageError`."""
    found = re.fullmatch(r"(\d*\.?\d+)\s*([smh])", text.strip(), re.ASCII)
    return _seconds(float(found[1]) * _SECONDS[found[2]] if found else 0.0, text)


def _seconds(value: float, given: object) -> float:
    if not 0 < value < math.inf:
        raise UsageError(f"{given!r} is not a wall-clock time: write, for example, 30s, 10m or 2h")
    return value


def count(text: str) -> int:
    """Parse a whole number such as `5000000` or `5M`. Raises `UsageError`."""
    found = re.fullmatch(r"(\d{1,18})\s*([kMG]?)", text.strip(), re.ASCII)
    value = int(found[1]) * _COUNTS[found[2]] if found else 0
    if value < 1:
        raise UsageError(f"{text!r} is no number of packet-hops: write one such as 5000000 or 5M")
    return value


@dataclass(frozen=True)
class Budget:
    """Limits of a run; None: no limit.

    `max_wall_s` is wall-clock time since `began`, on the monotonic clock. It is looked at several
    times a second, so where the run ends depends on the machine. `max_packet_hops` is looked at
    after every step of the time grid: where the run ends is the same on every machine and for
    any number of threads.
    """

    max_wall_s: float | None = None
    max_packet_hops: int | None = None
    began: float = 0.0

    @staticmethod
    def of(max_wall: str | float | None = None, max_packet_hops: str | int | None = None) -> Budget:
        """Return the budget of a run that begins now. Raises `UsageError`.

        `max_wall` is a time such as `"10m"`, or seconds; `max_packet_hops` a number, or text such
        as `"5M"`.
        """
        wall = hops = None
        if isinstance(max_wall, str):
            wall = seconds(max_wall)
        elif max_wall is not None:
            wall = _seconds(float(max_wall), max_wall)
        if max_packet_hops is not None:
            hops = count(str(max_packet_hops))
        return Budget(wall, hops, time.monotonic())

    def options(self) -> list[str]:
        """Return the options of `xoff run` that set this budget."""
        found = []
        if self.max_wall_s is not None:
            found += ["--max-wall", f"{self.max_wall_s:.6f}s"]
        if self.max_packet_hops is not None:
            found += ["--max-packet-hops", str(self.max_packet_hops)]
        return found

    def check(self, run: Run) -> None:
        """Raise `UsageError` if a limit counts what this run does not have."""
        if self.max_packet_hops is not None and not hasattr(run, "step_once"):
            raise UsageError(
                "max_packet_hops counts packets, and the engine of this scenario has none; "
                "use --max-wall"
            )

    def step(self, run: Run, slice_ms: int) -> bool:
        """Advance for about a slice of time, or to the limit; return whether there is more."""
        if self.max_packet_hops is None:
            return run.step(slice_ms)
        until = time.monotonic() + slice_ms / 1000
        while run.step_once():
            if time.monotonic() >= until or self._has_hops(run.progress()):
                return True
        return False

    def early_end(self, at: Progress) -> EarlyEnd | None:
        """Return the end of a run that has reached a limit with work left."""
        if self.max_packet_hops is not None and self._has_hops(at):
            return EarlyEnd(HOPS, self.max_packet_hops, at["sim_ps"], at["end_ps"])
        if self.max_wall_s is not None and time.monotonic() - self.began >= self.max_wall_s:
            return EarlyEnd(WALL, self.max_wall_s, at["sim_ps"], at["end_ps"])
        return None

    def _has_hops(self, at: Progress) -> bool:
        return self.max_packet_hops is not None and at["packet_hops"] >= self.max_packet_hops


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


@dataclass(frozen=True)
class EarlyEnd:
    """Where and why a run ended early.

    `limit` is `max_wall_s` (seconds) or `max_packet_hops`, `value` its value. `sim_ps` is the
    simulated time, `end_ps` the end of the measurement.
    """

    limit: str
    value: float
    sim_ps: int
    end_ps: int

    @staticmethod
    def read(found: Any) -> EarlyEnd | None:
        """Return the end in a summary or manifest; None if it has no readable one."""
        own = found.get(KEY) if isinstance(found, Mapping) else None
        if not isinstance(own, Mapping) or own.get("limit") not in (WALL, HOPS):
            return None
        numbers = [own.get(key) for key in ("value", "sim_ps", "end_ps")]
        if not all(_is_number(number) for number in numbers):
            return None
        value, sim_ps, end_ps = numbers
        return EarlyEnd(str(own["limit"]), value or 0, int(sim_ps or 0), int(end_ps or 0))

    def as_json(self) -> dict[str, Any]:
        """Return it for a summary or manifest."""
        return {
            "limit": self.limit,
            "value": self.value,
            "sim_ps": self.sim_ps,
            "end_ps": self.end_ps,
        }

    @property
    def text(self) -> str:
        """What happened, in a clause."""
        limit = f"{self.value:g} s of wall-clock time"
        if self.limit == HOPS:
            limit = f"{count_text(self.value)} packet-hops"
        where = f"{time_text(self.sim_ps)} of {time_text(self.end_ps)} simulated"
        if self.sim_ps >= self.end_ps:
            where = f"{time_text(self.sim_ps)}, in the drain"
        return f"ended early by its limit of {limit}, at {where}"

    def marked(self, summary: Mapping[str, Any]) -> dict[str, Any]:
        """Return the summary of a run that ended so, which says it first of all."""
        warning = f"{self.text}: these are the results of a part of the run"
        warnings = [warning, *(summary.get("warnings") or [])]
        return {**summary, KEY: self.as_json(), "warnings": warnings}
